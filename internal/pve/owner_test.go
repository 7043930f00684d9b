package pve

import (
	"maps"
	"testing"
)

func TestVolumeOwner(t *testing.T) {
	for volume, want := range map[string]int{
		"local-lvm:vm-300-disk-1":                                   300,
		"local:300/vm-300-disk-0.qcow2":                             300,
		"zfs:base-9000-disk-0/vm-301-disk-0":                        301,
		"local:9000/base-9000-disk-0.qcow2/301/vm-301-disk-0.qcow2": 301,
		"zfs:subvol-200-disk-0":                                     200,
		"local:iso/debian.iso":                                      0,
		"none":                                                      0,
		"/dev/sdb":                                                  0,
	} {
		if got := VolumeOwner(volume); got != want {
			t.Errorf("%s: %d, want %d", volume, got, want)
		}
	}
}

func TestVolumesOfOthers(t *testing.T) {
	raw := map[string]string{
		"scsi0": "lvm:vm-400-disk-0,size=8G", "scsi1": "file=lvm:vm-300-disk-1,size=1G", "unused0": "lvm:vm-301-disk-0",
		"ide2": "none,media=cdrom", "rootfs": "lvm:vm-302-disk-0,size=1G", "mp0": "volume=lvm:vm-303-disk-0,mp=/srv", "net0": "virtio=BC:24:11:00:00:01",
		"description": "lvm:vm-304-disk-0",
	}
	want := map[string]string{"scsi1": "lvm:vm-300-disk-1", "unused0": "lvm:vm-301-disk-0", "rootfs": "lvm:vm-302-disk-0", "mp0": "lvm:vm-303-disk-0"}
	if got := VolumesOfOthers(400, raw); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
