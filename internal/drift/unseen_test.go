package drift

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// TestUnseen has a clone with a description and tags that no spec says. They are named
// where its template is known to be the one that it was cloned from.
func TestUnseen(t *testing.T) {
	const both = "description mine noise 2, tags a noise 2"
	for name, c := range map[string]struct {
		edit func(clone *cluster.Guest, template *cluster.Guest, state *tf.Resource)
		want string
		more map[string]string // what another clone of the template has
	}{
		"by hand":                          {func(*cluster.Guest, *cluster.Guest, *tf.Resource) {}, both, nil},
		"another clone has the tags, too":  {func(*cluster.Guest, *cluster.Guest, *tf.Resource) {}, "description mine noise 2", map[string]string{"tags": "a"}},
		"another clone is as the template": {func(*cluster.Guest, *cluster.Guest, *tf.Resource) {}, both, map[string]string{}},
		"the template has it":              {func(_, template *cluster.Guest, _ *tf.Resource) { template.Config.Raw["tags"] = "a" }, "description mine noise 2", nil},
		"the template was built again":     {func(_, template *cluster.Guest, _ *tf.Resource) { template.Config.Created = 2 }, "", nil},
		"the template's age is not known": {func(clone, template *cluster.Guest, _ *tf.Resource) {
			clone.Config.Created, template.Config.Created = 0, 0
		}, "", nil},
		"the template is gone":             {func(_, template *cluster.Guest, _ *tf.Resource) { template.VMID = 9001 }, "", nil},
		"the template was not read":        {func(_, template *cluster.Guest, _ *tf.Resource) { template.Config = nil }, "", nil},
		"the template is a VM":             {func(_, template *cluster.Guest, _ *tf.Resource) { template.Template = false }, "", nil},
		"it was imported":                  {func(_, _ *cluster.Guest, state *tf.Resource) { delete(state.Values, guard.CloneOf) }, "", nil},
		"the state has the tags":           {func(_, _ *cluster.Guest, state *tf.Resource) { state.Values["tags"] = "b" }, "description mine noise 2", nil},
		"the state does not know the tags": {func(_, _ *cluster.Guest, state *tf.Resource) { delete(state.Values, "tags") }, "description mine noise 2", nil},
		"the description waits for a restart": {func(clone, _ *cluster.Guest, _ *tf.Resource) {
			clone.Config.Pending = []cluster.Pending{{Key: "description", New: "mine"}}
		}, "tags a noise 2, description mine pending 2", nil},
	} {
		t.Run(name, func(t *testing.T) {
			raw := func() map[string]string {
				return map[string]string{"balloon": "0", "scsihw": "lsi", "ostype": "l26", "memory": "512"}
			}
			clone := cluster.Guest{VMID: 100, Node: "pve1", Kind: guest.VM, Name: "web", Status: "running", Config: &cluster.Config{Created: 1, Raw: raw()}}
			clone.Config.Raw["description"], clone.Config.Raw["tags"] = "mine", "a"
			template := cluster.Guest{VMID: 9000, Node: "pve1", Kind: guest.VM, Template: true, Config: &cluster.Config{Created: 1, Raw: raw()}}
			state := tf.Resource{Address: vmAddress, Type: guest.VMResource, Key: "web", VMID: 100, Node: "pve1", Name: "web", Values: tf.Values{"description": "", "tags": "", guard.CloneOf: "9000"}}
			c.edit(&clone, &template, &state)
			vm := &schema.VM{Key: "web", Path: "vms.web", Name: "web", Profile: "default", Pos: schema.Pos{File: "specs/lab.yaml", Line: 5, Col: 3}}
			l := lock.Stack{Spec: "specs/lab.yaml", Units: lock.Ordered[lock.Unit]{{Key: lock.UnitVM}}, VMs: lock.Ordered[lock.VM]{{Key: "web", Value: lock.VM{VMID: 100, Node: "pve1"}}}}
			guests := []cluster.Guest{clone, template}
			if c.more != nil {
				other := raw()
				maps.Copy(other, c.more)
				guests = append(guests, cluster.Guest{VMID: 101, Node: "pve1", Kind: guest.VM, Name: "other", Config: &cluster.Config{Created: 1, Raw: other}})
			}
			in := Input{Units: []tf.Unit{vmUnit}, Input: guard.Input{
				Project:   &schema.Project{Stacks: []*schema.Stack{{Name: "lab", Spec: "specs/lab.yaml", VMs: []*schema.VM{vm}}}, Profiles: schema.BuiltinProfiles()},
				Lock:      &lock.Lock{Stacks: lock.Ordered[lock.Stack]{{Key: "lab", Value: l}}},
				Selected:  func(string) bool { return true },
				State:     tf.States{vmUnit: {Resources: []tf.Resource{state}}},
				Inventory: &cluster.Inventory{Quorate: true, Nodes: []cluster.Node{{Name: "pve1", Online: true}}, Guests: guests}}}
			in.Planned = map[tf.Unit]bool{vmUnit: true}
			in.Found = guard.Judge(in.Input)
			for _, plan := range []*tf.Plan{{}, {Errored: true}, nil} {
				in.Plans = map[tf.Unit]*tf.Plan{vmUnit: plan}
				x := explainPlans(in)
				x.out = nil // the plan is empty
				x.unread()
				x.fromGuard()
				finding.Sort(x.out)
				var got []string
				for _, f := range x.out {
					if f.Change.Unplanned && (plan == nil || plan.Errored) {
						t.Errorf("what no plan shows is known without one: %s", f.Change.Attribute)
					}
					got = append(got, fmt.Sprintf("%s %s %s %d", f.Change.Attribute, f.Change.Real, f.Kind, f.Severity))
				}
				if text := strings.Join(got, ", "); plan != nil && !plan.Errored && text != c.want {
					t.Errorf("got %q, want %q", text, c.want)
				}
			}
		})
	}
}
