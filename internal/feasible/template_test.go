package feasible

import (
	"strings"
	"testing"

	"stackgen/internal/cluster"
	"stackgen/internal/lock"
	"stackgen/schema"
)

// TestUnmadeTemplate: of a VM whose Template is not applied yet, the storages are checked at the first
// look; what needs the template is not.
func TestUnmadeTemplate(t *testing.T) {
	inv := &cluster.Inventory{
		Nodes:      []cluster.Node{{Name: "pve1", Online: true}},
		Datastores: []cluster.Datastore{{ID: "local", Type: "dir", Content: "images"}},
		Storages:   []cluster.Storage{{ID: "local", Node: "pve1", Type: "dir", Content: "images", Active: true}},
		Access:     &cluster.Access{Rights: cluster.Rights{"/storage/local-lvm": map[string]bool{cluster.DatastoreAudit: true}}},
	}
	for store, want := range map[string]string{"local": "", "local-lvm": "storage local-lvm does not exist"} {
		values, _ := schema.ParseYAML("", []byte("{cloud_init: {datastore: "+store+"}, bios: ovmf}"))
		v := &schema.VM{Key: "a", Node: "pve1", Values: values}
		e := &lock.VM{VMID: 300, Node: "pve1", Clone: "linked", Template: &lock.Template{VMID: 9100, Node: "pve1", Name: "base", Release: "1"}}
		obstacles, _ := Creation(inv, v, e)
		var got []string
		for _, o := range obstacles {
			got = append(got, o.Reason)
		}
		const first = "its template (base, release 1) is not there yet: the Template is not applied"
		if all := strings.Join(got, "; "); all != strings.TrimSuffix(first+"; "+want, "; ") {
			t.Errorf("%s: %s", store, all)
		}
	}
}
