package drift

import (
	"maps"
	"slices"
	"strings"

	tfjson "github.com/hashicorp/terraform-json"

	"stackgen/internal/cluster"
	"stackgen/internal/effect"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/lock"
	"stackgen/internal/natural"
	"stackgen/schema"
)

// An Input is everything that differences are explained from.
type Input struct {
	guard.Input
	Found   []finding.Finding // by guard, plans included
	Plans   map[guard.UnitID]*guard.Plan
	Updates map[guard.UnitID]map[string][]effect.Update // what each plan does to the VMs that it updates, by resource address
	Units   []guard.UnitID                              // those of the plans, in order
	Failed  map[guard.UnitID]string                     // units that could not be planned, and why
}

// Explain returns a finding for each difference between specs, states, plans and cluster,
// in a total order. There is none where an apply has nothing to do and nothing changed
// since the last one.
func Explain(in Input) []finding.Finding {
	x := &explainer{Input: in, about: map[finding.Address]*finding.Finding{}, explained: map[finding.Address]bool{}}
	for i := range in.Found {
		f := &in.Found[i]
		x.about[placeOf(f)] = f
	}
	for _, u := range in.Units {
		if plan := in.Plans[u]; plan != nil {
			x.plan(u, plan)
		}
	}
	x.unplanned()
	x.unread()
	x.rest()
	finding.Sort(x.out)
	return x.out
}

// An explainer holds one run of Explain.
type explainer struct {
	Input
	about     map[finding.Address]*finding.Finding // what guard says about a VM, pool or record
	explained map[finding.Address]bool             // that has a finding
	out       []finding.Finding
}

// placeOf is the address of what a finding is about, as a plan names it: a record by its
// name in the zone.
func placeOf(f *finding.Finding) finding.Address {
	at := f.Address
	if f.Type == finding.Record && f.Name != "" {
		at.Key = f.Name
	}
	return at
}

// plan explains the plan of one unit.
func (x *explainer) plan(u guard.UnitID, plan *guard.Plan) {
	byHand := map[string]*tfjson.ResourceChange{}
	for _, d := range plan.ResourceDrift {
		if d.Change != nil {
			byHand[d.Address] = d
		}
	}
	seen := map[string]bool{}
	for _, c := range plan.ResourceChanges {
		if c.Mode != tfjson.ManagedResourceMode || c.Change == nil {
			continue
		}
		r := x.resource(u, c, byHand[c.Address])
		r.updates = x.Updates[u][c.Address]
		if c.DeposedKey == "" {
			seen[c.Address] = true
		}
		r.explain()
	}
	for _, d := range plan.ResourceDrift {
		if d.Change != nil && !seen[d.Address] {
			r := x.resource(u, d, d)
			r.left = true
			r.explain()
		}
	}
	x.incomplete(u, plan)
	x.outputs(u, plan)
}

// incomplete reports what keeps a plan from saying everything.
func (x *explainer) incomplete(u guard.UnitID, plan *guard.Plan) {
	if n := len(plan.DeferredChanges); n > 0 {
		x.unit(u, finding.Blocked, "the plan leaves out changes that it cannot know yet").Because("%d deferred changes", n)
	}
	if n := len(plan.ActionInvocations); n > 0 {
		x.unit(u, finding.Blocked, "the plan runs actions, which no unit of stackgen has").Because("%d actions", n)
	}
	if plan.Errored {
		f := x.unit(u, finding.Failed, "the plan failed and is incomplete")
		f.Next("read its errors", lock.InUnit(u.Stack, u.Unit, "terragrunt plan"))
	}
}

// unit begins a finding about a unit as a whole.
func (x *explainer) unit(u guard.UnitID, severity finding.Severity, reason string) *finding.Finding {
	x.out = append(x.out, finding.Finding{Address: finding.Address{Stack: u.Stack, Unit: u.Unit, Type: finding.Unit},
		Kind: finding.Unknown, Severity: severity, Reason: reason, Object: finding.Object{Change: &finding.Change{Cause: finding.NotKnown}}})
	x.explained[x.out[len(x.out)-1].Address] = true
	return &x.out[len(x.out)-1]
}

