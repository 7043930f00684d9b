package feasible

import (
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/lock"
	"stackgen/schema"
)

// TestStoragesOfUpdate: the storage of the cloud-init drive counts where the VM has it on another one, and the storage of
// anything only where the profile does not ignore it.
func TestStoragesOfUpdate(t *testing.T) {
	const missing = "storage nowhere does not exist > "
	for name, c := range map[string]struct {
		spec, drive string
		ignores     []string
		want        string
	}{
		"drive":                 {"cloud_init: {datastore: nowhere}", "local:100/vm-100-cloudinit.qcow2,media=cdrom", nil, missing + "cloud_init "},
		"no drive yet":          {"cloud_init: {datastore: nowhere}", "", nil, missing + "cloud_init "},
		"drive that is ignored": {"cloud_init: {datastore: nowhere}", "local:100/vm-100-cloudinit.qcow2,media=cdrom", []string{"initialization"}, ""},
		"drive that is there":   {"cloud_init: {datastore: nowhere}", "nowhere:vm-100-cloudinit,media=cdrom", nil, ""},
		"no cloud-init":         {"cloud_init: false", "", nil, ""},
		"disk":                  {"cloud_init: false, disks: [{interface: scsi0, size: 8, datastore: nowhere}]", "", nil, missing + "disks local"},
		"disk that is ignored":  {"cloud_init: false, disks: [{interface: scsi0, size: 8, datastore: nowhere}]", "", []string{"disk"}, ""},
	} {
		v := stack(t, "vms: {web: {"+c.spec+"}}").VMs[0]
		inv := &cluster.Inventory{Nodes: []cluster.Node{{Name: "pve1", Online: true}}, Datastores: []cluster.Datastore{{ID: "local", Type: "dir", Content: "images"}},
			Storages: []cluster.Storage{{ID: "local", Node: "pve1", Type: "dir", Content: "images", Active: true}},
			Access:   &cluster.Access{User: "root@pam", Rights: cluster.Rights{"/storage": {cluster.DatastoreAudit: true}}}}
		raw := map[string]string{"name": "web"}
		if c.drive != "" {
			raw["ide2"] = c.drive
		}
		vm := cluster.Guest{VMID: 100, Node: "pve1", Kind: guest.VM, Config: &cluster.Config{Raw: raw}}
		p := &schema.Profile{IgnoreChanges: c.ignores}
		if got := ways(Update(inv, v, &lock.VM{VMID: 100, Node: "pve1"}, &vm, p)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
