package hardware

import (
	"testing"

	"stackgen/internal/cluster"
)

// TestPendingDefaultDoesNotWait prevents that a VM is restarted for a change that changes
// nothing.
func TestPendingDefaultDoesNotWait(t *testing.T) {
	for _, c := range []struct {
		pending cluster.Pending
		waits   bool
	}{
		{cluster.Pending{Key: "agent", New: "enabled=0,fstrim_cloned_disks=0,type=virtio"}, false},
		{cluster.Pending{Key: "agent", New: "0"}, false},
		{cluster.Pending{Key: "agent", Value: "0", Delete: true}, false},
		{cluster.Pending{Key: "agent", Value: "1", New: "enabled=1,type=virtio"}, false},
		{cluster.Pending{Key: "agent", New: "enabled=1"}, true},
		{cluster.Pending{Key: "agent", Value: "1", New: "0"}, true},
		{cluster.Pending{Key: "agent", Value: "1", Delete: true}, true},
		{cluster.Pending{Key: "agent", Value: "1", New: "1,type=isa"}, true},
		{cluster.Pending{Key: "agent", Value: "1", New: "1,freeze-fs-on-backup=0"}, true},
		{cluster.Pending{Key: "numa", New: "0"}, false},
		{cluster.Pending{Key: "numa", New: "1"}, true},
		{cluster.Pending{Key: "sockets", New: "1"}, false},
		{cluster.Pending{Key: "cores", New: "1"}, false},
		{cluster.Pending{Key: "cores", New: "2"}, true},
		{cluster.Pending{Key: "cores", Value: "2", Delete: true}, true},
		{cluster.Pending{Key: "memory", New: "512"}, false},
		{cluster.Pending{Key: "memory", Value: "2048", New: "3072"}, true},
		{cluster.Pending{Key: "balloon", New: "0"}, true}, // without it, ballooning is on
		{cluster.Pending{Key: "keyboard", New: "en-us"}, true},
		{cluster.Pending{Key: "cpuunits", New: "0"}, true},
		{cluster.Pending{Key: "cpu", New: "qemu64"}, true}, // without it, the type is kvm64
		{cluster.Pending{Key: "ostype", New: "other"}, false},
		{cluster.Pending{Key: "scsihw", New: "lsi"}, false},
		{cluster.Pending{Key: "scsihw", New: "virtio-scsi-pci"}, true},
		{cluster.Pending{Key: "bios", New: "seabios"}, false},
		{cluster.Pending{Key: "tablet", New: "1"}, false},
		{cluster.Pending{Key: "tablet", New: "0"}, true},
		{cluster.Pending{Key: "vga", New: "type=std"}, false},
		{cluster.Pending{Key: "vga", New: "std,memory=32"}, true},
		{cluster.Pending{Key: "vga", Value: "serial0", New: "std"}, true},
		{cluster.Pending{Key: "efidisk0", New: "local-lvm:vm-100-disk-1,efitype=2m"}, true},
		{cluster.Pending{Key: "scsi1", New: "local-lvm:vm-100-disk-1"}, true},
		{cluster.Pending{Key: "net1", Value: "virtio=BC:24:11:00:00:02", Delete: true}, true},
		{cluster.Pending{Key: "serial0", New: "socket"}, true},
		{cluster.Pending{Key: "rng0", New: "source=/dev/urandom"}, true},
		{cluster.Pending{Key: "cipassword"}, true},
		{cluster.Pending{Key: "cipassword", Delete: true}, true},
	} {
		if got := Waits(c.pending); got != c.waits {
			t.Errorf("%+v waits: %t", c.pending, got)
		}
	}
}
