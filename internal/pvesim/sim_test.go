package pvesim_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"stackgen/internal/pvesim"
	"stackgen/internal/pvesim/clock"
)

// testSim is a simulator with a virtual clock, called in the same process.
type testSim struct {
	t   testing.TB
	sim *pvesim.Server
	clk *clock.Virtual
}

func epoch() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

func newTestSim(t testing.TB, o pvesim.Options) *testSim {
	t.Helper()
	clk := clock.NewVirtual(epoch(), true)
	o.Clock = clk
	sim, err := pvesim.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return &testSim{t, sim, clk}
}

// do sends a request with a form of name, value pairs.
func (b *testSim) do(method, path string, form ...string) pvesim.Response {
	b.t.Helper()
	values := url.Values{}
	for i := 0; i+1 < len(form); i += 2 {
		values.Set(form[i], form[i+1])
	}
	h := http.Header{}
	h.Set("Authorization", "PVEAPIToken="+b.sim.Token())
	r := pvesim.Request{Method: method, Path: "/api2/json" + path, Header: h}
	if method == "GET" || method == "DELETE" {
		if len(values) > 0 {
			r.Path += "?" + values.Encode()
		}
	} else {
		h.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Body = []byte(values.Encode())
	}
	return b.sim.Do(context.Background(), r)
}

// data sends a request that must succeed.
func (b *testSim) data(method, path string, form ...string) any {
	b.t.Helper()
	r := b.do(method, path, form...)
	if r.Status != 200 {
		b.t.Fatalf("%s %s: %d %s", method, path, r.Status, r.Reason)
	}
	var v struct{ Data any }
	if err := json.Unmarshal(r.Body, &v); err != nil {
		b.t.Fatal(err)
	}
	return v.Data
}

// task starts a task, waits for it and returns its exit status and duration.
func (b *testSim) task(method, path string, form ...string) (string, time.Duration) {
	b.t.Helper()
	began := b.clk.Now()
	upid := b.data(method, path, form...).(string)
	return b.wait(upid), b.clk.Now().Sub(began)
}

func (b *testSim) wait(upid string) string {
	b.t.Helper()
	node := strings.Split(upid, ":")[1]
	for range 100000 {
		m := b.data("GET", "/nodes/"+node+"/tasks/"+url.PathEscape(upid)+"/status").(map[string]any)
		if m["status"] == "stopped" {
			return fmt.Sprint(m["exitstatus"])
		}
		b.clk.Advance(50 * time.Millisecond)
	}
	b.t.Fatalf("%s does not end", upid)
	return ""
}

func (b *testSim) config(node string, vmid int) map[string]any {
	b.t.Helper()
	return b.data("GET", fmt.Sprintf("/nodes/%s/qemu/%d/config", node, vmid)).(map[string]any)
}

func TestDefaultSeedFitsExampleSpecs(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	for vmid, want := range map[int][2]string{9010: {"pve1", "debian-12-cloud"}, 9011: {"pve1", "ubuntu-24.04-cloud"}, 124: {"pve2", "appliance"}, 125: {"pve2", "router"}, 9002: {"pve1", "ubuntu-22.04-template"}, 9000: {"pve1", "debian-12"}, 123: {"pve3", "registry"}} {
		if got := b.config(want[0], vmid)["name"]; got != want[1] {
			t.Errorf("guest %d: name %v, want %s", vmid, got, want[1])
		}
	}
	stores := b.data("GET", "/storage").([]any)
	if len(stores) != 4 {
		t.Errorf("%d storages, want 4", len(stores))
	}
	if end, _ := b.task("POST", "/nodes/pve1/qemu/9002/clone", "newid", "200", "name", "a", "full", "1"); end != "OK" {
		t.Errorf("full clone ended %q", end)
	}
	if end, _ := b.task("POST", "/nodes/pve1/qemu/9000/clone", "newid", "201", "name", "b", "full", "0", "target", "pve2"); end != "OK" {
		t.Errorf("linked clone to another node ended %q", end)
	}
	if got := b.config("pve2", 201)["scsi0"]; got != "shared:9000/base-9000-disk-0.qcow2/201/vm-201-disk-0.qcow2,discard=on,size=3G" {
		t.Errorf("linked disk is %v", got)
	}
}

