package terratest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gruntwork-io/terratest/modules/logger"
	"github.com/gruntwork-io/terratest/modules/terraform"
	test_structure "github.com/gruntwork-io/terratest/modules/test-structure"

	"stackgen/test/terratest/lab"
)

// TestModule applies the rendered modules without Terragrunt and without a spec, and
// compares the cluster with their variables.
func TestModule(t *testing.T) {
	s := begin(t, "module")
	s.stage("render", func() { s.render("pool: {id: unused, create: true}\nvms: {a: {}}\n") })
	pool, vms := s.module("proxmox-pool"), s.module("proxmox-vm")
	s.stage("one", func() {
		s.given(vms, "vms", map[string]any{"a": s.machine(0, "a")})
		v := s.exist("a")["a"]
		s.has(v, "memory", "768", "cores", "1", "ostype", "l26", "scsihw", "virtio-scsi-single", "onboot", "0")
		if v.VMID != s.first || v.Node != here.cluster.Node || v.Status != "stopped" {
			s.Errorf("it is %d on %s, %s", v.VMID, v.Node, v.Status)
		}
	})
	s.stage("three", func() {
		before := s.exist("a")["a"]
		s.given(vms, "vms", map[string]any{"a": s.machine(0, "a"), "b": s.machine(1, "b"), "c": s.machine(2, "c")})
		found := s.exist("a", "b", "c")
		s.same(before, found["a"])
		s.outputs(vms, found)
	})
	s.stage("options", func() {
		s.given(pool, "pools", map[string]any{s.stack: map[string]any{"comment": lab.Comment}})
		s.pools(s.stack)
		full := s.everything()
		s.covers(full)
		s.given(vms, "vms", map[string]any{"a": s.machine(0, "a"), "full": full})
		found := s.exist("a", "full")
		s.allOptions(found["full"])
		s.outputs(vms, found)
		if out := terraform.OutputMapOfObjectsContext(s.T, s.context(), vms, "meta"); fmt.Sprint(out) != "map[full:map[rack:7]]" {
			s.Errorf("the output meta is %v", out)
		}
	})
	s.stage("empty", func() {
		full := s.everything()
		full["protection"] = false // otherwise the server refuses the destroy
		s.given(vms, "vms", map[string]any{"full": full})
		s.exist("full")
		s.given(vms, "vms", map[string]any{})
		s.exist()
		if out := terraform.OutputMapOfObjectsContext(s.T, s.context(), vms, "vms"); len(out) != 0 {
			s.Errorf("the output vms is %v, want nothing", out)
		}
		s.given(pool, "pools", map[string]any{})
		s.pools()
	})
}

// module copies a rendered module, to apply it alone.
func (s *suite) module(name string) *terraform.Options {
	s.Helper()
	return &terraform.Options{
		TerraformDir: test_structure.CopyTerraformFolderToTemp(s.T, s.dir, filepath.Join("modules", name)), TerraformBinary: "tofu",
		VarFiles: []string{"given.tfvars.json"}, NoColor: true, Logger: logger.TestingT,
	}
}

// given applies a module with a variable, and fails unless the next plan is empty.
func (s *suite) given(module *terraform.Options, name string, value any) {
	s.Helper()
	text, err := json.Marshal(map[string]any{name: value})
	s.do(err)
	s.do(os.WriteFile(filepath.Join(module.TerraformDir, module.VarFiles[0]), text, 0o644))
	terraform.InitAndApplyAndIdempotentContext(s.T, s.context(), module)
}

// machine is a VM with the required attributes.
func (s *suite) machine(n int, key string) map[string]any {
	c, h := here.cluster, here.hardware
	return map[string]any{
		"profile": "default", "name": s.stack + "-" + key, "vm_id": s.first + n, "node_name": c.Node, "tags": []string{lab.Tag},
		"on_boot": false, "started": false, "scsi_hardware": "virtio-scsi-single", "operating_system": map[string]any{"type": "l26"},
		"cpu":            map[string]any{"cores": 1, "type": "x86-64-v2-AES"},
		"memory":         map[string]any{"dedicated": 768},
		"initialization": map[string]any{"datastore_id": c.Storage, "ip_config": map[string]any{"ipv4": map[string]any{"address": "dhcp"}}},
		"disk":           []any{map[string]any{"interface": h.Disk, "datastore_id": c.Storage, "size": h.Size}},
		"network_device": []any{map[string]any{"bridge": c.Bridge, "model": "virtio"}},
		"clone":          map[string]any{"vm_id": c.Template, "node_name": c.Node, "full": true, "datastore_id": c.Storage},
	}
}

