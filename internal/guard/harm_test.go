package guard

import (
	"slices"
	"testing"

	"stackgen/internal/cluster"
	"stackgen/internal/effect"
	"stackgen/internal/tf"
)

// TestVolumesOfOthers: the provider moves and grows disks only whose volume begins with the VMID. Of a linked clone on file
// storage, that of the template does; the disks of the firmware are linked, too.
func TestVolumesOfOthers(t *testing.T) {
	g := &cluster.Guest{VMID: 300, Config: &cluster.Config{Raw: map[string]string{
		"scsi0": "local:9000/base-9000-disk-0.qcow2/300/vm-300-disk-0.qcow2,size=8G", "scsi1": "local:300/vm-300-disk-1.raw,size=8G",
		"scsi2": "lvm:vm-300-disk-2,size=8G", "scsi3": "lvm:vm-301-disk-0,size=8G", "scsi4": "local:301/vm-301-disk-0.raw,size=8G",
		"scsi5": "/dev/sdb,size=8G", "scsi6": "zfs:base-9000-disk-2/vm-300-disk-6,size=8G", "ide2": "local:300/vm-300-cloudinit.qcow2,media=cdrom",
		"efidisk0": "local:9000/base-9000-disk-1.raw/300/vm-300-disk-3.qcow2,size=528K", "tpmstate0": "lvm:vm-300-disk-4,size=4M",
	}}}
	if got, want := linkedDisks(g), []string{"scsi0", "scsi6", "efidisk0"}; !slices.Equal(got, want) {
		t.Errorf("linked: %v, want %v", got, want)
	}
	if got, want := foreignDisks(g), []string{"scsi3", "scsi4", "scsi5"}; !slices.Equal(got, want) {
		t.Errorf("of other guests: %v, want %v", got, want)
	}
	if got := foreignDisks(&cluster.Guest{VMID: 300}); got != nil {
		t.Errorf("of a guest that was not read: %v", got)
	}
}

// TestWithDropped: the options that an update removes are named with it, and harm nothing.
func TestWithDropped(t *testing.T) {
	g := &cluster.Guest{VMID: 300, Node: "pve1", Config: &cluster.Config{Raw: map[string]string{"scsi0": "lvm:vm-300-disk-0,size=8G,wwn=0x5000c500a1b2c3d4"}}}
	grows := effect.Update{Change: tf.Change{Path: "disk.size", Device: "scsi0", Was: "8", Is: "9"}, Does: "at once"}
	all := withDropped(g, []effect.Update{grows})
	const want = "wwn of scsi0: 0x5000c500a1b2c3d4 -> none, removed with the rest: the provider does not know it"
	if len(all) != 2 || all[1].String() != want || all[1].Harm != "" || !all[1].SideEffect {
		t.Errorf("got %v, want %s", all, want)
	}
	if all := withDropped(nil, []effect.Update{grows}); len(all) != 1 {
		t.Errorf("of a guest that was not read: %v", all)
	}
}
