package pvesim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"stackgen/internal/pvesim"
)

const (
	ct      = "/nodes/pve1/lxc/700"
	archive = "local:vztmpl/alpine-3.20-default_20240908_amd64.tar.xz"
)

// container makes container 700 on pve1, with a root file system on a storage.
func container(t *testing.T, storage string, options ...string) *testSim {
	t.Helper()
	b := newTestSim(t, pvesim.Options{})
	form := append([]string{"vmid", "700", "ostemplate", archive, "rootfs", storage + ":2", "hostname", "ct", "memory", "256", "swap", "0",
		"net0", "name=eth0,bridge=vmbr0,ip=dhcp"}, options...)
	if end, _ := b.task("POST", "/nodes/pve1/lxc", form...); end != "OK" {
		t.Fatalf("create ended %q", end)
	}
	return b
}

func (b *testSim) must(method, path string, form ...string) {
	b.t.Helper()
	if end, _ := b.task(method, path, form...); end != "OK" {
		b.t.Fatalf("%s %s ended %q", method, path, end)
	}
}

func (b *testSim) containerConfig(path string) map[string]any {
	b.t.Helper()
	return b.data("GET", path+"/config").(map[string]any)
}

// A container gets its options, a volume, and what the name of its archive says.
func TestContainerFromArchive(t *testing.T) {
	b := container(t, "local-lvm", "unprivileged", "1", "tags", "B;a", "description", "one")
	conf := b.containerConfig(ct)
	for k, want := range map[string]any{"ostype": "alpine", "arch": "amd64", "hostname": "ct", "memory": 256.0, "swap": 0.0, "tags": "a;b",
		"unprivileged": 1.0, "description": "one\n", "rootfs": "local-lvm:vm-700-disk-0,size=2G"} {
		if conf[k] != want {
			t.Errorf("%s is %v, want %v", k, conf[k], want)
		}
	}
	if net := fmt.Sprint(conf["net0"]); !strings.HasPrefix(net, "name=eth0,bridge=vmbr0,hwaddr=BC:24:11:") || !strings.HasSuffix(net, ",ip=dhcp,type=veth") {
		t.Errorf("net0 is %s", net)
	}
	list := b.data("GET", "/nodes/pve1/storage/local-lvm/content", "vmid", "700").([]any)
	if len(list) != 1 || list[0].(map[string]any)["content"] != "rootdir" {
		t.Errorf("volumes: %v", list)
	}
}

// What a running container does not take is pending until it starts again.
func TestPendingChangesOfContainers(t *testing.T) {
	b := container(t, "local", "mp0", "local:1,mp=/data")
	b.must("POST", ct+"/status/start")
	b.data("PUT", ct+"/config", "memory", "512", "hostname", "new", "nameserver", "192.0.2.1", "delete", "mp0", "mp1", "local:1,mp=/more")
	now := b.data("GET", ct+"/config", "current", "1").(map[string]any)
	if now["memory"] != 512.0 || now["hostname"] != "new" || now["nameserver"] != nil || now["mp0"] == nil || now["mp1"] == nil {
		t.Errorf("at once: %v", now)
	}
	b.must("POST", ct+"/status/reboot")
	conf := b.containerConfig(ct)
	if conf["nameserver"] != "192.0.2.1" || conf["mp0"] != nil || conf["unused0"] != "local:700/vm-700-disk-1.raw" {
		t.Errorf("after the reboot: %v", conf)
	}
	b.data("PUT", ct+"/config", "delete", "unused0")
	if list := b.data("GET", "/nodes/pve1/storage/local/content", "vmid", "700").([]any); len(list) != 2 {
		t.Errorf("volumes after the unused one is deleted: %v", list)
	}
}