// everything is a VM with every attribute.
func (s *suite) everything() map[string]any {
	c, h := here.cluster, here.hardware
	vm := s.machine(3, "full")
	for key, value := range map[string]any{
		"ipv4": "198.51.100.9", "meta": `{"rack":7}`, "description": "All options\nof a VM", "pool_id": s.stack,
		"protection": true, "reboot_after_update": false, "bios": "ovmf", "machine": "q35", "boot_order": []string{h.Disk, "net0"}, "tablet_device": false,
		"operating_system": map[string]any{"type": "win11"},
		"cpu":              map[string]any{"cores": 3, "sockets": 2, "type": "host", "numa": true, "units": 200, "limit": 1.5, "hotplugged": 5},
		"memory":           map[string]any{"dedicated": 900, "floating": 800},
		"agent":            map[string]any{"enabled": true, "timeout": "3s", "trim": true, "type": "virtio"},
		"initialization": map[string]any{"datastore_id": c.Storage,
			"user_account": map[string]any{"username": "admin", "keys": []string{"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOGf5oyqYiE6i2O2ljzHFAXlkdO5yHNNRSpk7Fz9vZq4 admin@example"}},
			"ip_config":    map[string]any{"ipv4": map[string]any{"address": "198.51.100.9/24", "gateway": "198.51.100.1"}, "ipv6": map[string]any{"address": "auto"}},
			"dns":          map[string]any{"servers": []string{"198.51.100.53"}, "domain": "example.org"}},
		"disk": []any{map[string]any{"interface": h.Disk, "datastore_id": c.Storage, "size": h.Size + 1, "ssd": !h.Virtio(), "discard": "on", "iothread": true,
			"cache": "writeback", "backup": false, "replicate": false, "aio": "threads", "serial": "disk0", "speed": map[string]any{"read": 10, "write": 30, "iops_read": 100}}},
		"network_device": []any{
			map[string]any{"bridge": c.Bridge, "model": "virtio", "mac_address": "BC:24:11:00:0A:01", "mtu": 1400, "queues": 4, "rate_limit": 12.5, "disconnected": true},
			map[string]any{"bridge": c.Bridge, "model": "e1000", "firewall": true}},
		"efi_disk":        map[string]any{"datastore_id": c.Storage, "type": "4m", "pre_enrolled_keys": true, "file_format": "raw"},
		"tpm_state":       map[string]any{"datastore_id": c.Storage, "version": "v2.0"},
		"serial_device":   []any{map[string]any{"device": "socket"}},
		"vga":             map[string]any{"type": "qxl", "memory": 32, "clipboard": "vnc"},
		"keyboard_layout": "de",
		"hotplug":         "network,disk,usb,cpu",
		"stop_on_destroy": true, "delete_unreferenced_disks_on_destroy": false,
		"timeout_clone": 1200, "timeout_migrate": 1200, "timeout_reboot": 600, "timeout_shutdown_vm": 600, "timeout_start_vm": 600, "timeout_stop_vm": 120,
		"watchdog": map[string]any{"enabled": true, "model": "ib700", "action": "reset"},
		"startup":  map[string]any{"order": 1, "up_delay": 2, "down_delay": 3},
	} {
		vm[key] = value
	}
	return vm
}

// attribute matches the attributes of a VM in the module's variable, but not those of
// its blocks.
var attribute = regexp.MustCompile(`(?m)^    ([a-z0-9_]+) +=`)

