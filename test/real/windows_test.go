//go:build unix

package real

import "testing"

// TestMachineOfWindows: Proxmox VE gives the machine type of a Windows a version. That is no difference from the spec, and after
// a lost state `adopt --match` writes it.
func TestMachineOfWindows(t *testing.T) {
	t.Parallel()
	const spec = "apiVersion: stackgen/v1\nkind: Stack\nname: live\nvmids: 300-399\ndefaults: {node: pve1, template: 9002, agent: false}\nvms: {a: {os_type: win11}}\n"
	p := newProject(t, map[string]string{"specs/live.yaml": spec})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes")
	if is := stateOf(sim).guests[300].config["machine"]; is != "pc-i440fx-9.2+pve1" {
		t.Fatalf("machine %q", is)
	}
	p.deployed(0, "drift", "no drift: 1 VM is as its spec says")
	p.remove(".state/live")
	p.deployed(0, "import-blocks")
	p.deployed(3, "preflight", "the first plan after the import removes it", "stackgen adopt --match live/a")
	p.deployed(0, "adopt --match live/a", "machine: pc-i440fx-9.2+pve1")
	p.render()
	p.deployed(0, "apply --yes", "import live: VM a", "live is as its spec says")
	p.deployed(0, "drift", "no drift: 1 VM is as its spec says")
}