// A NIC has its static address at once and that of a DHCP server later; a stopped container has none.
func TestAddressesOfContainers(t *testing.T) {
	b := container(t, "local", "net1", "name=eth1,bridge=vmbr0,ip=192.0.2.77/24")
	if got := b.data("GET", ct+"/interfaces"); got != nil {
		t.Errorf("stopped: %v", got)
	}
	b.must("POST", ct+"/status/start")
	if got := fmt.Sprint(b.data("GET", ct+"/interfaces")); strings.Contains(got, "192.0.2.100") || !strings.Contains(got, "192.0.2.77/24") {
		t.Errorf("after the start: %s", got)
	}
	b.clk.Advance(3 * time.Second)
	if got := fmt.Sprint(b.data("GET", ct+"/interfaces")); !strings.Contains(got, "192.0.2.100/24") {
		t.Errorf("later: %s", got)
	}
}

// Clones need a storage that links volumes, or copy them; the source is locked meanwhile.
func TestClonesOfContainers(t *testing.T) {
	b := container(t, "local-lvm")
	if r := b.do("POST", ct+"/template"); r.Status != 200 {
		t.Fatalf("template: %s", r.Reason)
	}
	b.clk.Advance(time.Second)
	conf := b.containerConfig(ct)
	if conf["template"] != 1.0 || conf["rootfs"] != "local-lvm:base-700-disk-0,size=2G" {
		t.Fatalf("template: %v", conf)
	}
	if r := b.do("POST", ct+"/clone", "newid", "701", "storage", "local"); r.Reason != "parameter 'storage' not allowed for linked clones" {
		t.Errorf("linked to another storage: %s", r.Reason)
	}
	b.must("POST", ct+"/clone", "newid", "701", "hostname", "linked")
	if r := b.do("POST", ct+"/clone", "newid", "702", "full", "1", "storage", "local"); r.Status != 200 {
		t.Fatalf("full clone: %s", r.Reason)
	}
	if r := b.do("POST", ct+"/clone", "newid", "703"); r.Reason != "CT is locked (disk)" {
		t.Errorf("second clone: %s", r.Reason)
	}
	b.clk.Advance(time.Minute)
	linked, full := b.containerConfig("/nodes/pve1/lxc/701"), b.containerConfig("/nodes/pve1/lxc/702")
	if linked["hostname"] != "linked" || linked["template"] != nil || linked["net0"] == conf["net0"] || linked["rootfs"] != "local-lvm:vm-701-disk-0,size=2G" {
		t.Errorf("linked clone: %v", linked)
	}
	if full["rootfs"] != "local:702/vm-702-disk-0.raw,size=2G" || full["lock"] != nil {
		t.Errorf("full clone: %v", full)
	}
	if r := b.do("POST", "/nodes/pve1/lxc/702/clone", "newid", "704", "full", "0"); r.Reason != "Linked clone feature for 'local:702/vm-702-disk-0.raw' is not available" {
		t.Errorf("linked in a folder: %s", r.Reason)
	}
}

// A rollback stops a container; what was added since becomes unused.
func TestSnapshotsOfContainers(t *testing.T) {
	b := container(t, "local-lvm")
	b.must("POST", ct+"/snapshot", "snapname", "before", "description", "comment")
	b.must("POST", ct+"/status/start")
	b.data("PUT", ct+"/config", "memory", "512", "mp0", "local-lvm:1,mp=/data")
	b.must("POST", ct+"/snapshot/before/rollback")
	conf, status := b.containerConfig(ct), b.data("GET", ct+"/status/current").(map[string]any)
	if conf["memory"] != 256.0 || conf["mp0"] != nil || conf["unused0"] != "local-lvm:vm-700-disk-1" || status["status"] != "stopped" {
		t.Errorf("after the rollback: %v, %v", conf, status["status"])
	}
	if list := fmt.Sprint(b.data("GET", ct+"/snapshot")); strings.Contains(list, "vmstate") || !strings.Contains(list, "description:comment\n") {
		t.Errorf("snapshots: %s", list)
	}
	if end, _ := container(t, "local").task("POST", ct+"/snapshot", "snapname", "before"); end != "snapshot feature is not available" {
		t.Errorf("snapshot of an image in a folder ended %q", end)
	}
}

