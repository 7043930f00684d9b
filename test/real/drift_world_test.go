//go:build unix

package real

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"stackgen/internal/dnstest"
	"stackgen/internal/pvesim"
)

// A driftWorld is a stack that was applied, with a VM for each case.
type driftWorld struct {
	*faultCase
	cases []driftCase
	host  *host
	vmid  int // of the case
}

// driftHead is the stack of every case. Its VMs follow, one on each line.
const driftHead = `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
pool: {id: live, create: true, comment: lab}
%sprofiles:
  placed: {ignore_changes: [clone, started]}
defaults:
  template: {vmid: 9000, node: pve1}
  serial: socket
  vga: {type: serial0}
  agent: {timeout: 5s}
  disks: [{interface: scsi0, size: 8, datastore: shared}]
  cloud_init: {datastore: shared}
`

// driftState is the state of the unit with the VMs.
const driftState = ".state/live/proxmox-vm/tofu.tfstate"

// vmidOf is the VMID of a case's VM: VMIDs are allocated in the order of the spec.
func (w *driftWorld) vmidOf(key string) int {
	vmid := 300
	for _, c := range w.cases {
		if c.before == "" {
			continue
		}
		if c.key == key {
			return vmid
		}
		vmid++
	}
	w.Fatalf("no VM %s", key)
	return 0
}

// text is the spec, before or after the changes of the cases.
func (w *driftWorld) text(changed bool) string {
	var b, vms strings.Builder
	fmt.Fprintf(&b, driftHead, fmt.Sprintf("dns: {zone: lab.test, server: %s, port: %d, tsig: {key_name: %s, algorithm: %s}, mode: per-stack}\n",
		w.dns.Addr, w.dns.Port, w.dns.KeyName, w.dns.Algorithm))
	for _, c := range w.cases {
		entry, key := c.before, c.key
		if changed && c.after != "" {
			entry = c.after
		}
		if changed && c.renamed != "" {
			key = c.renamed
			fmt.Fprintf(&b, "renamed: {%s: %s}\n", c.key, key)
		}
		if changed && c.leaves != "" {
			fmt.Fprintf(&b, "%s: [%s]\n", c.leaves, key)
			continue
		}
		if entry == "" {
			continue
		}
		if !strings.HasPrefix(entry, "node: ") {
			entry = "node: pve1, " + entry
		}
		if !strings.Contains(entry, "dns:") {
			entry += ", dns: false"
		}
		fmt.Fprintf(&vms, "  %s: {%s}\n", key, entry)
	}
	return b.String() + "vms:\n" + vms.String()
}

// newDriftWorld applies the stack of the cases.
func newDriftWorld(w *faultCase, cases []driftCase) *driftWorld {
	w.Helper()
	s, err := dnstest.Start(context.Background(), dnstest.Options{})
	check(w.T, err)
	w.Cleanup(func() { check(w.T, s.Close()) })
	w.dns, w.tools = s, w.tools.With(s.Env()...)
	d := &driftWorld{faultCase: w, cases: cases, host: &host{faultCase: w, node: "pve1"}}
	w.settings("")
	w.spec(d.text(false), true)
	w.must(w.apply())
	w.must(w.stackgen("resolve"))
	return d
}

// happen causes the events of all cases: changes in the state, by hand, and in the spec.
func (w *driftWorld) happen() {
	w.Helper()
	for _, c := range w.cases {
		if c.event != nil {
			w.vmid = w.vmidOf(c.key)
			c.event(w)
		}
	}
	w.waitUntil("the tasks have ended", w.noRunningTask)
	w.spec(w.text(true), true)
	if r := w.stackgen("import-blocks"); r.code != 3 || !strings.Contains(r.output, "adopt          live/imported") {
		w.Fatalf("import-blocks: exit %d\n%s", r.code, r.output)
	}
}

