//go:build unix

package real

import (
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// TestApplyPartly: Proxmox VE takes a part of an update before it fails. The apply says
// what is in the configuration then.
func TestApplyPartly(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": oneSpec})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes")
	p.write("specs/live.yaml", strings.Replace(oneSpec, "datastore: local-lvm}]}", "datastore: local-lvm}, {interface: scsi1, size: 8, datastore: shared}], memory: 3072, tags: [late]}", 1))
	p.render()
	check(t, sim.AddFault(&pvesim.Fault{Method: "PUT", Path: "/nodes/*/qemu/300/config", Do: pvesim.DoFull, Storage: "shared"}))
	t.Log(p.deployed(1, "apply --yes", "VM a (VMID 300, node pve1) was changed in part: a storage is full",
		"in its configuration: memory 2048 -> 3072, pending", "not changed: tags, scsi1"))
}
