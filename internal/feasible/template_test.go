package feasible

import (
	"strings"
	"testing"

	"stackgen/guest"
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

// TestNotATemplateYet: a wrong VMID names an ordinary guest, and no conversion is undone. The spec comes first, and
// a guest that is on gets no line.
func TestNotATemplateYet(t *testing.T) {
	for name, c := range map[string]struct {
		status, lock string
		line         bool
	}{
		"off":        {"stopped", "", true},
		"on":         {"running", "", false},
		"in a clone": {"stopped", "clone", false},
	} {
		for kind, path := range map[guest.Kind]string{guest.VM: "qemu", guest.Container: "lxc"} {
			inv := &cluster.Inventory{Nodes: []cluster.Node{{Name: "pve1", Online: true}},
				Guests: []cluster.Guest{{VMID: 105, Node: "pve1", Kind: kind, Name: "db", Status: c.status, Lock: c.lock}}}
			v := &schema.VM{Kind: kind, Key: "a", Node: "pve1"}
			e := &lock.VM{Kind: kind, VMID: 300, Node: "pve1"}
			if kind == guest.Container {
				v.ClonedFrom = 105
			} else {
				e.Template = &lock.Template{VMID: 105, Node: "pve1"}
			}
			found, _ := Creation(inv, v, e)
			if len(found) == 0 || len(found[0].Remedies) != 2 || found[0].Remedies[0].Text == "" {
				t.Errorf("%s, %s: the spec is not first: %+v", name, path, found)
				continue
			}
			want := ""
			if c.line {
				want = "pvesh create /nodes/pve1/" + path + "/105/template"
			}
			if r := found[0].Remedies[1]; strings.Join(r.Commands, "\n") != want || r.Converts != 105 {
				t.Errorf("%s, %s: got %+v, want %q", name, path, r, want)
			}
		}
	}
}
