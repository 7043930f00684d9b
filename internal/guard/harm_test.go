package guard

import (
	"slices"
	"testing"

	"stackgen/internal/cluster"
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