// covers fails unless a VM has every attribute of the module, except what no token may
// set or what depends on the node: its devices, memory nodes and folders, and hook scripts.
// TestDevicesFromCreationToImport creates VMs with these on the simulator.
func (s *suite) covers(vm map[string]any) {
	s.Helper()
	text, err := os.ReadFile(s.path("modules/proxmox-vm/variables.tf"))
	s.do(err)
	_, vms, _ := strings.Cut(string(text), `variable "vms"`)
	vms, _, _ = strings.Cut(vms, "validation")
	found := attribute.FindAllStringSubmatch(vms, -1)
	if len(found) < 20 {
		s.Fatalf("the module's variable has only the attributes %v", found)
	}
	for _, m := range found {
		if _, said := vm[m[1]]; !said && !slices.Contains([]string{"usb", "hostpci", "hook_script_file_id", "numa", "amd_sev", "virtiofs", "audio_device"}, m[1]) {
			s.Errorf("the module has %s, which this suite does not set", m[1])
		}
	}
}

// allOptions checks the VM of everything on the cluster.
func (s *suite) allOptions(v vm) {
	s.Helper()
	h := here.hardware
	s.has(v, "protection", "1", "bios", "ovmf", "machine", "q35", "ostype", "win11", "cores", "3", "sockets", "2", "cpu", "host", "numa", "1",
		"cpuunits", "200", "cpulimit", "1.5", "vcpus", "5", "hotplug", "network,disk,usb,cpu", "memory", "900", "balloon", "800", "boot", "order="+h.Disk+";net0", "tablet", "0", "serial0", "socket", "keyboard", "de",
		"description", "All options\nof a VM", "ciuser", "admin", "nameserver", "198.51.100.53", "searchdomain", "example.org",
		"ipconfig0", "gw=198.51.100.1,ip=198.51.100.9/24,ip6=auto", "tags", lab.Tag)
	for _, part := range [][3]string{
		{"agent", "enabled", "1"}, {"agent", "fstrim_cloned_disks", "1"}, {h.Disk, "ssd", map[bool]string{false: "1"}[h.Virtio()]}, {h.Disk, "discard", "on"}, {h.Disk, "iothread", "1"},
		{h.Disk, "cache", "writeback"}, {h.Disk, "backup", "0"}, {h.Disk, "replicate", "0"}, {h.Disk, "aio", "threads"}, {h.Disk, "serial", "disk0"},
		{h.Disk, "mbps_rd", "10"}, {h.Disk, "mbps_wr", "30"}, {h.Disk, "iops_rd", "100"}, {h.Disk, "size", fmt.Sprintf("%dG", h.Size+1)},
		{"net0", "virtio", "BC:24:11:00:0A:01"}, {"net0", "mtu", "1400"}, {"net0", "queues", "4"}, {"net0", "rate", "12.500000"}, {"net0", "link_down", "1"},
		{"net1", "bridge", here.cluster.Bridge}, {"net1", "firewall", "1"}, {"efidisk0", "efitype", "4m"}, {"efidisk0", "pre-enrolled-keys", "1"}, {"tpmstate0", "version", "v2.0"},
		{"watchdog", "model", "ib700"}, {"watchdog", "action", "reset"}, {"vga", "memory", "32"}, {"vga", "clipboard", "vnc"}, {"startup", "order", "1"}, {"startup", "up", "2"}, {"startup", "down", "3"},
	} {
		if got := v.config.Property(part[0], part[1]); got != part[2] {
			s.Errorf("%s: %s of %s is %q, want %q, in %s", v.config["name"], part[1], part[0], got, part[2], v.config[part[0]])
		}
	}
	if v.Pool != s.stack {
		s.Errorf("it is in the pool %q", v.Pool)
	}
}

// outputs fails unless the module's output agrees with the cluster.
func (s *suite) outputs(module *terraform.Options, found map[string]vm) {
	s.Helper()
	out := terraform.OutputMapOfObjectsContext(s.T, s.context(), module, "vms")
	var keys []string
	for key := range out {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	if len(out) != len(found) {
		s.Errorf("the output vms has %v", keys)
	}
	for key, v := range found {
		got, _ := out[key].(map[string]any)
		if fmt.Sprint(got["id"]) != fmt.Sprint(v.VMID) || got["name"] != v.config["name"] || got["node"] != v.Node ||
			!strings.EqualFold(fmt.Sprint(got["mac"]), v.config.Property("net0", "virtio")) {
			s.Errorf("the output of %s is %v, the cluster has %d, %s, %s, %s", key, got, v.VMID, v.config["name"], v.Node, v.config["net0"])
		}
	}
}
