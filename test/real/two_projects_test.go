//go:build unix

package real

import "testing"

// TestTwoProjects: a second project is told that the lock of a first one has a VM, before it
// takes it and as long as both have it.
func TestTwoProjects(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, oneVM("fast"))
	g.stack(true, "apply", "1 create")
	g.sim.ResetLog()
	second := *g.project
	second.dir += "/second"
	second.write("stackgen.yaml", "apiVersion: stackgen/v1\nkind: Project\n")
	second.write("specs/mine.yaml", "apiVersion: stackgen/v1\nkind: Stack\nname: mine\nvmids: 400-499\n"+
		"defaults: {node: pve1, template: 9002}\nvms: {a: {name: live-a}}\n")
	const whose = "live/a in ../stackgen.lock.yaml"
	second.deployed(0, "render")
	second.deployed(0, "discover --yes 300", "not written: 1 VM of another project", "another project manages it, as "+whose)
	second.deployed(3, "preflight", "by its lock ../stackgen.lock.yaml: VM 300 (the name of mine/a here, live/a there)")
	second.deployed(3, "adopt --by-name", "the VM with its name belongs to another project", "VM 300 is "+whose)
	second.deployed(0, "adopt a=300", "warning: mine/a: another project manages VM 300, as "+whose)
	second.deployed(0, "render")
	second.deployed(0, "apply --dry-run", "another project manages guests of this one or with their names, by its lock ../stackgen.lock.yaml: VM 300 (mine/a here, live/a there)")
	g.deployed(0, "preflight", "another project manages guests of this one or with their names, by its lock second/stackgen.lock.yaml: VM 300 (live/a here, mine/a there)")
	noWrites(t, g.sim)
}
