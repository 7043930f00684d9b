//go:build unix

package real

import (
	"maps"
	"reflect"
	"strings"
	"testing"
)

// TestAdoptContainers writes containers that were made by hand into a spec by `stackgen adopt`, one as it is, and one with
// what it has. The apply after it imports both and writes to none of them; the plan is empty, and nothing drifts. A
// change in the spec of the first one changes nothing; of the second one it changes only that.
func TestAdoptContainers(t *testing.T) {
	t.Parallel()
	p := newProject(t, nil)
	sim := p.simulate()
	add := func(vmid int, name, mac string, config map[string]string) {
		g := containerByHand(vmid, "pve1", name, mac)
		g.Running = true
		maps.Copy(g.Config, config)
		check(t, sim.Add(g))
	}
	add(700, "hand-files", "BC:24:11:AA:70:00", map[string]string{
		"rootfs": "local-lvm:vm-700-disk-0,size=4G", "mp0": "local-lvm:vm-700-disk-1,mp=/srv/data,size=8G", "tags": "hand",
		"net1": "name=lan,bridge=vmbr0,hwaddr=BC:24:11:AA:70:01,ip=10.1.0.43/24,tag=30,type=veth",
	})
	add(701, "asis", "BC:24:11:AA:70:10", map[string]string{"rootfs": "local-lvm:vm-701-disk-0,size=4G"})
	check(t, sim.Add(guestByHand(702, "pve1", "asis-vm")))
	p.write("specs/hand.yaml", `apiVersion: stackgen/v1
kind: Stack
name: hand
naming: {pattern: "{key}"}
containers:
  # made by hand
  files: {}
  asis: {}
`)
	before, was := digests(t, sim), stateOf(sim).guests
	sim.ResetLog()
	p.deployed(1, "adopt files=702", "702 is the VM asis-vm on pve1, and the spec has hand/files under containers")
	p.deployed(3, "adopt --by-name", "hand/asis is 701", "no container is called files", "stackgen adopt hand/files=VMID")
	p.deployed(0, "adopt --match hand/files=700", "hand/files: the spec says what container 700 has; its profile is default now")
	p.deployed(0, "render")
	p.deployed(2, "preflight", "2 adopt")
	p.deployed(0, "import-blocks --verify", "hand/proxmox-container: 2 to import, 0 to add, 0 to change, 0 to destroy")
	t.Log(p.deployed(2, "drift", "hand/asis: container 701 on pve1"))
	noWrites(t, sim)
	p.deployed(0, "apply --yes", "hand is as its spec says")
	p.deployed(0, "apply --yes", "nothing to do")
	p.deployed(0, "drift")
	noWrites(t, sim)
	if after := digests(t, sim); !maps.Equal(before, after) {
		t.Errorf("configurations changed:\n%v\n%v", before, after)
	}
	if is := stateOf(sim).guests; !reflect.DeepEqual(is, was) {
		t.Errorf("was %v, is %v", was, is)
	}

	spec := p.read("specs/hand.yaml")
	spec = strings.Replace(spec, "asis: {", "asis: {memory: 768, ", 1)
	p.write("specs/hand.yaml", strings.Replace(spec, "    adopt: {vmid: 700}", "    cores: 3\n    adopt: {vmid: 700}", 1))
	p.deployed(0, "render")
	p.deployed(0, "apply --yes", "hand is as its spec says")
	is := stateOf(sim).guests
	if got := is[700].config["cores"]; got != "3" || !is[700].started.Equal(was[700].started) {
		t.Errorf("container 700 has %s cores, want 3 without a restart", got)
	}
	if !reflect.DeepEqual(is[701], was[701]) {
		t.Errorf("container 701 was %v, is %v", was[701], is[701])
	}

	// Somebody restores one under another VMID: the lines that preflight prints take that one, and do nothing to it.
	sim.Remove(701)
	add(790, "asis", "BC:24:11:AA:70:10", map[string]string{"rootfs": "local-lvm:vm-790-disk-0,size=4G"})
	was = stateOf(sim).guests
	said := p.deployed(3, "preflight", "blocked gone", "hand/asis", "stackgen adopt hand/asis=790")
	p.pasteLine(".", said, "state rm")
	p.deployed(0, "adopt hand/asis=790", "hand/asis is 790")
	p.deployed(0, "render")
	p.deployed(0, "import-blocks")
	sim.ResetLog()
	p.deployed(0, "apply --yes", "hand is as its spec says")
	p.deployed(0, "apply --yes", "nothing to do")
	noWrites(t, sim)
	if is := stateOf(sim).guests; !reflect.DeepEqual(is, was) {
		t.Errorf("was %v, is %v", was, is)
	}

	// Somebody replaces one by another container: it is a conflict.
	sim.Remove(790)
	add(790, "asis", "BC:24:11:AA:70:99", map[string]string{"rootfs": "local-lvm:vm-790-disk-0,size=4G"})
	sim.ResetLog()
	p.deployed(3, "apply --yes", "blocked conflict", "hand/asis")
	p.deployed(1, "adopt asis=790", "its entry has the MAC address BC:24:11:AA:70:10 in networks[0], and the container BC:24:11:AA:70:99")
	noWrites(t, sim)
}
