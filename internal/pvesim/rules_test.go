package pvesim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"stackgen/internal/pvesim"
)

// A create keeps tags as they are typed. An update sorts and lower-cases them.
func TestTagsKeepCaseAndOrderOnCreateOnly(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	if end, _ := b.task("POST", "/nodes/pve1/qemu", "vmid", "300", "tags", "Zeta;alpha"); end != "OK" {
		t.Fatalf("create ended %q", end)
	}
	if got := b.config("pve1", 300)["tags"]; got != "Zeta;alpha" {
		t.Errorf("after the create: %v", got)
	}
	b.data("PUT", "/nodes/pve1/qemu/300/config", "tags", "Zeta;alpha")
	if got := b.config("pve1", 300)["tags"]; got != "alpha;zeta" {
		t.Errorf("after the update: %v", got)
	}
}

// A token of root is not root: these options are refused to it.
func TestOptionsOfRootAreRefusedToToken(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	for k, v := range map[string]string{"affinity": "0-1", "arch": "x86_64", "hugepages": "2", "vmgenid": "1"} {
		if r := b.do("PUT", vm123+"/config", k, v); r.Status != 500 || r.Reason != "only root can set '"+k+"' config" {
			t.Errorf("%s: %d %s", k, r.Status, r.Reason)
		}
	}
}

func TestBadSSHKeysAreRefused(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	for keys, want := range map[string]int{
		"ssh-ed25519%20AAAAC3NzaC1lZDI1NTE5AAAAIGoezYu6m5IuzK5MHLp50h5s3ovXAXpU2L3bT%2BqzOSs4%20a%40b%0A": 200,
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGoezYu6m5IuzK5MHLp50h5s3ovXAXpU2L3bT+qzOSs4":                400,
		"ssh-rsa%20AAAAC3NzaC1lZDI1NTE5AAAAIGoezYu6m5IuzK5MHLp50h5s3ovXAXpU2L3bT%2BqzOSs4":                500,
		"nokey": 500,
	} {
		if r := b.do("PUT", vm123+"/config", "sshkeys", keys); r.Status != want {
			t.Errorf("%s: %d %s, want %d", keys, r.Status, r.Reason, want)
		}
	}
}

func TestCPULimitIsString(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	b.data("PUT", vm123+"/config", "cpulimit", "1.5")
	if got := b.config("pve3", 123)["cpulimit"]; got != "1.5" {
		t.Errorf("cpulimit %#v", got)
	}
}

// The configuration accepts more CPUs than the node has. The start does not.
func TestStartWithMoreCPUsThanNodeFails(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	b.task("POST", "/nodes/pve3/qemu", "vmid", "300", "cores", "5", "sockets", "2")
	if end, _ := b.task("POST", "/nodes/pve3/qemu/300/status/start"); end != "MAX 8 vcpus allowed per VM on this node" {
		t.Errorf("start ended %q", end)
	}
	b.data("PUT", "/nodes/pve3/qemu/300/config", "sockets", "1")
	if end, _ := b.task("POST", "/nodes/pve3/qemu/300/status/start"); end != "OK" {
		t.Errorf("start ended %q", end)
	}
}

// The size of an EFI disk is that of its variables, rounded to what the storage
// counts in.
func TestEFIDiskSizeDependsOnStorage(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	for i, c := range []struct{ disk, size string }{
		{"shared:1,efitype=4m,format=raw", "size=528K"}, {"local-lvm:1,efitype=4m", "size=4M"}, {"local-zfs:1,efitype=4m", "size=1M"},
		{"shared:1,format=raw", "size=128K"}, {"local-lvm:1", "size=4M"},
	} {
		id := fmt.Sprint(300 + i)
		if end, _ := b.task("POST", "/nodes/pve1/qemu", "vmid", id, "bios", "ovmf", "efidisk0", c.disk); end != "OK" {
			t.Fatalf("%s: create ended %q", c.disk, end)
		}
		if got := fmt.Sprint(b.config("pve1", 300+i)["efidisk0"]); !strings.HasSuffix(got, c.size) {
			t.Errorf("%s: %s, want %s", c.disk, got, c.size)
		}
	}
}

