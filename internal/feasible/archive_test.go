package feasible

import (
	"slices"
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/lock"
	"stackgen/schema"
)

// TestArchive: the archive of a container is on its node, or is not, or that is not known.
func TestArchive(t *testing.T) {
	const debian = "debian-12-standard_12.7-1_amd64.tar.zst"
	sees := cluster.Rights{"/storage": {cluster.DatastoreAudit: true}}
	list := func(storage, node string, names ...string) cluster.Files {
		l := cluster.Files{Storage: storage, Node: node}
		for _, name := range names {
			l.Files = append(l.Files, cluster.File{Name: name})
		}
		return l
	}
	for name, c := range map[string]struct {
		template string
		change   func(*cluster.Inventory)
		reason   string // "" if nothing is wrong
		evidence string
		steps    []string // parts of the remedies, one each
		unknown  string
	}{
		"the node has it": {change: func(inv *cluster.Inventory) { inv.Archives = []cluster.Files{list("local", "pve1", debian)} }},
		"the node has none": {
			change:   func(inv *cluster.Inventory) { inv.Archives = []cluster.Files{list("local", "pve1")} },
			reason:   "storage local of node pve1 does not have the archive " + debian,
			evidence: "storage local of node pve1 has no archive",
			steps:    []string{"pveam download local " + debian},
		},
		"another node has it, and the node a newer one": {
			change: func(inv *cluster.Inventory) {
				inv.Archives = []cluster.Files{list("local", "pve1", "debian-9-standard_9.7-1_amd64.tar.gz", "debian-13-standard_13.1-2_amd64.tar.zst", "debian-14 a.tar.zst"),
					list("local", "pve2", debian)}
			},
			reason:   "storage local of node pve1 does not have the archive " + debian,
			evidence: "debian-9-standard_9.7-1_amd64.tar.gz, debian-13-standard_13.1-2_amd64.tar.zst, debian-14 a.tar.zst",
			steps:    []string{"pveam download", "one of pve2", "local:vztmpl/debian-13-standard_13.1-2_amd64.tar.zst"},
		},
		"a file that pveam does not have": {
			template: "local:vztmpl/mine.tar.zst",
			change:   func(inv *cluster.Inventory) { inv.Archives = []cluster.Files{list("local", "pve1", debian)} },
			reason:   "storage local of node pve1 does not have the archive mine.tar.zst",
			steps:    []string{"copy the archive"},
		},
		"a storage without archives": {
			change:   func(inv *cluster.Inventory) { inv.Storages[0].Content = "iso" },
			reason:   "storage local does not have the content vztmpl",
			evidence: "storages of node pve1 with vztmpl: nas",
			steps:    []string{"pvesm set local --content iso,vztmpl"},
		},
		"no such storage": {
			template: "gone:vztmpl/" + debian,
			change:   func(*cluster.Inventory) {},
			reason:   "storage gone does not exist",
		},
		"a storage of other nodes": {
			change: func(inv *cluster.Inventory) {
				inv.Storages = inv.Storages[1:]
				inv.Datastores[0].Nodes = []string{"pve2"}
			},
			reason: "storage local is not available on node pve1",
			steps:  []string{"pvesh get /storage/local"},
		},
		"a token that does not see the storage": {
			change: func(inv *cluster.Inventory) {
				inv.Storages, inv.Datastores, inv.Access.Rights = nil, []cluster.Datastore{}, cluster.Rights{"/storage": {cluster.AllocateImage: true}}
			},
			unknown: "whether storage local exists is not known: the token lacks Datastore.Audit on /storage/local",
		},
		"files that could not be read": {change: func(*cluster.Inventory) {}, unknown: "its files could not be read"},
		"a node that is off": {change: func(inv *cluster.Inventory) {
			inv.Nodes[0].Online = false
			inv.Archives = []cluster.Files{list("local", "pve1")}
		}, unknown: "node pve1 does not respond"},
	} {
		t.Run(name, func(t *testing.T) {
			inv := &cluster.Inventory{
				Nodes:      []cluster.Node{{Name: "pve1", Online: true}, {Name: "pve2", Online: true}},
				Storages:   []cluster.Storage{{ID: "local", Node: "pve1", Content: "iso,vztmpl", Active: true}, {ID: "nas", Node: "pve1", Content: "vztmpl", Active: true}},
				Datastores: []cluster.Datastore{{ID: "local", Content: "iso,vztmpl"}, {ID: "nas", Content: "vztmpl"}},
				Access:     &cluster.Access{Rights: sees},
			}
			c.change(inv)
			template := scalar(schema.ShapeString, "local:vztmpl/"+debian)
			if c.template != "" {
				template = scalar(schema.ShapeString, c.template)
			}
			values := (&schema.Node{Shape: schema.ShapeMap}).With(scalar(schema.ShapeString, guest.Template), set(&schema.Node{Shape: schema.ShapeMap}, guest.Archive, template))
			found, unknown := Creation(inv, &schema.VM{Kind: guest.Container, Values: values}, &lock.VM{Kind: guest.Container, VMID: 110, Node: "pve1"})
			var reason, evidence string
			var steps []string
			for _, o := range found {
				if o.Check != ArchiveCheck {
					continue
				}
				reason += o.Reason
				evidence += strings.Join(o.Evidence, "; ")
				for _, r := range o.Remedies {
					steps = append(steps, r.What+" "+r.Text+" "+r.Value.Str()+" "+strings.Join(r.Commands, " "))
				}
			}
			if reason != c.reason || !strings.Contains(evidence, c.evidence) {
				t.Errorf("%q (%q), want %q (%q)", reason, evidence, c.reason, c.evidence)
			}
			if len(steps) != len(c.steps) {
				t.Fatalf("%q, want %q", steps, c.steps)
			}
			for i, want := range c.steps {
				if !strings.Contains(steps[i], want) {
					t.Errorf("step %d is %q, want %q", i, steps[i], want)
				}
			}
			var reasons []string
			for _, u := range unknown {
				reasons = append(reasons, u.Reason)
			}
			if got := strings.Join(reasons, "; "); (got == "") != (c.unknown == "") || !strings.Contains(got, c.unknown) {
				t.Errorf("unknown: %q, want %q", got, c.unknown)
			}
			if slices.ContainsFunc(found, func(o Obstacle) bool { return o.Check == NodeCheck }) {
				t.Error("the node is missing")
			}
		})
	}
}