func TestDiskLifecycle(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	end, _ := b.task("POST", "/nodes/pve2/qemu", "vmid", "600", "scsi0", "local-lvm:0,import-from=shared:import/debian-12-genericcloud-amd64.qcow2",
		"ide2", "local-lvm:cloudinit", "scsihw", "virtio-scsi-pci")
	if end != "OK" {
		t.Fatalf("create with import-from ended %q", end)
	}
	if got := b.config("pve2", 600)["scsi0"]; got != "local-lvm:vm-600-disk-0,size=3G" {
		t.Errorf("imported disk: %v", got)
	}
	if end, _ := b.task("PUT", "/nodes/pve2/qemu/600/resize", "disk", "scsi0", "size", "+1G"); end != "OK" {
		t.Errorf("resize ended %q", end)
	}
	if end, _ := b.task("POST", "/nodes/pve2/qemu/600/move_disk", "disk", "scsi0", "storage", "shared", "format", "qcow2", "delete", "1"); end != "OK" {
		t.Errorf("move ended %q", end)
	}
	if got := b.config("pve2", 600)["scsi0"]; got != "shared:600/vm-600-disk-0.qcow2,size=4G" {
		t.Errorf("moved disk: %v", got)
	}
	if end, _ := b.task("POST", "/nodes/pve2/qemu/600/migrate", "target", "pve3"); end != "OK" {
		t.Errorf("migration ended %q", end)
	}
	if got := b.config("pve3", 600)["ide2"]; got != "local-lvm:vm-600-cloudinit,media=cdrom,size=4M" {
		t.Errorf("drive after the migration: %v", got)
	}
	if end, _ := b.task("DELETE", "/nodes/pve3/qemu/600", "purge", "1"); end != "OK" {
		t.Errorf("delete ended %q", end)
	}
	for _, s := range []string{"local-lvm", "shared"} {
		for _, v := range b.data("GET", "/nodes/pve3/storage/"+s+"/content", "vmid", "600", "content", "images").([]any) {
			t.Errorf("not removed: %v", v)
		}
	}
}

func TestContainersAreListed(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	end, _ := b.task("POST", "/nodes/pve1/lxc", "vmid", "700", "hostname", "ct", "ostemplate", "shared:vztmpl/debian-12-standard_amd64.tar.zst",
		"storage", "local-lvm", "net0", "name=eth0,bridge=vmbr0,ip=192.0.2.7/24")
	if end != "OK" {
		t.Fatalf("create ended %q", end)
	}
	list := b.data("GET", "/nodes/pve1/lxc").([]any)
	if len(list) != 1 || list[0].(map[string]any)["name"] != "ct" {
		t.Errorf("list: %v", list)
	}
	conf := b.data("GET", "/nodes/pve1/lxc/700/config").(map[string]any)
	if conf["hostname"] != "ct" || conf["memory"] != float64(512) {
		t.Errorf("config: %v", conf)
	}
	if r := b.do("POST", "/nodes/pve2/qemu", "vmid", "700"); r.Reason != "unable to create VM 700 - CT 700 already exists on node 'pve1'" {
		t.Errorf("VM with the VMID of a container: %s", r.Reason)
	}
}

func TestVersion9(t *testing.T) {
	b := newTestSim(t, pvesim.Options{Version: "9"})
	if got := b.data("GET", "/version").(map[string]any)["release"]; got != "9.2" {
		t.Errorf("release %v", got)
	}
	for _, r := range b.data("GET", "/access/roles").([]any) {
		m := r.(map[string]any)
		if strings.Contains(fmt.Sprint(m["privs"]), "VM.Monitor") {
			t.Errorf("role %v still has VM.Monitor", m["roleid"])
		}
	}
	if r := b.do("GET", "/cluster/ha/rules"); r.Status != 200 {
		t.Errorf("ha rules: %d %s", r.Status, r.Reason)
	}
	if r := b.do("GET", "/cluster/ha/groups"); r.Status != 500 || r.Reason != "cannot index groups: ha groups have been migrated to rules" {
		t.Errorf("ha groups: %d %s", r.Status, r.Reason)
	}
	zones := 0
	for _, r := range b.data("GET", "/cluster/resources").([]any) {
		switch m := r.(map[string]any); m["type"] {
		case "sdn":
			t.Errorf("zone %v", m)
		case "network":
			zones++
			if m["network-type"] != "zone" || m["id"] != fmt.Sprintf("network/%s/zone/localnetwork", m["node"]) {
				t.Errorf("zone %v", m)
			}
		}
	}
	if zones != 3 {
		t.Errorf("%d zones", zones)
	}
}

