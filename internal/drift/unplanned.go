package drift

import (
	"maps"
	"slices"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/natural"
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
			if state.Type != guest.VMResource || r.vm == nil || r.verdict == nil || g == nil || g.Config == nil ||
				r.verdict.Stops() && !r.verdict.Kind.Exists() {
				continue
			}
			if state.Values.Has("disk") {
				r.unreadDisks(&state, g)
			}
			r.unseen(&state, g)
		}
	}
}

func (r *resource) unreadDisks(state *tf.Resource, g *cluster.Guest) {
	disks, brought := guard.Disks(g), map[string]string{}
	if template := r.templateOf(state.Values, g); template != nil {
		brought = guard.Disks(template)
	}
	for _, at := range slices.SortedFunc(maps.Keys(disks), natural.Compare) {
		reported := slices.ContainsFunc(r.out, func(f finding.Finding) bool {
			return f.Address == r.at && f.Change != nil && f.Change.Attribute == "disk."+at
		})
		if r.vm.Disk(at) != nil || reported || state.Values.Has("disk."+at) {
			continue
		}
		change := tf.Change{Path: "disk", Device: at, Was: disks[at], Whole: true}
		f := r.begin(finding.Noise, change, schema.Detach)
		f.Reason, f.Change.Real, f.Change.Cause = finding.Why("disk-attached", at), disks[at], finding.ByHand
		f.Because("%s", r.direction(f, change))
		if brought[at] != "" {
			f.Severity, f.Change.Cause = finding.OK, finding.ByNobody
			f.Reason = finding.Why("disk-of-template", at)
			continue
		}
		if r.ignored("disk") {
			f.Severity, f.Reason = finding.OK, finding.Why("disk-attached-ignored", at)
			continue
		}
		f.Next("to keep it, import the VM again: this says how", "stackgen drift --accept "+r.at.Stack+"/"+r.vm.Key)
	}
}
