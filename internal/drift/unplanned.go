package drift

import (
	"slices"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// blockedFirst makes the steps of what is safe wait for what blocks in the same stack: an
// apply would be refused.
func (x *explainer) blockedFirst() {
	blocked := map[string]bool{}
	for _, f := range slices.Concat(x.out, x.Found) {
		blocked[f.Stack] = blocked[f.Stack] || f.Stops()
	}
	for i := range x.out {
		f := &x.out[i]
		if f.Stops() || !blocked[f.Stack] {
			continue
		}
		f.Steps = slices.Clone(f.Steps)
		for k := range f.Steps {
			if s := &f.Steps[k]; len(s.Lines) == 1 && s.Lines[0].Text == x.apply(f.Stack) {
				*s = finding.Do(s.What + ", after what blocks " + f.Stack + " is fixed")
			}
		}
	}
}

// unread reports what somebody changed by hand and the provider does not read, so that no
// plan shows it.
func (x *explainer) unread() {
	for _, u := range x.Units {
		for _, state := range x.State[u].Resources {
			c := &tf.ResourceChange{Address: state.Address, Type: state.Type, Key: state.Key}
			r := x.resource(u, c, nil)
			g := x.Inventory.Guest(state.VMID)
			if r.vm == nil || r.verdict == nil || g == nil || g.Config == nil || r.verdict.Stops() && !r.verdict.Kind.Exists() {
				continue
			}
			r.lacks(&state, g)
			if state.Type != guest.VMResource {
				continue
			}
			if state.Values.Has("disk") {
				r.unreadDisks(&state, g)
			}
			if plan := x.Plans[u]; plan != nil && !plan.Errored { // without one, it may be what a plan would show
				r.unseen(&state, g)
			}
		}
	}
}

// unreadDisks reports the disks that the provider does not read. What attached them is not known: the task log may tell.
func (r *resource) unreadDisks(state *tf.Resource, g *cluster.Guest) {
	disks, brought := guard.Disks(g), map[string]string{}
	template := guard.TemplateOf(state.Values, g, r.Inventory)
	if template != nil {
		brought = guard.Disks(template)
	}
	for _, at := range guard.Unread(state.Values, r.vm, g) {
		reported := slices.ContainsFunc(r.out, func(f finding.Finding) bool {
			return f.Address == r.at && f.Change != nil && f.Change.Attribute == "disk."+at
		})
		if reported {
			continue
		}
		change := tf.Change{Path: "disk", Device: at, Was: disks[at], Whole: true}
		f := r.begin(finding.Noise, change, schema.Detach)
		f.Reason, f.Change.Real, f.Change.Cause = finding.Why("disk-unread", at), disks[at], finding.NotKnown
		f.Because("%s", r.direction(f, change))
		switch {
		case brought[at] != "":
			f.Severity, f.Change.Cause = finding.OK, finding.ByNobody
			f.Reason = finding.Why("disk-of-template", at)
		case r.ignored("disk"):
			f.Severity, f.Reason = finding.OK, finding.Why("disk-unread-ignored", at)
		default:
			steps := guard.UnreadSteps(f, g, r.Inventory, []string{at})
			if template == nil && state.Values[guard.CloneOf] != "" { // it may have come with the template: then nobody wants to detach it
				steps = steps[:1]
			}
			f.Steps = append(f.Steps, steps...)
		}
	}
}

// lacks reports what the spec has and the guest does not. Whether somebody removed it, the task log may tell.
func (r *resource) lacks(state *tf.Resource, g *cluster.Guest) {
	for _, key := range r.verdict.Lacks {
		field := schema.FieldOf(g.Kind, key)
		if r.reported(field.HCL) {
			continue
		}
		f := r.begin(finding.Noise, tf.Change{Path: field.HCL, Whole: field.Type == schema.Object}, schema.Noise)
		f.Reason, f.Change.Spec = finding.Why("lacks", f.Change.Property), r.vm.Values.Get(key).Str()
		if field.Type == schema.Object {
			f.Change.Spec = state.Values.Describe(field.HCL)
		}
		if f.Change.At != nil {
			f.Because("%s: Proxmox VE has nothing, %s says %s", f.Change.Property, f.Change.At, f.Change.Spec)
		}
		f.Steps = append(f.Steps, guard.LacksSteps(f, r.vm, g, r.Inventory, key)...)
	}
}