// A migration of a running container stops it, copies its volumes, and starts it on the target.
func TestRestartMigrationOfContainers(t *testing.T) {
	b := container(t, "local-lvm")
	b.must("POST", ct+"/status/start")
	if r := b.do("POST", ct+"/migrate", "target", "pve2"); r.Reason != "can't migrate running container without --online or --restart" {
		t.Errorf("migration without restart: %s", r.Reason)
	}
	b.must("POST", ct+"/migrate", "target", "pve2", "restart", "1")
	status := b.data("GET", "/nodes/pve2/lxc/700/status/current").(map[string]any)
	if status["status"] != "running" || b.do("GET", ct+"/config").Status != 500 {
		t.Errorf("after the migration: %v", status)
	}
	if list := b.data("GET", "/nodes/pve2/storage/local-lvm/content", "vmid", "700").([]any); len(list) != 1 {
		t.Errorf("volumes on the target: %v", list)
	}
}

// A token, even of root@pam, cannot give a container what reaches the node: only root@pam itself can.
func TestOnlyRootGivesContainersTheNode(t *testing.T) {
	b := container(t, "local", "unprivileged", "1", "features", "nesting=1")
	for form, want := range map[[2]string]string{
		{"features", "nesting=1,keyctl=1"}: "changing feature flags (except nesting) is only allowed for root@pam",
		{"mp0", "/srv,mp=/srv"}:            "mount point type bind is only allowed for root@pam",
		{"dev0", "/dev/null"}:              "configuring device passthrough is only allowed for root@pam",
		{"hookscript", "local:snippets/a"}: "changing the hookscript is only allowed for root@pam",
	} {
		if r := b.do("PUT", ct+"/config", form[0], form[1]); r.Status != 403 || r.Reason != "Permission check failed ("+want+")" {
			t.Errorf("%s: %d %s", form[0], r.Status, r.Reason)
		}
	}
	if r := b.do("PUT", ct+"/config", "features", "nesting=0"); r.Status != 200 {
		t.Errorf("nesting: %s", r.Reason)
	}
}

// A resize grows the file system; a move leaves the volume as an unused one, or deletes it.
func TestVolumesOfContainers(t *testing.T) {
	b := container(t, "local")
	b.must("PUT", ct+"/resize", "disk", "rootfs", "size", "+1G")
	if r := b.do("PUT", ct+"/resize", "disk", "rootfs", "size", "1G"); r.Reason != "unable to shrink disk size" {
		t.Errorf("shrink: %s", r.Reason)
	}
	b.must("POST", ct+"/move_volume", "volume", "rootfs", "storage", "local-lvm")
	conf := b.containerConfig(ct)
	if conf["rootfs"] != "local-lvm:vm-700-disk-0,size=3G" || conf["unused0"] != "local:700/vm-700-disk-0.raw" {
		t.Errorf("after the move: %v", conf)
	}
	b.must("POST", ct+"/status/start")
	if r := b.do("DELETE", ct); r.Reason != "unable to destroy CT 700 - container is running" {
		t.Errorf("destroy: %s", r.Reason)
	}
	b.must("DELETE", ct, "force", "1", "purge", "1")
	for _, s := range []string{"local", "local-lvm"} {
		if list := b.data("GET", "/nodes/pve1/storage/"+s+"/content", "vmid", "700").([]any); len(list) > 0 {
			t.Errorf("volumes left on %s: %v", s, list)
		}
	}
}

// mkfs lists the copies of the superblock in lines of at most 80 columns.
func TestCreationLog(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	upid := b.data("POST", "/nodes/pve1/lxc", "vmid", "700", "ostemplate", archive, "rootfs", "local:64").(string)
	b.wait(upid)
	log := b.log(upid)
	at := slices.IndexFunc(log, func(l string) bool { return strings.HasPrefix(l, "Superblock backups") })
	if at < 0 || !strings.HasPrefix(log[at+1], "\t32768, 98304, ") || log[at-2] != "Creating filesystem with 16777216 4k blocks and 4194304 inodes" {
		t.Errorf("log: %q", log)
	}
	for _, l := range log[at+1 : at+3] {
		if len(l) > 80 {
			t.Errorf("line of %d columns: %q", len(l), l)
		}
	}
}
