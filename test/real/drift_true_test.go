//go:build unix

package real

import (
	"net/url"
	"strings"
	"testing"
)

const driftTrueSpec = `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
pool: {id: lab, create: true}
defaults:
  node: pve1
  template: 9002
  agent: false
  disks: [{interface: scsi0, datastore: local-lvm, size: 4}]
vms:
  protected: {}
  quiet: {agent: {enabled: true, timeout: 3s}}
  big: {memory: 2048}
  pooled: {memory: 1024}
  reused: {}
  hand: {adopt: {vmid: 700}}
`

// TestDriftTrue changes VMs by hand, one thing each: the report says what Proxmox VE has, where
// the spec has the property and whose task changed it, and offers only what can be accepted.
func TestDriftTrue(t *testing.T) {
	t.Parallel()
	w := &acceptWorld{project: newProject(t, map[string]string{"specs/live.yaml": driftTrueSpec})}
	w.sim = w.simulate()
	at := func(vmid string) string { return "/nodes/pve1/qemu/" + vmid }
	callAPI(t, w.sim, "POST", "/nodes/pve1/qemu", url.Values{"vmid": {"700"}, "name": {"live-hand"}, "scsi0": {"local-lvm:4"}, "net0": {"virtio=BC:24:11:0C:00:01,bridge=vmbr0"}})
	callAPI(t, w.sim, "POST", at("700")+"/config", url.Values{"tags": {"before"}})
	w.render()
	w.deployed(0, "apply --yes")
	setByHand("protection", "1")(w, at("300"))
	setByHand("agent", "0")(w, at("301"))
	for _, action := range []string{"stop", "start"} {
		callAPI(t, w.sim, "POST", at("301")+"/status/"+action, nil)
	}
	setByHand("balloon", "1024")(w, at("302")) // no task
	callAPI(t, w.sim, "POST", at("302")+"/config", url.Values{"memory": {"4096"}})
	callAPI(t, w.sim, "PUT", "/pools/lab", url.Values{"vms": {"303"}, "delete": {"1"}})
	callAPI(t, w.sim, "POST", at("700")+"/config", url.Values{"scsi1": {"local-lvm:2"}})
	spec := strings.Replace(w.read("specs/live.yaml"), "protected: {}", "protected: {protection: true}", 1)
	w.write("specs/live.yaml", spec)
	w.render()

	_, out := w.stackgen("drift", "--verbose", w.dir)
	w.contains(out, "the VM has the protection that the spec says, and the state does not", "specs/live.yaml:5:7 is lab", "neither spec nor state have scsi1, and its profile ignores that")
	for _, wrong := range []string{"protection: Proxmox VE has false", "--accept live/pooled", "on MiB"} {
		if strings.Contains(out, wrong) {
			t.Errorf("drift says %q:\n%s", wrong, out)
		}
	}
	if n := strings.Count(out, "task log: qmconfig"); n != 2 { // of memory, and of scsi1
		t.Errorf("%d changes have a task, want 2:\n%s", n, out)
	}
	for of, want := range map[string]string{"live/big:memory": "big: {memory: 4096}", "live/quiet": "quiet: {agent: {enabled: false, timeout: 3s}}"} {
		if code, out := w.stackgen("drift", "--accept", w.dir, of); code != 0 || !strings.Contains(w.read("specs/live.yaml"), want) {
			t.Errorf("drift --accept %s: exit %d, want %s\n%s", of, code, want, out)
		}
		if of == "live/quiet" {
			w.render()
			_, out := w.stackgen("drift", w.dir)
			w.contains(out, "provider-only  live/quiet agent.timeout", "the state has 3s, the default at ", "specs/live.yaml:13:18 is 15m")
		}
		w.write("specs/live.yaml", spec)
		w.render()
	}

	// Something else has the VMID: what differs is no change of the VM.
	w.sim.Remove(304)
	callAPI(t, w.sim, "POST", "/nodes/pve2/qemu", url.Values{"vmid": {"304"}, "name": {"erp"}, "net0": {"virtio=BC:24:11:77:00:01,bridge=vmbr0"}})
	if _, out := w.stackgen("drift", w.dir); strings.Contains(out, "--accept live/reused") {
		t.Errorf("drift offers to accept another VM:\n%s", out)
	}
}
