package pvesim_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// TestRefusals checks what the server refuses of a clone, a configuration and a start,
// by the privileges of the caller and by what nodes and storages have.
func TestRefusals(t *testing.T) {
	const all = "VM.Audit,VM.Clone,VM.Allocate,VM.Config.Disk,VM.Config.CDROM,VM.Config.CPU,VM.Config.Memory,VM.Config.Network," +
		"VM.Config.HWType,VM.Config.Options,VM.Config.Cloudinit,VM.PowerMgmt,Datastore.AllocateSpace,SDN.Use"
	const config = "/nodes/pve1/qemu/300/config"
	for _, c := range []struct {
		name, without string
		method, path  string
		form          string
		want          string // part of the reason or of the parameter's error; empty if it succeeds
	}{
		{"a cloud-init drive is a CD-ROM", "VM.Config.Disk", "PUT", config, "ide2=shared:cloudinit", ""},
		{"a cloud-init drive", "VM.Config.CDROM", "PUT", config, "ide2=shared:cloudinit", "VM.Config.CDROM"},
		{"a cloud-init drive", "VM.Config.Cloudinit", "PUT", config, "ide2=shared:cloudinit", "VM.Config.Cloudinit"},
		{"a cloud-init drive needs no space", "Datastore.AllocateSpace", "PUT", config, "ide2=shared:cloudinit", ""},
		{"to delete a drive that does not exist", "VM.Config.Disk", "PUT", config, "delete=ide3", ""},
		{"to delete a disk", "VM.Config.Disk", "PUT", config, "delete=scsi0", "VM.Config.Disk"},
		{"a shared directory", "Mapping.Use", "PUT", config, "virtiofs0=media", "/mapping/dir/media, Mapping.Use"},
		{"a shared directory", "VM.Config.Disk", "PUT", config, "virtiofs0=dirid%3Dmedia", "VM.Config.Disk"},
		{"to delete a directory that is not shared", "VM.Config.Disk", "PUT", config, "delete=virtiofs1", ""},
		{"a tag that is registered", "", "PUT", config, "tags=old%3Bprod", "/, Sys.Modify for modifying tag 'prod'"},
		{"a tag that is not in the list", "", "PUT", config, "tags=old%3Bother", "/, Sys.Modify for modifying tag 'other'"},
		{"a tag of the list", "", "PUT", config, "tags=old%3Bweb", ""},
		{"to remove a tag that is not in the list", "", "PUT", config, "delete=tags", "/, Sys.Modify for modifying tag 'old'"},
		{"to leave a tag that is not in the list", "", "PUT", config, "tags=old", ""},
		{"a CPU that waits at the start", "VM.PowerMgmt", "PUT", config, "freeze=1", "VM.PowerMgmt"},
		{"a CPU that waits at the start", "VM.Config.Options", "PUT", config, "freeze=1", ""},
		{"a CPU model of the administrator that does not exist", "", "PUT", config, "cpu=custom-lab", "Custom cputype 'lab' not found"},
		{"a CPU model of the administrator", "", "PUT", config, "cpu=custom-known", "/nodes, Sys.Audit"},
		{"a CPU flag that only such a model may have", "", "PUT", config, "cpu=host,flags=%2Baes%3B%2Bavx512f", "VM-specific CPU flags must be a subset of"},
		{"CPU flags", "", "PUT", config, "cpu=host,flags=%2Baes%3B-pcid", ""},
		{"a clipboard of a serial display", "", "PUT", config, "vga=type%3Dserial0,clipboard%3Dvnc", "vga type serial0 is not compatible with VNC clipboard"},
		{"a key that is cut off", "", "PUT", config, "sshkeys=ssh-ed25519%2520AAAAC3NzaC1lZDI1NTE5AAAAIOGf5oyqYiE6i2O2ljzHFAXlkdO5yHNNRSpk7Fz9", "SSH public key validation error"},
		{"a comment among the keys", "", "PUT", config, "sshkeys=%2523%2520team", "SSH public key validation error"},
		{"a NUMA node", "VM.Config.CPU", "PUT", config, "numa0=cpus%3D0", "VM.Config.CPU"},
		{"a sound card", "VM.Config.HWType", "PUT", config, "audio0=device%3DAC97", "VM.Config.HWType"},
		{"memory encryption", "", "PUT", config, "amd-sev=std", "only root can set 'amd-sev' config"},
		{"a startup order", "", "PUT", config, "startup=order=1", "/, Sys.Modify"},
		{"a disk on a storage without images", "", "PUT", config, "scsi1=files:1", "does not support vm images"},
		{"a clone to a storage without images", "", "POST", "/nodes/pve1/qemu/9000/clone", "newid=301&full=1&storage=files", "does not support vm images"},
		{"a virtual network", "", "PUT", config, "net1=virtio,bridge=vnet1", ""},
		{"a virtual network", "SDN.Use", "PUT", config, "net1=virtio,bridge=vnet1", "/sdn/zones/lab/vnet1, SDN.Use"},
		{"to grow a disk", "Datastore.AllocateSpace", "PUT", "/nodes/pve1/qemu/300/resize", "disk=scsi0&size=9G", "/storage/shared, Datastore.AllocateSpace"},
		{"to grow a disk", "VM.Config.Disk", "PUT", "/nodes/pve1/qemu/300/resize", "disk=scsi0&size=9G", "VM.Config.Disk"},
		{"a CD instead of a disk", "VM.Config.Disk", "PUT", config, "scsi0=none,media=cdrom", "VM.Config.Disk"},
		{"a socket instead of a device", "", "PUT", config, "serial1=socket", "only root can modify 'serial1' config for real devices"},
		{"to delete a serial device", "", "PUT", config, "delete=serial1", "only root can delete 'serial1' config for real devices"},
		{"a serial device", "", "PUT", config, "serial0=/dev/ttyS0", "only root can modify 'serial0' config for real devices"},
		{"spice instead of a USB device", "", "PUT", config, "usb0=spice", "only root can set 'usb0' config for real devices"},
		{"to delete a USB device", "", "PUT", config, "delete=usb0", "only root can set 'usb0' config for real devices"},
		{"a network device that was on another bridge", "", "PUT", config, "net2=virtio,bridge=vnet1", ""},
		{"a network device that was on another bridge", "SDN.Use", "PUT", config, "delete=net2", "/sdn/zones/localnetwork/vmbr9, SDN.Use"},
		{"QEMU arguments", "", "PUT", config, "args=-snapshot", "only root can set 'args' config"},
		{"a hook script", "", "PUT", config, "hookscript=local:snippets/a.sh", "only root can set 'hookscript' config"},
	} {
		t.Run(c.name+", without "+c.without, func(t *testing.T) {
			seed, err := pvesim.DefaultSeed()
			if err != nil {
				t.Fatal(err)
			}
			seed.Storages = append(seed.Storages, &pvesim.Storage{ID: "files", Type: "dir", Content: []string{"iso"}})
			seed.Options = map[string]string{"registered-tags": "prod;live", "user-tag-access": "user-allow=list,user-allow-list=web"}
			seed.CPUs = []string{"known"}
			seed.VNets = []*pvesim.VNet{{ID: "vnet1", Zone: "lab", Nodes: []string{"pve1"}}}
			seed.Users = append(seed.Users, &pvesim.User{ID: "ci@pve", Tokens: []*pvesim.Token{{ID: "t", Secret: "s"}}})
			b := newTestSim(t, pvesim.Options{Seed: seed})
			b.data("POST", "/access/roles", "roleid", "most", "privs", without(all, c.without))
			b.data("PUT", "/access/acl", "path", "/", "roles", "most", "users", "ci@pve")
			b.task("POST", "/nodes/pve1/qemu/9000/clone", "newid", "300", "full", "1")
			b.sim.Change(func(s *pvesim.Seed) {
				for _, g := range s.Guests {
					if g.VMID == 300 { // by root
						g.Config["serial1"], g.Config["usb0"], g.Config["net2"] = "/dev/ttyS1", "host=1-1", "virtio=BC:24:11:00:00:02,bridge=vmbr9"
						g.Config["tags"] = "old"
					}
				}
			})
			r := b.as("ci@pve!t=s", c.method, c.path, c.form)
			var task struct{ Data string }
			if json.Unmarshal(r.Body, &task) == nil && strings.HasPrefix(task.Data, "UPID:") {
				if r.Reason = b.wait(task.Data); r.Reason != "OK" {
					r.Status = 500
				}
			}
			if got := r.Reason + string(r.Body); (r.Status == 200) != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("%d %s, want %q", r.Status, got, c.want)
			}
		})
	}
}

