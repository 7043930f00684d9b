//go:build unix

package real

import (
	"net/url"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// updatedSpec has a VM whose update fails in these tests: it may restart, as the move of a disk needs it off.
const updatedSpec = `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
pool: {id: live, create: true}
vms:
  a:
    node: pve1
    template: 9002
    restart: true
    memory: 2048
    disks: [{interface: scsi0, size: 8, datastore: local-lvm}, {interface: scsi1, size: 5, datastore: shared}]
    networks: [{bridge: vmbr0}, {bridge: vmbr0, vlan: 20}]
`

// updatedContainer has a container whose update fails.
const updatedContainer = `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
containers:
  a:
    node: pve1
    template: local:vztmpl/alpine-3.20-default_20240908_amd64.tar.xz
    restart: true
    rootfs: {datastore: local-lvm, size: 4}
    networks: [{bridge: vmbr0, ipv4: dhcp}, {bridge: vmbr0, vlan: 20}]
`

// TestUpdateFailed: Proxmox VE takes an update in part, or not at all, and the provider writes all of it into the state. The
// apply says what is in the configuration then, and corrects the state: nothing counts as changed by hand, the command that
// it prints makes the rest, and then nothing is to do.
func TestUpdateFailed(t *testing.T) {
	t.Parallel()
	second, another := ", {interface: scsi1, size: 5, datastore: shared}", ", {interface: scsi2, size: 3, datastore: shared}"
	nic := ", {bridge: vmbr0, vlan: 20}"
	more := []string{"memory: 2048", "memory: 3072\n    tags: [late]", "datastore: shared}", "datastore: local-lvm}" + another, nic, ""}
	vm, container := appliedSpec(t, updatedSpec), appliedSpec(t, updatedContainer)
	for name, c := range map[string]struct {
		from    start
		changes []string // of the spec
		fault   pvesim.Fault
		says    []string
	}{
		"in part": {vm, []string{second, second + another, "memory: 2048", "memory: 3072\n    tags: [late]", "    restart: true\n", ""},
			pvesim.Fault{Method: "PUT", Path: "/nodes/*/qemu/300/config", Do: pvesim.DoFull, Storage: "shared"},
			[]string{"VM a (VMID 300, node pve1) was changed in part: a storage is full",
				"in its configuration: memory 2048 -> 3072, pending", "not changed: tags, scsi2"}},
		"at once": {vm, more,
			pvesim.Fault{Method: "PUT", Path: "/nodes/*/qemu/300/config", Do: pvesim.DoError, Status: 500, Message: "out of luck"},
			[]string{"VM a (VMID 300, node pve1) was not changed", "not changed: datastore of scsi1, memory, net1, tags, scsi2"}},
		"disk not moved": {vm, more,
			pvesim.Fault{Method: "POST", Path: "/nodes/*/qemu/300/move_disk", Do: pvesim.DoError, Status: 500, Message: "out of luck"},
			[]string{"VM a (VMID 300, node pve1) was changed in part and is off now", "not changed: datastore of scsi1"}},
		"disk not removed": {vm, []string{second, ""},
			pvesim.Fault{Method: "PUT", Path: "/nodes/*/qemu/300/config", Do: pvesim.DoError, Status: 500, Message: "out of luck"},
			[]string{"VM a (VMID 300, node pve1) was not changed", "not changed: scsi1"}},
		"container": {container, []string{nic, "", "size: 4", "size: 6"},
			pvesim.Fault{Method: "PUT", Path: "/nodes/*/lxc/300/config", Do: pvesim.DoError, Status: 500, Message: "out of luck"},
			[]string{"container a (VMID 300, node pve1) was changed in part"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, sim := c.from.copy(t)
			p.write("specs/live.yaml", strings.NewReplacer(c.changes...).Replace(p.read("specs/live.yaml")))
			p.render()
			check(t, sim.AddFault(&c.fault))
			t.Log(p.deployed(1, "apply --yes", c.says...))
			sim.ClearFaults()
			sim.Change(func(s *pvesim.Seed) {
				for _, x := range s.Storages {
					x.Full = false
				}
			})
			if said := p.deployed(2, "drift"); strings.Contains(said, "by hand") {
				t.Errorf("drift blames a person for what the apply did not do:\n%s", said)
			}
			t.Log(p.deployed(0, "apply --yes", "live is as its spec says"))
			p.deployed(0, "apply --yes", "nothing to do")
		})
	}
}

// TestPlainUpdateFailed: after an update that failed under plain Terragrunt nobody corrects the state. A disk that the VM kept
// is in no plan then, and each command names it; one that the VM did not get is added by the next apply.
func TestPlainUpdateFailed(t *testing.T) {
	t.Parallel()
	second, third := ", {interface: scsi1, size: 5, datastore: shared}", ", {interface: scsi2, size: 3, datastore: local-lvm}"
	p, sim := appliedSpec(t, updatedSpec).copy(t)
	fails := func(changes ...string) {
		p.write("specs/live.yaml", strings.NewReplacer(changes...).Replace(p.read("specs/live.yaml")))
		p.render()
		check(t, sim.AddFault(&pvesim.Fault{Method: "PUT", Path: "/nodes/*/qemu/300/config", Do: pvesim.DoError, Status: 500, Message: "out of luck"}))
		p.generate("live")
		p.fails(unitDir("live", "proxmox-vm"), []string{"apply", "-auto-approve"}, "out of luck")
		sim.ClearFaults()
	}
	fails(second, "")
	for _, dir := range []string{"", " --dry-run"} {
		p.deployed(0, "apply --yes"+dir, "nothing to do: live is as its spec says, except that live/a has scsi1, which neither spec nor state have")
	}
	const detach = "pvesh set /nodes/pve1/qemu/300/config --delete scsi1"
	p.deployed(0, "preflight", "it has scsi1, and neither its spec nor its state", detach)
	if said := p.deployed(2, "drift", "neither spec nor state have scsi1", detach); strings.Contains(said, "by hand") {
		t.Errorf("drift blames a person:\n%s", said)
	}
	callAPI(t, sim, "PUT", "/nodes/pve1/qemu/300/config", url.Values{"delete": {"scsi1"}})
	if said := p.deployed(0, "apply --yes", "nothing to do: live is as its spec says"); strings.Contains(said, "except") {
		t.Error(said)
	}
	fails("datastore: local-lvm}", "datastore: local-lvm}"+third)
	t.Log(p.deployed(3, "preflight", "stackgen apply specs/live.yaml"))
	t.Log(p.deployed(0, "apply --yes specs/live.yaml", "live is as its spec says"))
	p.deployed(0, "apply --yes", "nothing to do: live is as its spec says")
}

// TestAllFailed: in one apply, an update, a creation and the destroy of a retired VM fail. The apply says that, and nothing of
// the outputs of the unit, which the module cannot have while the state has the retired VM. Only the values of the update,
// which cannot be read again before that VM is gone, may count as changed by hand; the devices do not.
func TestAllFailed(t *testing.T) {
	t.Parallel()
	spec := strings.Replace(updatedSpec, "  a:\n", "  gone: {node: pve1, template: 9002, agent: false}\n  a:\n", 1)
	p := newProject(t, map[string]string{"specs/live.yaml": spec})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes")
	nic := ", {bridge: vmbr0, vlan: 20}"
	p.write("specs/live.yaml", strings.NewReplacer(nic, "", "2048", "3072").Replace(updatedSpec)+"  c: {node: pve1, template: 9002}\nretired: [gone]\n")
	p.render()
	for _, f := range []*pvesim.Fault{{Method: "DELETE", Path: "/nodes/*/qemu/300"}, {Method: "PUT", Path: "/nodes/*/qemu/301/config"}, {Method: "POST", Path: "/nodes/*/qemu/302/status/start"}} {
		f.Do, f.Status, f.Message = pvesim.DoError, 500, "out of luck"
		check(t, sim.AddFault(f))
	}
	said := p.deployed(1, "apply --yes", "note: live/gone runs without a guest agent, so its destroy stops it hard", "VM gone (VMID 300, node pve1) was not destroyed",
		"VM a (VMID 301, node pve1) was not changed", "it cannot be read again before live/gone is destroyed")
	if t.Log(said); strings.Contains(said, "outputs") {
		t.Error("it speaks of outputs")
	}
	sim.ClearFaults()
	p.deployed(0, "apply --yes", "live is as its spec says")
	p.deployed(0, "apply --yes", "nothing to do")
}
