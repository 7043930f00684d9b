//go:build linux

package test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
)

// The plans of BenchmarkDrift.
const (
	driftStacks = 4
	driftVMs    = 250 // of each stack
)

// planValues are the values of a VM with ten disks, with the attributes that the provider
// has in a plan.
func planValues(stack string, vmid int) map[string]any {
	var disks []any
	for i := range 10 {
		disks = append(disks, map[string]any{"aio": "io_uring", "backup": true, "cache": "none", "datastore_id": "shared", "discard": "ignore", "file_format": "qcow2", "file_id": "", "import_from": "",
			"interface": fmt.Sprintf("scsi%d", i), "iothread": false, "path_in_datastore": fmt.Sprintf("%d/vm-%d-disk-%d.qcow2", vmid, vmid, i), "queues": 0, "replicate": true, "serial": "", "size": 32, "speed": []any{}, "ssd": false})
	}
	v := map[string]any{"acpi": true, "bios": "seabios", "boot_order": []any{"scsi0"}, "description": strings.Repeat("A VM of the lab. ", 300), "disk": disks, "id": fmt.Sprint(vmid), "vm_id": vmid, "node_name": "pve1",
		"agent":          []any{map[string]any{"enabled": true, "timeout": "15m", "trim": false, "type": "virtio"}},
		"cpu":            []any{map[string]any{"affinity": "", "architecture": "", "cores": 2, "flags": []any{}, "hotplugged": 0, "limit": 0, "numa": false, "sockets": 1, "type": "x86-64-v2-AES", "units": 0}},
		"initialization": []any{map[string]any{"datastore_id": "shared", "interface": "ide2", "ip_config": []any{map[string]any{"ipv4": []any{map[string]any{"address": "dhcp", "gateway": ""}}, "ipv6": []any{}}}, "upgrade": true}},
		"memory":         []any{map[string]any{"dedicated": 2048, "floating": 0, "shared": 0}}, "name": fmt.Sprintf("%s-%d", stack, vmid),
		"ipv4_addresses": []any{[]any{"127.0.0.1"}, []any{"192.0.2.2"}},
		"network_device": []any{map[string]any{"bridge": "vmbr0", "enabled": true, "firewall": false, "mac_address": fmt.Sprintf("BC:24:11:77:%02X:%02X", vmid/256, vmid%256), "model": "virtio", "mtu": 0, "queues": 0, "rate_limit": 0, "trunks": "", "vlan_id": 0}},
		"pool_id":        "lab", "tags": []any{"lab"}, "started": true, "on_boot": true, "reboot_after_update": false, "tablet_device": true,
	}
	for _, name := range []string{"clone", "create", "migrate", "move_disk", "reboot", "shutdown_vm", "start_vm", "stop_vm"} {
		v["timeout_"+name] = 1800
	}
	return v
}

// planOf is the plan of a stack. Somebody has changed the memory of all its VMs, the tags of
// every third one, and the first disk of every tenth.
func planOf(stack string, first int) []byte {
	var changes, drifts, states []any
	for i := range driftVMs {
		vmid := first + i
		resource := func(more map[string]any) map[string]any {
			maps.Copy(more, map[string]any{"address": fmt.Sprintf("proxmox_virtual_environment_vm.this[%q]", fmt.Sprintf("m%d", i)), "mode": "managed", "type": "proxmox_virtual_environment_vm", "name": "this", "index": fmt.Sprintf("m%d", i)})
			return more
		}
		wanted, now := planValues(stack, vmid), planValues(stack, vmid)
		now["memory"] = []any{map[string]any{"dedicated": 4096, "floating": 0, "shared": 0}}
		if i%3 == 0 {
			now["tags"] = []any{"by-hand", "lab"}
		}
		if i%10 == 0 {
			now["disk"].([]any)[0].(map[string]any)["size"] = 64
		}
		changes = append(changes, resource(map[string]any{"change": map[string]any{"actions": []string{"update"}, "before": now, "after": wanted, "after_unknown": map[string]any{}}}))
		drifts = append(drifts, resource(map[string]any{"change": map[string]any{"actions": []string{"update"}, "before": wanted, "after": now, "after_unknown": map[string]any{}}}))
		states = append(states, resource(map[string]any{"values": now}))
	}
	values := map[string]any{"root_module": map[string]any{"resources": states}}
	body, _ := json.Marshal(map[string]any{"format_version": "1.2", "terraform_version": "1.12.6", "planned_values": values,
		"prior_state": map[string]any{"format_version": "1.0", "values": values}, "resource_changes": changes, "resource_drift": drifts, "errored": false})
	return body
}