// as sends a request with another token.
func (b *testSim) as(token, method, path, form string) pvesim.Response {
	b.t.Helper()
	values, err := url.ParseQuery(form)
	if err != nil {
		b.t.Fatal(err)
	}
	h := http.Header{"Authorization": {"PVEAPIToken=" + token}, "Content-Type": {"application/x-www-form-urlencoded"}}
	return b.sim.Do(context.Background(), pvesim.Request{Method: method, Path: "/api2/json" + path, Header: h, Body: []byte(values.Encode())})
}

// TestStartRefusals checks what a start needs on the node.
func TestStartRefusals(t *testing.T) {
	for want, change := range map[string]func(*pvesim.Seed, map[string]string){
		"start failed: QEMU exited with code 1": func(_ *pvesim.Seed, c map[string]string) { c["memory"] = "131072" },
		"does not support content-type 'images'": func(s *pvesim.Seed, _ map[string]string) {
			for _, x := range s.Storages {
				x.Content = []string{"iso"}
			}
		},
		"storage 'shared' is disabled":                     func(s *pvesim.Seed, _ map[string]string) { sharedOf(s).Disabled = true },
		"storage 'shared' is not online":                   func(s *pvesim.Seed, _ map[string]string) { sharedOf(s).Offline = []string{"pve1"} },
		"storage 'shared' is not available on node 'pve1'": func(s *pvesim.Seed, _ map[string]string) { sharedOf(s).Nodes = []string{"pve2"} },
		"storage 'shared' does not support content-type 'iso'": func(s *pvesim.Seed, c map[string]string) {
			sharedOf(s).Content, c["ide0"] = []string{"images"}, "shared:iso/debian-12-netinst.iso,media=cdrom"
		},
		"volume 'shared:iso/gone.iso' does not exist": func(_ *pvesim.Seed, c map[string]string) { c["ide0"] = "shared:iso/gone.iso,media=cdrom" },
		"bridge 'vnet2' does not exist": func(s *pvesim.Seed, c map[string]string) {
			s.VNets = []*pvesim.VNet{{ID: "vnet2", Zone: "lab", Nodes: []string{"pve2"}}}
			c["net0"] = "virtio=BC:24:11:00:00:01,bridge=vnet2"
		},
		"net0: MTU '575' is smaller than the IP minimum MTU '576'": func(_ *pvesim.Seed, c map[string]string) { c["net0"] = "virtio=BC:24:11:00:00:01,bridge=vmbr0,mtu=575" },
		"NUMA needs to be enabled for memory hotplug":              func(_ *pvesim.Seed, c map[string]string) { c["hotplug"] = "disk,memory" },
		"minimum memory must be 1024MB":                            func(_ *pvesim.Seed, c map[string]string) { c["hotplug"], c["numa"] = "memory", "1" },
		"memory size (2000) must be aligned to 512 for hotplugging": func(_ *pvesim.Seed, c map[string]string) {
			c["hotplug"], c["numa"], c["memory"] = "memory", "1", "2000"
		},
		"memory size (17920) must be aligned to 1024 for hotplugging": func(_ *pvesim.Seed, c map[string]string) {
			c["hotplug"], c["numa"], c["memory"] = "memory", "1", "17920"
		},
	} {
		seed, err := pvesim.DefaultSeed()
		if err != nil {
			t.Fatal(err)
		}
		g := &pvesim.Guest{VMID: 300, Node: "pve1", Config: map[string]string{"name": "a", "memory": "512", "scsi0": "shared:300/vm-300-disk-0.qcow2,size=1G"}}
		change(seed, g.Config)
		seed.Guests = append(seed.Guests, g)
		b := newTestSim(t, pvesim.Options{Seed: seed})
		if got := b.wait(b.data("POST", "/nodes/pve1/qemu/300/status/start").(string)); !strings.Contains(got, want) {
			t.Errorf("the start ends with %q, want %q", got, want)
		}
	}
}