// byHand sends requests as root@pam in the web interface does, whose ticket no apply has.
// {} in a path is the VM on its node.
func (w *driftWorld) byHand(method, path string, form ...string) {
	w.Helper()
	values := url.Values{}
	for i := 0; i+1 < len(form); i += 2 {
		values.Set(form[i], form[i+1])
	}
	path = strings.ReplaceAll(path, "{}", fmt.Sprintf("/nodes/%s/qemu/%d", w.guests()[w.vmid].node, w.vmid))
	if _, err := w.host.api(method, path, values); err != nil {
		w.Fatal(err)
	}
}

// config changes options of the VM, which the web interface does with PUT and without a task.
func options(form ...string) func(*driftWorld) {
	return func(w *driftWorld) { w.byHand("PUT", "{}/config", form...) }
}

// device changes devices of the VM, which the web interface does in a task.
func device(form ...string) func(*driftWorld) {
	return func(w *driftWorld) { w.byHand("POST", "{}/config", form...) }
}

// action runs a task on the VM.
func action(name string, form ...string) func(*driftWorld) {
	return func(w *driftWorld) { w.byHand("POST", "{}/"+name, form...) }
}

func grow(w *driftWorld) { w.byHand("PUT", "{}/resize", "disk", "scsi0", "size", "10G") }

func remove(w *driftWorld) {
	w.byHand("POST", "{}/status/stop")
	w.byHand("DELETE", "{}", "purge", "1")
}

// reuse deletes the VM, and creates another one with its VMID.
func reuse(w *driftWorld) {
	remove(w)
	w.byHand("POST", "/nodes/pve2/qemu", "vmid", fmt.Sprint(w.vmid), "name", "erp", "memory", "1024", "net0", "virtio=BC:24:11:77:00:01,bridge=vmbr0")
}

// readdress gives the VM another address.
func readdress(w *driftWorld) {
	w.change(w.vmid, func(g *pvesim.Guest) {
		mac := strings.SplitN(strings.TrimPrefix(g.Config["net0"], "virtio="), ",", 2)[0]
		g.Agent.Interfaces = []pvesim.AgentInterface{{Name: "eth0", MAC: mac, Addresses: []string{"10.0.0.77/24"}}}
	})
}

// await makes the cores of the spec wait for a restart: the process still has one.
func await(w *driftWorld) {
	w.change(w.vmid, func(g *pvesim.Guest) {
		g.Pending = map[string]string{"cores": g.Config["cores"]}
		g.Config["cores"] = "1"
	})
}

// republish changes a record at the DNS server.
func republish(w *driftWorld) {
	check(w.T, w.dns.Remove("site"))
	check(w.T, w.dns.Add("site 300 IN A 10.9.9.9"))
}

// instance changes the VM in the state. A change that returns false removes it.
func instance(change func(map[string]any) bool) func(*driftWorld) {
	return func(w *driftWorld) {
		w.Helper()
		file := filepath.Join(w.dir, driftState)
		body, err := os.ReadFile(file)
		check(w.T, err)
		var state map[string]any
		check(w.T, json.Unmarshal(body, &state))
		state["serial"] = state["serial"].(float64) + 1
		found := false
		for _, r := range state["resources"].([]any) {
			resource := r.(map[string]any)
			var kept []any
			for _, i := range resource["instances"].([]any) {
				own := i.(map[string]any)
				vmid, _ := own["attributes"].(map[string]any)["vm_id"].(float64)
				if int(vmid) != w.vmid || change(own) {
					kept = append(kept, i)
				}
				found = found || int(vmid) == w.vmid
			}
			resource["instances"] = kept
		}
		if !found {
			w.Fatalf("the state has no VM %d", w.vmid)
		}
		body, err = json.MarshalIndent(state, "", "  ")
		check(w.T, err)
		check(w.T, os.WriteFile(file, body, 0o600))
	}
}

func taint(own map[string]any) bool { own["status"] = "tainted"; return true }

func lose(map[string]any) bool { return false }