// TestSnapshotOfTemplate: a template's disks cannot have snapshots, and its clones can.
func TestSnapshotOfTemplate(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	for path, want := range map[string]any{"/nodes/pve1/qemu/9000": 0., "/nodes/pve1/qemu/9002": 0., "/nodes/pve3/qemu/123": 1.} {
		if got := b.data("GET", path+"/feature?feature=snapshot").(map[string]any)["hasFeature"]; got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

func TestCloneDuration(t *testing.T) {
	seed, err := pvesim.DefaultSeed()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range seed.Storages {
		s.Bandwidth = 1 << 28 // 256 MiB/s: a 2252 MiB disk takes about nine seconds
	}
	b := newTestSim(t, pvesim.Options{Seed: seed})
	end, alone := b.task("POST", "/nodes/pve1/qemu/9002/clone", "newid", "300", "full", "1")
	if end != "OK" || alone < 8*time.Second || alone > 11*time.Second {
		t.Fatalf("one clone: %s after %s", end, alone)
	}
	began := b.clk.Now()
	var upids []string
	for i := range 4 {
		upids = append(upids, b.data("POST", "/nodes/pve1/qemu/9002/clone", "newid", fmt.Sprint(301+i), "full", "1").(string))
	}
	for _, u := range upids {
		if end := b.wait(u); end != "OK" {
			t.Errorf("clone ended %q", end)
		}
	}
	if four := b.clk.Now().Sub(began); four < 34*time.Second || four > 40*time.Second {
		t.Errorf("four clones on one storage took %s, want about four times one", four)
	}
	if _, linked := b.task("POST", "/nodes/pve1/qemu/9002/clone", "newid", "310", "full", "0"); linked > time.Second {
		t.Errorf("a linked clone took %s", linked)
	}
}

func TestResourceListLags(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	b.clk.Advance(time.Second)
	if end, _ := b.task("POST", "/nodes/pve1/qemu", "vmid", "400", "name", "fresh", "memory", "64"); end != "OK" {
		t.Fatal(end)
	}
	look := func() map[string]any {
		for _, x := range b.data("GET", "/cluster/resources", "type", "vm").([]any) {
			if m := x.(map[string]any); m["id"] == "qemu/400" {
				return m
			}
		}
		return nil
	}
	if m := look(); m == nil || m["status"] != "unknown" || m["name"] != nil {
		t.Errorf("immediately after its creation: %v", m)
	}
	b.clk.Advance(11 * time.Second)
	if m := look(); m["name"] != "fresh" || m["status"] != "stopped" {
		t.Errorf("one cycle later: %v", m)
	}
}

func TestSeedNumberIsDeterministic(t *testing.T) {
	run := func() string {
		b := newTestSim(t, pvesim.Options{Number: 42})
		b.task("POST", "/nodes/pve1/qemu/9002/clone", "newid", "500", "full", "1")
		var out strings.Builder
		if err := b.sim.Save(&out); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if a, b := run(), run(); a != b {
		t.Error("two runs with the same seed number differ")
	}
}

func TestSaveAndLoad(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	b.task("POST", "/nodes/pve1/qemu/9002/clone", "newid", "500", "name", "kept", "full", "0")
	b.data("POST", "/pools", "poolid", "kept")
	running := b.data("POST", "/nodes/pve1/qemu/9002/clone", "newid", "501", "full", "1").(string)
	b.clk.Advance(15 * time.Millisecond)
	var out strings.Builder
	if err := b.sim.Save(&out); err != nil {
		t.Fatal(err)
	}
	seed, err := pvesim.ParseSeed([]byte(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	again := newTestSim(t, pvesim.Options{Seed: seed})
	if got := again.config("pve1", 500)["name"]; got != "kept" {
		t.Errorf("name after reload: %v", got)
	}
	if n := len(again.data("GET", "/pools").([]any)); n != 1 {
		t.Errorf("%d pools after reload", n)
	}
	if end := again.wait(running); end != "unexpected status" {
		t.Errorf("the running worker ended %q", end)
	}
	if got := again.config("pve1", 501)["lock"]; got != "clone" {
		t.Errorf("lock of the unfinished clone: %v", got)
	}
}