// outputs reports the outputs that a plan changes, where nothing else changes them.
func (x *explainer) outputs(u guard.UnitID, plan *guard.Plan) {
	if !guard.ChangesOutputs(plan) || len(guard.Changes(u, plan)) > 0 {
		return
	}
	var names []string
	for name, c := range plan.OutputChanges {
		if c != nil && !c.Actions.NoOp() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	f := x.unit(u, finding.Outdated, "an apply writes other outputs into the state, and changes nothing in the cluster")
	f.Kind, f.Change.Cause = finding.Noise, finding.ByNobody
	f.Change.Attribute = "output." + strings.Join(names, ", output.")
	f.Because("outputs: %s", strings.Join(names, ", "))
	f.Next("an apply records it", x.apply(u.Stack))
}

// unplanned reports the units that could not be planned.
func (x *explainer) unplanned() {
	for _, u := range x.Units {
		if why, failed := x.Failed[u]; failed {
			f := x.unit(u, finding.Failed, "it could not be planned, so its differences are not known")
			f.Because("%s", why)
			f.Next("read all of its errors", lock.InUnit(u.Stack, u.Unit, "terragrunt plan"))
		}
	}
}

// rest reports what guard found out and no plan shows: what stops an apply, and what waits
// for a restart or was migrated.
func (x *explainer) rest() {
	for i := range x.Found {
		f := &x.Found[i]
		switch at := placeOf(f); {
		case f.Stops() && !x.explained[at] && f.Kind != finding.Busy:
			own := *f
			if !driftKind(f.Kind) {
				own.Kind = finding.Unknown
			}
			own.Change = &finding.Change{Cause: finding.NotKnown}
			own.Evidence = append([]string{"preflight says " + string(f.Kind)}, f.Evidence...)
			x.out = append(x.out, own)
		case len(f.Pending) > 0 && !f.Stops():
			x.waits(f)
		}
	}
}

// driftKind reports whether a kind of guard is a verdict of drift, too.
func driftKind(k finding.Kind) bool {
	return slices.Contains([]finding.Kind{finding.Create, finding.Gone, finding.Moved, finding.Migrate, finding.Pending, finding.Unknown}, k)
}

// unread reports the disks that somebody attached by hand: the provider does not read a
// disk that no state has, so that no plan shows it.
func (x *explainer) unread() {
	for _, u := range x.Units {
		for _, state := range x.State[u].Resources {
			r := x.resource(u, &tfjson.ResourceChange{Address: state.Address, Type: state.Type, Index: state.Key, Change: &tfjson.Change{}}, nil)
			if state.Type == guard.TypeVM && r.vm != nil && r.verdict != nil && !r.ignored("disk") && len(r.vm.Values.Get("disks").List()) > 0 {
				r.unreadDisks(&state, x.Inventory.Guest(state.VMID))
			}
		}
	}
}

func (r *resource) unreadDisks(state *guard.Resource, g *cluster.Guest) {
	if g == nil || g.Config == nil || r.verdict.Stops() && !r.verdict.Kind.Exists() {
		return
	}
	disks := guard.Disks(g)
	for _, at := range slices.SortedFunc(maps.Keys(disks), natural.Compare) {
		named := slices.ContainsFunc(r.vm.Values.Get("disks").List(), func(d *schema.Node) bool { return d.Get("interface").Str() == at })
		reported := slices.ContainsFunc(r.out, func(f finding.Finding) bool {
			return f.Address == r.at && f.Change != nil && f.Change.Attribute == "disk."+at
		})
		if named || reported || state.Values.Has("disk."+at) {
			continue
		}
		change := effect.Change{Path: "disk", Device: at, Was: disks[at], Whole: true}
		f := r.add(finding.Noise, at+" was attached by hand, and no plan shows it: an apply leaves it, and detaches it as soon as it changes another disk of the VM")
		f.Change.Attribute, f.Change.Property, f.Change.Real, f.Change.Cause, f.Change.Effect = "disk."+at, at, disks[at], finding.ByHand, string(schema.Detach)
		f.Change.At, _ = r.place(change)
		f.Because("%s", r.direction(f, change))
		f.Next("to keep it, import the VM again: this says how", "stackgen drift --accept "+r.at.Stack+"/"+r.vm.Key)
	}
}

// apply is the line that applies a stack.
func (x *explainer) apply(stack string) string {
	for _, s := range x.Project.Stacks {
		if s.Name == stack && s.Spec != "" {
			return "stackgen apply " + s.Spec
		}
	}
	return "stackgen apply"
}
