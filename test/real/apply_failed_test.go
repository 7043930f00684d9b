//go:build unix

package real

import (
	"slices"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// failedSpec has VMs whose creation fails: when the clone is configured, when a disk is added
// after that, and when the VM starts.
const failedSpec = `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
defaults:
  node: pve1
  template: {vmid: 9002, node: pve1}
  memory: 1024
  cloud_init: {datastore: local-lvm, ipv4: dhcp}
vms:
  configured: {cloud_init: {datastore: small}}
  extended: {disks: [{interface: scsi0, size: 8, datastore: local-lvm}, {interface: scsi1, size: 2, datastore: small}]}
  started: {cores: 1}
`

// TestApplyFailedHalfway lets an apply fail after the clones, in ways that nothing shows
// before, so that Proxmox VE has taken a part of what was sent. When the cause is removed,
// the same command completes the VMs, and preflight says so.
func TestApplyFailedHalfway(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": failedSpec})
	seed, err := pvesim.DefaultSeed()
	check(t, err)
	seed.Storages = append(seed.Storages, &pvesim.Storage{ID: "small", Type: "dir", Path: "/mnt/small", Content: []string{"images"}, Full: true})
	sim := p.simulateSeed(seed)
	check(t, sim.AddFault(&pvesim.Fault{Method: "POST", Path: "/nodes/pve1/qemu/302/status/start", Do: pvesim.DoError, Status: 500, Message: "out of luck"}))
	p.render()
	t.Log(p.deployed(1, "apply --yes", "live/extended lacks scsi1, which an apply that failed did not add"))
	sim.Change(func(s *pvesim.Seed) {
		for _, x := range s.Storages {
			x.Full = false
		}
	})
	sim.ClearFaults()
	p.deployed(0, "preflight", "scsi1: none -> datastore_id=small size=2")
	t.Log(p.deployed(0, "apply --yes", "start live: 3 VMs", "live is as its spec says"))
	p.complete(sim, 300, 301, 302)
	if left := p.list(); slices.ContainsFunc(left, func(path string) bool { return strings.Contains(path, ".stackgen") }) {
		t.Errorf("records of the apply are left: %v", left)
	}
}