// A destroy waits for the lock of a shared storage. Without quorum it keeps the
// disk and fails; a quorum that returns in time lets it succeed.
func TestDestroyWithoutQuorumKeepsSharedDisk(t *testing.T) {
	for _, returns := range []bool{false, true} {
		b := newTestSim(t, pvesim.Options{})
		if end, _ := b.task("POST", "/nodes/pve1/qemu", "vmid", "300", "scsi0", "shared:1"); end != "OK" {
			t.Fatalf("create ended %q", end)
		}
		set := func(s pvesim.NodeState) {
			for _, n := range []string{"pve2", "pve3"} {
				if err := b.sim.SetNode(n, s); err != nil {
					t.Fatal(err)
				}
			}
			b.clk.Advance(5 * time.Second)
		}
		set(pvesim.NodeLost)
		upid := b.data("DELETE", "/nodes/pve1/qemu/300").(string)
		b.clk.Advance(2 * time.Second)
		if returns {
			set(pvesim.NodeOnline)
		}
		end := b.wait(upid)
		disk := len(b.data("GET", "/nodes/pve1/storage/shared/content", "vmid", "300", "content", "images").([]any))
		log := fmt.Sprint(b.data("GET", "/nodes/pve1/tasks/"+upid+"/log", "limit", "50"))
		if returns {
			if end != "OK" || disk != 0 || !strings.Contains(log, "trying to acquire cfs lock 'storage-shared'") {
				t.Errorf("with quorum again: ended %q, %d disks\n%s", end, disk, log)
			}
			continue
		}
		if !strings.HasSuffix(end, "Permission denied") || disk != 1 || !strings.Contains(log, "check manually") {
			t.Errorf("without quorum: ended %q, %d disks\n%s", end, disk, log)
		}
	}
}

// A serial console is the same task as noVNC.
func TestSerialConsoleIsTask(t *testing.T) {
	b := runningVM(t, "present", map[string]string{"serial0": "socket"})
	b.data("POST", vm123+"/termproxy")
	if got := b.runningTasks(); len(got) != 1 || got[0] != "vncproxy 123" {
		t.Errorf("running tasks: %v", got)
	}
}

// A NIC without ipconfig is not in the network data of cloud-init: it does not
// default to DHCP.
func TestNICWithoutIPConfigIsNotInCloudInit(t *testing.T) {
	b := runningVM(t, "present", map[string]string{"ide2": "shared:123/vm-123-cloudinit.qcow2,media=cdrom,size=4M"})
	if got := fmt.Sprint(b.data("GET", vm123+"/cloudinit/dump", "type", "network")); strings.Contains(got, "eth0") {
		t.Errorf("without ipconfig0:\n%s", got)
	}
	b.data("PUT", vm123+"/config", "ipconfig0", "ip=dhcp")
	if got := fmt.Sprint(b.data("GET", vm123+"/cloudinit/dump", "type", "network")); !strings.Contains(got, "eth0") || !strings.Contains(got, "dhcp4") {
		t.Errorf("with ipconfig0:\n%s", got)
	}
}

