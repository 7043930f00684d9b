package pvesim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"stackgen/internal/pvesim"
)

// runningVM is guest 123 of the default cluster, with an agent mode and more
// configuration.
func runningVM(t *testing.T, mode string, conf map[string]string) *testSim {
	t.Helper()
	seed, err := pvesim.DefaultSeed()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(seed.Guests, func(g *pvesim.Guest) bool { return g.VMID == 123 })
	seed.Guests[i].Agent.Mode = mode
	for k, v := range conf {
		seed.Guests[i].Config[k] = v
	}
	return newTestSim(t, pvesim.Options{Seed: seed})
}

const vm123 = "/nodes/pve3/qemu/123"

// pending returns the pending changes of guest 123: "key=new", or "-key" for a
// deletion.
func (b *testSim) pending() (out []string) {
	b.t.Helper()
	for _, x := range b.data("GET", vm123+"/pending").([]any) {
		o := x.(map[string]any)
		if v, ok := o["pending"]; ok {
			out = append(out, fmt.Sprintf("%v=%v", o["key"], v))
		}
		if o["delete"] != nil {
			out = append(out, fmt.Sprintf("-%v", o["key"]))
		}
	}
	slices.Sort(out)
	return out
}

// A change of a running VM is current at once, or it is pending until the VM is
// off.
func TestChangesOfRunningVMWaitForItsStop(t *testing.T) {
	base := map[string]string{"scsi1": "shared:123/vm-123-disk-1.qcow2,size=8G", "net1": "virtio=BC:24:11:00:01:24,bridge=vmbr0",
		"ide2": "none,media=cdrom", "boot": "order=scsi0;ide2", "sata0": "shared:123/vm-123-disk-2.qcow2,size=8G", "description": "x", "cpulimit": "1"}
	for _, c := range []struct{ hotplug, change, pending string }{
		{"", "memory=8192", "memory=8192"},
		{"", "cores=4", "cores=4"},
		{"", "sockets=2", "sockets=2"},
		{"", "cpu=host", "cpu=host"},
		{"", "vcpus=1", "vcpus=1"},
		{"", "agent=enabled=0", "agent=enabled=0"},
		{"", "agent=enabled=1,fstrim_cloned_disks=1", ""},
		{"", "balloon=1024", ""},
		{"", "balloon=0", "balloon=0"},
		{"", "bios=ovmf", "bios=ovmf"},
		{"", "machine=q35", "machine=q35"},
		{"", "scsihw=virtio-scsi-single", "scsihw=virtio-scsi-single"},
		{"", "serial0=socket", "serial0=socket"},
		{"", "vga=std", "vga=std"},
		{"", "ostype=win11", "machine=pc-i440fx-9.2+pve1 ostype=win11"},
		{"", "boot=order=net0", "boot=order=net0"},
		{"", "numa=1", "numa=1"},
		{"", "ipconfig0=ip=dhcp", ""},
		{"", "ciuser=root", ""},
		{"", "name=other", ""},
		{"", "tags=a", ""},
		{"", "onboot=0", ""},
		{"", "protection=1", ""},
		{"", "startup=order=1", ""},
		{"", "cpuunits=200", ""},
		{"", "cpulimit=2", ""},
		{"", "delete=cpulimit", ""},
		{"", "delete=description", ""},
		{"", "delete=cores", "-cores"},
		{"", "net1=virtio=BC:24:11:00:01:24,bridge=vmbr0,tag=5,rate=10", ""},
		{"", "net1=e1000=BC:24:11:00:01:24,bridge=vmbr0", ""},
		{"", "net2=virtio=BC:24:11:00:01:25,bridge=vmbr0", ""},
		{"", "delete=net1", ""},
		{"", "scsi1=shared:123/vm-123-disk-1.qcow2,backup=0,size=8G", ""},
		{"", "scsi1=shared:123/vm-123-disk-1.qcow2,mbps_rd=10,size=8G", ""},
		{"", "scsi1=shared:123/vm-123-disk-1.qcow2,size=8G,ssd=1", "scsi1=shared:123/vm-123-disk-1.qcow2,size=8G,ssd=1"},
		{"", "delete=scsi1", ""},
		{"", "delete=sata0", "-sata0"},
		{"", "ide2=shared:iso/debian-12-netinst.iso,media=cdrom", ""},
		{"disk", "delete=net1", "-net1"},
		{"disk", "net2=virtio=BC:24:11:00:01:25,bridge=vmbr0", "net2=virtio=BC:24:11:00:01:25,bridge=vmbr0"},
		{"disk", "net1=virtio=BC:24:11:00:01:24,bridge=vmbr0,tag=5", ""},
		{"network", "delete=scsi1", "-scsi1"},
		{"0", "delete=net1", "-net1"},
		{"cpu,memory", "vcpus=1", ""},
		{"cpu,memory", "memory=8192", ""},
		{"cpu,memory", "hotplug=1", "hotplug=1"},
		{"", "hotplug=0", ""},
	} {
		t.Run(c.hotplug+" "+c.change, func(t *testing.T) {
			conf := map[string]string{}
			for k, v := range base {
				conf[k] = v
			}
			if c.hotplug != "" {
				conf["hotplug"] = c.hotplug
			}
			b := runningVM(t, "present", conf)
			k, v, _ := strings.Cut(c.change, "=")
			before := b.data("GET", vm123+"/config", "current", "1").(map[string]any)
			b.data("PUT", vm123+"/config", k, v)
			if got := strings.Join(b.pending(), " "); got != c.pending {
				t.Errorf("pending %q, want %q", got, c.pending)
			}
			key := k
			if k == "delete" {
				key = v
			}
			current, shown := b.data("GET", vm123+"/config", "current", "1").(map[string]any), b.config("pve3", 123)
			if c.pending != "" && (fmt.Sprint(current[key]) != fmt.Sprint(before[key]) || fmt.Sprint(shown[key]) == fmt.Sprint(current[key])) {
				t.Errorf("before %v, current %v, shown %v", before[key], current[key], shown[key])
			}
			if end, _ := b.task("POST", vm123+"/status/reboot"); end != "OK" {
				t.Fatalf("reboot ended %q", end)
			}
			current = b.data("GET", vm123+"/config", "current", "1").(map[string]any)
			if len(b.pending()) > 0 || fmt.Sprint(current[key]) != fmt.Sprint(shown[key]) {
				t.Errorf("after the reboot: pending %v, current %v, want %v", b.pending(), current[key], shown[key])
			}
		})
	}
}

