package real

import (
	"net/http"
	"net/url"
	"testing"
)

// TestApplyRefused: an apply that the guard refuses after the answer has created nothing. A VM that
// somebody creates later with the VMID and the name is not one that it left halfway.
func TestApplyRefused(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"stackgen.yaml": fullGuard, "specs/live.yaml": `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
defaults: {node: pve1, template: 9002, clone: linked, disks: [{interface: scsi0, size: 8, datastore: local-lvm}]}
vms: {a: {}}
`})
	sim := p.simulate()
	p.render()
	creates := func(name string) {
		callAPI(t, sim, http.MethodPost, "/nodes/pve1/qemu", url.Values{"vmid": {"300"}, "name": {name}})
	}
	p.answeredAfter(3, "apply", "yes\n", func() { creates("stranger"); sim.ResetLog() }, "stackgen guard refuses", "VM 300 (stranger)")
	noWrites(t, sim)
	callAPI(t, sim, http.MethodDelete, "/nodes/pve1/qemu/300", nil)
	p.deployed(0, "apply --dry-run", "create 1 VM")
	creates("live-a")
	sim.ResetLog()
	t.Log(p.deployed(3, "apply --yes", "conflict"))
	noWrites(t, sim)
}
