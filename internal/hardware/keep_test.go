package hardware

import (
	"slices"
	"testing"

	"stackgen/internal/tf"
)

// TestKeptDisks: printed disks have all of their options, in the order of the spec, those that
// only the VM has among them. Together with them comes the datastore of a cloud-init drive
// that would follow the first disk elsewhere.
func TestKeptDisks(t *testing.T) {
	const (
		raw0   = "scsi0: fast:vm-100-disk-0,size=8G\n"
		raw1   = "scsi1: slow:100/vm-100-disk-1.qcow2,size=5G,format=qcow2,ssd=1,discard=on,iothread=1,cache=directsync,backup=0,replicate=0,aio=native,serial=S1,mbps_rd=3,iops_wr=100,iops_wr_max=400\n"
		drive  = "ide2: fast:vm-100-cloudinit,media=cdrom\n"
		disk0  = "{interface: scsi0, datastore: fast, size: 8}"
		disk1  = "{interface: scsi1, datastore: slow, size: 5, format: qcow2, ssd: true, discard: true, iothread: true, cache: directsync, backup: false, replicate: false, aio: native, serial: S1, speed: {read: 3, iops_write: 100, iops_write_burstable: 400}}"
		pinned = "cloud_init: {datastore: fast, user: ops, ipv4: dhcp}"
	)
	for name, c := range map[string]struct {
		spec, config string
		devices      []string
		want         []string
	}{
		"a disk that only the VM has":   {"disks: [" + disk0 + "]", raw0 + raw1, []string{"scsi1"}, []string{"disks: [" + disk0 + ", " + disk1 + "]"}},
		"the first one":                 {"disks: [" + disk1 + "]", raw0 + raw1, []string{"scsi0"}, []string{"disks: [" + disk0 + ", " + disk1 + "]"}},
		"another order in the spec":     {"disks: [" + disk1 + ", " + disk0 + "]", raw0 + raw1, []string{"scsi0"}, []string{"disks: [" + disk1 + ", " + disk0 + "]", "cloud_init: {datastore: fast, ipv4: dhcp}"}},
		"what the spec grows":           {"disks: [{interface: scsi0, datastore: fast, size: 9}]", raw0 + raw1, []string{"scsi1"}, []string{"disks: [{interface: scsi0, datastore: fast, size: 9}, " + disk1 + "]"}},
		"what the spec shrinks":         {"disks: [{interface: scsi0, datastore: fast, size: 7}, " + disk1 + "]", raw0 + raw1, []string{"scsi0"}, []string{"disks: [" + disk0 + ", " + disk1 + "]"}},
		"a drive that would move":       {"disks: [" + disk1 + "], cloud_init: {user: ops}", raw1, nil, []string{"disks: [" + disk1 + "]", pinned}},
		"a drive with a datastore":      {"disks: [" + disk1 + "], cloud_init: {datastore: fast, user: ops}", raw1, nil, []string{"disks: [" + disk1 + "]"}},
		"a drive beside its first disk": {"disks: [" + disk1 + "], cloud_init: {user: ops}", raw0 + raw1, []string{"scsi0"}, []string{"disks: [" + disk0 + ", " + disk1 + "]"}},
		"no disk":                       {"cores: 2", raw0, nil, nil},
		"a VM without a drive":          {"disks: [" + disk1 + "], cloud_init: {user: ops}", raw1 + "ide2:\n", nil, []string{"disks: [" + disk1 + "]"}},
	} {
		g := newGuest(drive + c.config)
		if got := Read(g).Keep(vm(t, c.spec), "disks", c.devices); !slices.Equal(got, c.want) {
			t.Errorf("%s: got\n%q, want\n%q", name, got, c.want)
		}
	}
}

// TestByPosition: the format of a disk that the spec does not say follows from its position.
func TestByPosition(t *testing.T) {
	v := vm(t, "disks: [{interface: scsi0, size: 8}, {interface: scsi1, size: 5, format: raw}]")
	for device, want := range map[string]bool{"scsi0": true, "scsi1": false, "scsi2": false} {
		if got := ByPosition(v, tf.Change{Path: "disk.file_format", Device: device, Was: "raw", Is: "qcow2"}); got != want {
			t.Errorf("%s: got %v", device, got)
		}
	}
	if ByPosition(nil, tf.Change{Path: "disk.file_format", Device: "scsi0"}) || ByPosition(v, tf.Change{Path: "disk.size", Device: "scsi0"}) {
		t.Error("without a spec, or another attribute")
	}
}