// A guest without an operating system never releases a device on its PCI bus: the
// server waits, answers 400 and keeps the change pending.
func TestUnplugWithoutGuestIsRefusedAndPending(t *testing.T) {
	conf := map[string]string{"net1": "virtio=BC:24:11:00:01:24,bridge=vmbr0", "scsi1": "shared:123/vm-123-disk-1.qcow2,size=8G"}
	for _, c := range []struct{ key, value, pending string }{
		{"delete", "net1", "-net1"},
		{"net1", "e1000=BC:24:11:00:01:24,bridge=vmbr0", "net1=e1000=BC:24:11:00:01:24,bridge=vmbr0"},
	} {
		b := runningVM(t, "", conf)
		began := b.clk.Now()
		r := b.do("PUT", vm123+"/config", c.key, c.value)
		if r.Status != 400 || !strings.Contains(string(r.Body), `"net1":"hotplug problem - error on hot-unplugging device 'net1'`) {
			t.Errorf("%d %s", r.Status, r.Body)
		}
		if took := b.clk.Now().Sub(began); took < 5*time.Second {
			t.Errorf("the answer came after %v", took)
		}
		if got := strings.Join(b.pending(), " "); got != c.pending {
			t.Errorf("pending %q, want %q", got, c.pending)
		}
		began = b.clk.Now()
		b.data("PUT", vm123+"/config", "description", "y")
		if took := b.clk.Now().Sub(began); took > time.Second {
			t.Errorf("another change tried the unplug again: %v", took)
		}
		if end, _ := b.task("POST", vm123+"/status/stop"); end != "OK" || len(b.pending()) > 0 {
			t.Errorf("stop ended %q, pending %v", end, b.pending())
		}
	}
	b := runningVM(t, "", conf)
	end, _ := b.task("POST", vm123+"/config", "delete", "net1")
	if want := "400 Parameter verification failed. net1: hotplug problem - error on hot-unplugging device 'net1' "; end != want {
		t.Errorf("the task ended %q, want %q", end, want)
	}
	b.data("PUT", vm123+"/config", "delete", "scsi1")
	if c := b.config("pve3", 123); c["scsi1"] != nil || c["unused0"] == nil {
		t.Errorf("a disk on a shared controller: scsi1 %v, unused0 %v", c["scsi1"], c["unused0"])
	}
	if r := b.do("PUT", vm123+"/config", "delete", "scsi0"); r.Status != 400 || !strings.Contains(string(r.Body), "can't unplug bootdisk 'scsi0'") {
		t.Errorf("boot disk: %d %s", r.Status, r.Body)
	}
}