// NoAccess on a VM wins over the role of its pool, and a custom role can change.
func TestNoAccessWinsOverPool(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	b.data("POST", "/access/roles", "roleid", "look", "privs", "VM.Audit")
	b.data("POST", "/access/users", "userid", "a@pve")
	b.data("POST", "/pools", "poolid", "p")
	b.data("PUT", "/pools/p", "vms", "123")
	b.data("PUT", "/access/acl", "path", "/pool/p", "roles", "look", "users", "a@pve")
	rights := func() string {
		return fmt.Sprint(b.data("GET", "/access/permissions", "userid", "a@pve", "path", "/vms/123").(map[string]any)["/vms/123"])
	}
	if got := rights(); got != "map[VM.Audit:0]" {
		t.Errorf("with the role on the pool: %s", got)
	}
	b.data("PUT", "/access/roles/look", "privs", "VM.Audit,VM.Clone")
	if got := rights(); got != "map[VM.Audit:0 VM.Clone:0]" {
		t.Errorf("with another privilege in the role: %s", got)
	}
	b.data("PUT", "/access/acl", "path", "/vms/123", "roles", "NoAccess", "users", "a@pve")
	if got := rights(); got != "map[]" {
		t.Errorf("with NoAccess on the VM: %s", got)
	}
	b.data("PUT", "/access/acl", "path", "/vms/123", "roles", "NoAccess", "users", "a@pve", "delete", "1")
	if got := rights(); got == "map[]" {
		t.Errorf("after NoAccess is removed: %s", got)
	}
}

// Only root may pass a device of the node by its address.
func TestDevicesOfNodeAreRefusedToToken(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	for k, want := range map[string]string{
		"usb0=host=1234:5678":   "only root can set 'usb0' config for real devices",
		"usb0=spice":            "OK",
		"hostpci0=0000:01:00.0": "only root can set 'hostpci0' config for non-mapped devices",
		"serial1=/dev/ttyS0":    "only root can modify 'serial1' config for real devices",
		"serial1=socket":        "OK",
	} {
		key, value, _ := strings.Cut(k, "=")
		if r := b.do("PUT", vm123+"/config", key, value); r.Reason != want {
			t.Errorf("%s: %d %s, want %s", k, r.Status, r.Reason, want)
		}
	}
}

// A SCSI disk with a controller of its own needs the guest to release the controller.
func TestUnplugOfSCSIDiskNamesItsController(t *testing.T) {
	b := runningVM(t, "", map[string]string{"scsi1": "shared:123/vm-123-disk-1.qcow2,size=8G", "scsihw": "virtio-scsi-single"})
	r := b.do("PUT", vm123+"/config", "delete", "scsi1")
	if r.Status != 400 || !strings.Contains(string(r.Body), "error on hot-unplugging device 'virtioscsi1'") {
		t.Errorf("%d %s", r.Status, r.Body)
	}
	if got := strings.Join(b.pending(), " "); got != "-scsi1" {
		t.Errorf("pending %q", got)
	}
}

// Since version 9 the server waits longer for a controller. The proxy of the node gives up before it has waited for two.
func TestUnplugOfTwoControllersHasNoAnswer(t *testing.T) {
	seed, err := pvesim.DefaultSeed()
	if err != nil {
		t.Fatal(err)
	}
	seed.Version = "9"
	seed.Guests = append(seed.Guests, &pvesim.Guest{VMID: 300, Node: "pve1", Running: true, Config: map[string]string{"name": "a", "scsihw": "virtio-scsi-single",
		"scsi1": "shared:300/vm-300-disk-1.raw,size=1G", "scsi2": "shared:300/vm-300-disk-2.raw,size=1G"}})
	b := newTestSim(t, pvesim.Options{Seed: seed})
	began := b.clk.Now()
	r := b.do("PUT", "/nodes/pve1/qemu/300/config", "delete", "scsi1")
	if want := "error on hot-unplugging device 'virtioscsi1' - still busy in guest?"; r.Status != 400 || !strings.Contains(string(r.Body), want) {
		t.Errorf("%d %s, want %s", r.Status, r.Body, want)
	}
	if took := b.clk.Now().Sub(began); took < 15*time.Second {
		t.Errorf("the answer came after %v", took)
	}
	if r := b.do("PUT", "/nodes/pve1/qemu/300/config", "delete", "scsi1,scsi2"); r.Status != 596 {
		t.Errorf("two controllers: %d %s", r.Status, r.Body)
	}
}