// BenchmarkDrift explains plans of 1,000 VMs in four stacks. It reports the size of the plans,
// the memory that was allocated, and of a process of its own the largest memory and the time
// of all processors.
func BenchmarkDrift(b *testing.B) {
	dir := b.TempDir()
	write := func(name string, body []byte) {
		b.Helper()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(file, body, 0o666); err != nil {
			b.Fatal(err)
		}
	}
	s := &scale{dir: dir}
	inv := cluster.Inventory{Version: cluster.Version, Taken: "2026-01-02T03:04:05Z", Endpoint: "https://pve.example:8006", Release: "8.4.21", Quorate: true,
		Nodes: []cluster.Node{{Name: "pve1", Online: true, CPUs: 64, Memory: 1 << 42}}, Pools: []cluster.Pool{{ID: "lab"}}}
	write("stackgen.yaml", []byte("apiVersion: stackgen/v1\nkind: Project\n"))
	args, size := []string{"drift", dir, "--inventory", filepath.Join(dir, "inv.json")}, 0
	for n := range driftStacks {
		stack, first := fmt.Sprintf("s%d", n), 1000*(n+1)
		spec := fmt.Sprintf("apiVersion: stackgen/v1\nkind: Stack\nname: %s\nvmids: %d-%d\npool: {id: lab}\ndefaults: {node: pve1, template: 9000, tags: [lab], networks: [{mac: auto}]}\nvms:\n", stack, first, first+driftVMs)
		for i := range driftVMs {
			spec += fmt.Sprintf("  m%d: {vmid: %d, name: %s-%d}\n", i, first+i, stack, first+i)
			inv.Guests = append(inv.Guests, driftGuest(stack, first+i))
		}
		body := planOf(stack, first)
		size += len(body)
		write("specs/"+stack+".yaml", []byte(spec))
		write("plans/"+stack+".json", body)
		args = append(args, "--plan", fmt.Sprintf("%s/proxmox-vm=%s", stack, filepath.Join(dir, "plans", stack+".json")))
	}
	body, err := inv.Encode()
	if err != nil {
		b.Fatal(err)
	}
	write("inv.json", body)
	if code, said := s.run("render", dir); code != 0 {
		b.Fatalf("render: exit %d\n%.2000s", code, said)
	}
	process := exec.Command(binary(b), args...)
	if err := process.Run(); process.ProcessState == nil || process.ProcessState.ExitCode() != 3 {
		b.Fatal(err)
	}
	usage := process.ProcessState.SysUsage().(*syscall.Rusage)
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.ReadMemStats(&before)
		code, said := s.run(args...)
		if runtime.ReadMemStats(&after); code != 3 || !strings.Contains(said, fmt.Sprint(driftStacks*driftVMs)) {
			b.Fatalf("exit %d\n%.3000s", code, said)
		}
	}
	b.ReportMetric(float64(size)/1e6, "MB-of-plans")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/1e6, "MB-allocated")
	b.ReportMetric(float64(usage.Maxrss)*1024/1e6, "MB-at-most") // in KiB on Linux; at least what the benchmark has itself
	b.ReportMetric((process.ProcessState.UserTime() + process.ProcessState.SystemTime()).Seconds(), "CPU-s")
}

// driftGuest is a VM of planOf.
func driftGuest(stack string, vmid int) cluster.Guest {
	g := scaleGuest(vmid, "pve1", fmt.Sprintf("%s-%d", stack, vmid))
	return cluster.Guest{VMID: vmid, Node: "pve1", Kind: guest.VM, Name: g.Config["name"], Status: "running", Pool: "lab", Tags: []string{"lab"},
		Config: &cluster.Config{MACs: []string{fmt.Sprintf("BC:24:11:77:%02X:%02X", vmid/256, vmid%256)}, Raw: g.Config}}
}
