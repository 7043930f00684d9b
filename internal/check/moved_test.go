package check

import (
	"maps"
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/schema"
)

// TestMoved: the snapshots of a VM matter if an apply would move the VM or one of its disks.
func TestMoved(t *testing.T) {
	const spec = `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
defaults: {node: pve1, template: 9000}
vms:
  a: {bios: ovmf, efi: {datastore: ssd}, disks: [{interface: scsi0, size: 8, datastore: ssd}, {interface: scsi1, size: 8}]}
`
	parsed, problems := schema.Parse("specs/live.yaml", []byte(spec))
	if parsed == nil {
		t.Fatal(problems)
	}
	stacks, problems := schema.Join(nil, []schema.Input{{Spec: parsed, Label: "specs/live.yaml"}}, nil, nil)
	if schema.HasErrors(problems) {
		t.Fatal(problems)
	}
	l := &lock.Lock{Stacks: lock.Ordered[lock.Stack]{{Key: "live", Value: lock.Stack{VMs: lock.Ordered[lock.VM]{{Key: "a", Value: lock.VM{VMID: 300, Node: "pve1"}}}}}}}
	moves := moved(&project.Project{Stacks: stacks, Lock: l, Selected: func(string) bool { return true }})
	as := map[string]string{"scsi0": "ssd:vm-300-disk-0,size=8G", "scsi1": "local-lvm:vm-300-disk-1,size=8G", "efidisk0": "ssd:vm-300-disk-2", "ide2": "hdd:vm-300-cloudinit,media=cdrom"}
	for name, c := range map[string]struct {
		vmid     int
		node     string
		at, disk string
		want     bool
	}{
		"as its spec says":     {vmid: 300, node: "pve1"},
		"on another node":      {vmid: 300, node: "pve2", want: true},
		"disk on another one":  {vmid: 300, node: "pve1", at: "scsi0", disk: "hdd:vm-300-disk-0,size=8G", want: true},
		"EFI disk on another":  {vmid: 300, node: "pve1", at: "efidisk0", disk: "hdd:vm-300-disk-2", want: true},
		"disk not in the spec": {vmid: 300, node: "pve1", at: "scsi2", disk: "hdd:vm-300-disk-3,size=8G"},
		"in no spec":           {vmid: 301, node: "pve2"},
	} {
		raw := maps.Clone(as)
		if c.at != "" {
			raw[c.at] = c.disk
		}
		if got := moves(&cluster.Guest{VMID: c.vmid, Node: c.node, Kind: guest.VM, Config: &cluster.Config{Raw: raw}}); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