// A snapshot in a thin pool is a volume, which a destroy removes too.
func TestThinSnapshotsAreInTaskLogs(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	b.task("POST", "/nodes/pve1/qemu", "vmid", "300", "scsi0", "local-lvm:1")
	log := func(method, path string, form ...string) string {
		upid := b.data(method, "/nodes/pve1/qemu/300"+path, form...).(string)
		if end := b.wait(upid); end != "OK" {
			t.Fatalf("%s %s ended %q", method, path, end)
		}
		return fmt.Sprint(b.data("GET", "/nodes/pve1/tasks/"+upid+"/log"))
	}
	if got := log("POST", "/snapshot", "snapname", "before"); !strings.Contains(got, `Logical volume "snap_vm-300-disk-0_before" created.`) {
		t.Errorf("snapshot: %s", got)
	}
	if got := log("DELETE", ""); !strings.Contains(got, `Logical volume "snap_vm-300-disk-0_before" successfully removed.`) {
		t.Errorf("destroy: %s", got)
	}
}

// A storage without a tool that prints leaves no empty line in the log of a task.
func TestStateOnZFSLogsNoEmptyLine(t *testing.T) {
	seed, err := pvesim.DefaultSeed()
	if err != nil {
		t.Fatal(err)
	}
	seed.Guests = append(seed.Guests, &pvesim.Guest{VMID: 300, Node: "pve1", Running: true, Agent: pvesim.Agent{Mode: "present"},
		Config: map[string]string{"name": "a", "memory": "512", "scsi0": "local-zfs:vm-300-disk-0,size=1G"}})
	b := newTestSim(t, pvesim.Options{Seed: seed})
	upid := b.data("POST", "/nodes/pve1/qemu/300/status/suspend", "todisk", "1", "statestorage", "local-zfs").(string)
	if end := b.wait(upid); end != "OK" {
		t.Fatalf("suspend ended %q", end)
	}
	if log := b.log(upid); slices.Contains(log, "") {
		t.Errorf("the log has an empty line: %q", log)
	}
}

// A cloud-init drive is created again on the storage it moves to: nothing is copied.
func TestMoveOfCloudInitDriveCopiesNothing(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	if end, _ := b.task("POST", "/nodes/pve1/qemu", "vmid", "300", "ide2", "local-lvm:cloudinit"); end != "OK" {
		t.Fatalf("create ended %q", end)
	}
	upid := b.data("POST", "/nodes/pve1/qemu/300/move_disk", "disk", "ide2", "storage", "shared", "delete", "1").(string)
	if end := b.wait(upid); end != "OK" {
		t.Fatalf("move ended %q", end)
	}
	for _, l := range b.log(upid) {
		if strings.Contains(l, "transferred") {
			t.Errorf("the log has %q", l)
		}
	}
	if got := b.config("pve1", 300)["ide2"]; got != "shared:300/vm-300-cloudinit.raw,media=cdrom,size=4M" {
		t.Errorf("the moved drive is %v", got)
	}
}

// Protection prevents the removal of a disk, and not its replacement, after which it is unused.
func TestProtectedDiskCanBeReplaced(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	if end, _ := b.task("POST", "/nodes/pve1/qemu", "vmid", "300", "scsi0", "shared:1", "protection", "1"); end != "OK" {
		t.Fatalf("create ended %q", end)
	}
	b.data("PUT", "/nodes/pve1/qemu/300/config", "scsi0", "shared:2")
	if c := b.config("pve1", 300); c["unused0"] != "shared:300/vm-300-disk-0.raw" || c["scsi0"] != "shared:300/vm-300-disk-1.raw,size=2G" {
		t.Errorf("scsi0 is %v, unused0 is %v", c["scsi0"], c["unused0"])
	}
	if r := b.do("PUT", "/nodes/pve1/qemu/300/config", "delete", "scsi0"); !strings.Contains(r.Reason, "can't remove drive 'scsi0' - protection mode enabled") {
		t.Errorf("the removal: %d %s", r.Status, r.Reason)
	}
}
