package hardware

import (
	"testing"

	"stackgen/guest"
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
		if got := len(Waiting(guest.VM, []cluster.Pending{c.pending})) > 0; got != c.waits {
			t.Errorf("%+v waits: %t", c.pending, got)
		}
	}
}

// TestPendingContainer prevents that a change of a container is judged by what a VM has without an
// entry: without `cores`, a container has all cores of its node, and without `swap` 512 MiB.
func TestPendingContainer(t *testing.T) {
	const volume = "local-lvm:vm-100-disk-1,size=4G"
	for _, c := range []struct {
		pending cluster.Pending
		waits   bool
	}{
		{cluster.Pending{Key: "cores", New: "1"}, true},
		{cluster.Pending{Key: "cores", Value: "1", Delete: true}, true},
		{cluster.Pending{Key: "cores", Value: "1", New: "2"}, true},
		{cluster.Pending{Key: "memory", New: "512"}, false},
		{cluster.Pending{Key: "memory", Value: "512", New: "1024"}, true},
		{cluster.Pending{Key: "swap", New: "512"}, false},
		{cluster.Pending{Key: "swap", Value: "512", New: "0"}, true},
		{cluster.Pending{Key: "net0", Value: "name=eth0,bridge=vmbr0", New: "name=eth0,bridge=vmbr1"}, true},
		{cluster.Pending{Key: "nameserver", New: "10.0.0.1"}, true},
		{cluster.Pending{Key: "features", New: "nesting=0"}, false},
		{cluster.Pending{Key: "features", Value: "nesting=1", New: "nesting=0"}, true},
		{cluster.Pending{Key: "features", New: "keyctl=1"}, true},
		{cluster.Pending{Key: "rootfs", Value: volume, New: "acl=0,size=8589934592,volume=local-lvm:vm-100-disk-1"}, false},
		{cluster.Pending{Key: "mp0", Value: volume + ",mp=/data", New: volume + ",mp=/srv"}, true},
		{cluster.Pending{Key: "mp0", Value: volume + ",mp=/data", Delete: true}, true},
	} {
		if got := len(Waiting(guest.Container, []cluster.Pending{c.pending})) > 0; got != c.waits {
			t.Errorf("%+v waits: %t", c.pending, got)
		}
	}
}