// CPUs and memory are plugged in units, up to what the guest was started with, and a guest without an operating system
// releases none.
func TestPlugOfMemoryAndCPUs(t *testing.T) {
	for _, c := range []struct{ mode, key, value, problem, is string }{
		{"", "vcpus", "2", "", "2"},
		{"present", "vcpus", "3", "you can't add more vcpus than maxcpus", "1"},
		{"", "memory", "2500", "", "2560"},
		{"", "memory", "1024", "error unplug memory module", "2048"},
		{"present", "memory", "1024", "", "1024"},
		{"present", "memory", "512", "memory can't be lower than 1024 MB", "2048"},
	} {
		b := runningVM(t, c.mode, map[string]string{"hotplug": "cpu,memory", "numa": "1", "memory": "2048", "cores": "2", "vcpus": "1"})
		r := b.do("PUT", vm123+"/config", c.key, c.value)
		if ok := r.Status == 200; ok != (c.problem == "") || !strings.Contains(string(r.Body), c.problem) {
			t.Errorf("%s=%s: %d %s, want %q", c.key, c.value, r.Status, r.Body, c.problem)
		}
		if is := b.data("GET", vm123+"/config", "current", "1").(map[string]any)[c.key]; fmt.Sprint(is) != c.is {
			t.Errorf("%s=%s: the guest has %v, want %s", c.key, c.value, is, c.is)
		}
	}
}

// The options of cloud-init are current at once, but its drive keeps the old ones
// until the next start.
func TestCloudInitOptionsReachDriveAtStart(t *testing.T) {
	b := runningVM(t, "present", map[string]string{"ciuser": "debian", "ide2": "shared:123/vm-123-cloudinit.qcow2,media=cdrom,size=4M"})
	b.data("PUT", vm123+"/config", "ciuser", "admin", "searchdomain", "example.test")
	want := "[map[key:ciuser pending:admin value:debian] map[key:searchdomain pending:example.test]]"
	if got := fmt.Sprint(b.data("GET", vm123+"/cloudinit")); got != want {
		t.Errorf("cloudinit: %s\nwant %s", got, want)
	}
	b.data("PUT", vm123+"/config", "delete", "ciuser")
	if got := fmt.Sprint(b.data("GET", vm123+"/cloudinit")); !strings.Contains(got, "map[delete:1 key:ciuser]") {
		t.Errorf("cloudinit after the deletion: %s", got)
	}
	if end, _ := b.task("POST", vm123+"/status/reboot"); end != "OK" {
		t.Fatalf("reboot ended %q", end)
	}
	b.clk.Advance(time.Second) // the server starts it again
	if got := fmt.Sprint(b.data("GET", vm123+"/cloudinit")); got != "[map[key:searchdomain value:example.test]]" {
		t.Errorf("cloudinit after the reboot: %s", got)
	}
}

// unusedN that names a volume which is attached again is dropped, so that its
// deletion cannot remove the disk.
func TestAttachedDiskIsNotUnused(t *testing.T) {
	b := runningVM(t, "present", map[string]string{"scsi1": "shared:123/vm-123-disk-1.qcow2,size=8G"})
	b.data("PUT", vm123+"/config", "delete", "scsi1")
	if c := b.config("pve3", 123); c["unused0"] != "shared:123/vm-123-disk-1.qcow2" {
		t.Fatalf("unused0 %v", c["unused0"])
	}
	b.data("PUT", vm123+"/config", "virtio3", "shared:123/vm-123-disk-1.qcow2")
	if c := b.config("pve3", 123); c["unused0"] != nil || c["virtio3"] == nil {
		t.Errorf("unused0 %v, virtio3 %v", c["unused0"], c["virtio3"])
	}
}

// A new CD-ROM drive is appended to the boot order, and a removed device leaves it.
func TestBootOrderFollowsDevices(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	b.task("POST", "/nodes/pve1/qemu", "vmid", "300", "scsi0", "shared:1", "net0", "virtio,bridge=vmbr0")
	for _, c := range [][3]string{
		{"ide2", "none,media=cdrom", "order=scsi0;net0;ide2"},
		{"ide0", "shared:cloudinit", "order=scsi0;net0;ide2"},
		{"delete", "net0", "order=scsi0;ide2"},
	} {
		b.data("PUT", "/nodes/pve1/qemu/300/config", c[0], c[1])
		if got := b.config("pve1", 300)["boot"]; got != c[2] {
			t.Errorf("%s=%s: boot %v, want %s", c[0], c[1], got, c[2])
		}
	}
}

// A failed update leaves pending what came before the entry that failed, also what a
// running VM can take at once. It takes that with the next update.
func TestFailedUpdateLeavesPending(t *testing.T) {
	b := runningVM(t, "present", nil)
	b.fault(pvesim.Fault{Method: "PUT", Count: 1, Do: pvesim.DoFull, Storage: "shared"})
	if r := b.do("PUT", vm123+"/config", "description", "new", "memory", "8192", "scsi1", "shared:8", "tags", "late"); r.Status != 500 {
		t.Errorf("%d %s", r.Status, r.Body)
	}
	if got := strings.Join(b.pending(), " "); got != "description=new memory=8192" {
		t.Errorf("pending %q", got)
	}
	b.data("PUT", vm123+"/config", "onboot", "1")
	if got := strings.Join(b.pending(), " "); got != "memory=8192" {
		t.Errorf("after the next update, pending %q", got)
	}
}
