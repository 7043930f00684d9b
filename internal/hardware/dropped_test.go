package hardware

import (
	"slices"
	"strings"
	"testing"

	"stackgen/internal/cluster"
	"stackgen/internal/tf"
)

// TestDropped: the provider writes an entry as a whole, and removes the options that it does not know with it: of the disks
// that change, of all network devices, and of the CPU.
func TestDropped(t *testing.T) {
	vm := &cluster.Guest{VMID: 100, Node: "pve1", Config: &cluster.Config{Raw: map[string]string{
		"scsi0": "local-lvm:vm-100-disk-0,size=8G,wwn=0x5000c500a1b2c3d4", "scsi1": "local-lvm:vm-100-disk-1,detect_zeroes=0,size=8G",
		"net0": "virtio=BC:24:11:00:00:01,bridge=vmbr0", "cpu": "host,hidden=1,flags=+aes", "agent": "enabled=1,freeze-fs-on-backup=0",
	}}}
	container := containerOf(map[string]string{
		"rootfs": "local-lvm:vm-100-disk-0,size=4G,ro=1,acl=1",
		"net0":   "name=eth0,bridge=vmbr0,hwaddr=BC:24:11:00:00:01,ip=dhcp,link_down=1,rate=5,type=veth",
		"net1":   "name=eth1,bridge=vmbr0,hwaddr=BC:24:11:00:00:02,trunks=3;4,type=veth",
	})
	for _, c := range []struct {
		name   string
		guest  *cluster.Guest
		change tf.Change
		want   string
	}{
		{"disk", vm, tf.Change{Path: "disk.size", Device: "scsi0", Was: "8", Is: "9"}, "wwn of scsi0=0x5000c500a1b2c3d4"},
		{"other disk", vm, tf.Change{Path: "disk.aio", Device: "scsi1", Is: "io_uring", Implied: true}, "detect_zeroes of scsi1=0"},
		{"disk that is removed", vm, tf.Change{Path: "disk", Device: "scsi0", Was: "a", Whole: true}, ""},
		{"disk that is added", vm, tf.Change{Path: "disk", Device: "scsi2", Is: "a", Whole: true}, ""},
		{"network device", vm, tf.Change{Path: "network_device.bridge", Device: "net0", Was: "vmbr0", Is: "vmbr1"}, ""},
		{"cores", vm, tf.Change{Path: "cpu.cores", Was: "2", Is: "3"}, "cpu.hidden=1"},
		{"agent", vm, tf.Change{Path: "agent.trim", Was: "false", Is: "true"}, "agent.freeze-fs-on-backup=0"},
		{"name", vm, tf.Change{Path: "name", Was: "a", Is: "b"}, ""},
		{"root file system of a container", container, tf.Change{Path: "disk.size", Was: "4", Is: "5"}, "rootfs.replicate=1 rootfs.ro=1"},
		{"bridge of a container", container, tf.Change{Path: "network_interface.bridge", Device: "net1", Was: "vmbr0", Is: "vmbr1"}, "link_down of net0=1 trunks of net1=3;4"},
		{"address of a container", container, tf.Change{Path: "initialization.ip_config.ipv4.address", Device: "net0", Was: "dhcp", Is: "192.0.2.9/24"}, "link_down of net0=1 trunks of net1=3;4"},
		{"interface of a container that is removed", container, tf.Change{Path: "network_interface", Device: "net1", Was: "a", Whole: true}, "link_down of net0=1"},
		{"name of a container", container, tf.Change{Path: "initialization.hostname", Was: "a", Is: "b"}, ""},
	} {
		var got []string
		for _, d := range Read(c.guest).Dropped([]tf.Change{c.change}) {
			got = append(got, d.Name()+"="+d.Was)
		}
		slices.Sort(got)
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: got %q, want %q", c.name, text, c.want)
		}
	}
}