// sharedOf is the storage shared of a seed.
func sharedOf(s *pvesim.Seed) *pvesim.Storage {
	return s.Storages[slices.IndexFunc(s.Storages, func(x *pvesim.Storage) bool { return x.ID == "shared" })]
}

// TestQEMURefusals checks with which entries QEMU does not start.
func TestQEMURefusals(t *testing.T) {
	for entry, starts := range map[string]bool{
		"scsi0: ,mbps_rd=10,mbps_rd_max=20": true, "scsi0: ,mbps_rd_max=20": false, "scsi0: ,iops_wr=20,iops_wr_max=10": false,
		"scsi0: ,aio=native,cache=none": true, "scsi0: ,aio=native": true, "scsi0: ,aio=native,cache=writeback": false, "scsi0: ,aio=io_uring,cache=unsafe": true,
		"numa0: cpus=0-1,memory=512": true, "numa0: cpus=1-2,memory=512": false, "sockets: 3": false, "sockets: 4": true, "numa0: cpus=1-0,memory=512": false, "numa0: cpus=0;0,memory=512": false,
	} {
		seed, err := pvesim.DefaultSeed()
		if err != nil {
			t.Fatal(err)
		}
		key, value, _ := strings.Cut(entry, ": ")
		c := map[string]string{"name": "a", "memory": "512", "cores": "2", "numa": "1", "scsi0": "shared:300/vm-300-disk-0.qcow2,size=1G"}
		c[key] = map[bool]string{true: c["scsi0"]}[key == "scsi0"] + value
		seed.Guests = append(seed.Guests, &pvesim.Guest{VMID: 300, Node: "pve1", Config: c})
		b := newTestSim(t, pvesim.Options{Seed: seed})
		if got := b.wait(b.data("POST", "/nodes/pve1/qemu/300/status/start").(string)); (got == "OK") != starts {
			t.Errorf("%s: the start ends with %q", entry, got)
		}
	}
}

// TestRoles creates, changes and deletes a role.
func TestRoles(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	b.data("POST", "/access/roles", "roleid", "r", "privs", "VM.Audit")
	if r := b.do("POST", "/access/roles", "roleid", "r", "privs", "VM.Audit"); r.Status != 500 {
		t.Errorf("a second role of this name: %d", r.Status)
	}
	b.data("PUT", "/access/roles/r", "privs", "VM.Clone", "append", "1")
	has := func() string {
		for _, r := range b.data("GET", "/access/roles").([]any) {
			if m := r.(map[string]any); m["roleid"] == "r" {
				return m["privs"].(string)
			}
		}
		return "none"
	}
	if got := has(); got != "VM.Audit,VM.Clone" {
		t.Errorf("appended: %s", got)
	}
	b.data("PUT", "/access/roles/r", "privs", "VM.Clone")
	if got := has(); got != "VM.Clone" {
		t.Errorf("replaced: %s", got)
	}
	b.data("DELETE", "/access/roles/r")
	if got := has(); got != "none" {
		t.Errorf("deleted: %s", got)
	}
}

// without is a list of privileges without one of them.
func without(list, privilege string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(list, ","), func(p string) bool { return p == privilege }), ",")
}
