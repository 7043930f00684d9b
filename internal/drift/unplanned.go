package drift

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/hardware"
	"stackgen/internal/natural"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// outOfDate reports the VMs that differ from their specs by what guard finds without a plan,
// where a plan that was given says nothing of it: the plan is older than the specs or the
// cluster.
func (x *explainer) outOfDate() {
	known := map[finding.Address][]*finding.Change{}
	for i := range x.out {
		if f := &x.out[i]; f.Change != nil {
			known[f.Address] = append(known[f.Address], f.Change)
		}
	}
	for i := range x.Without {
		f := &x.Without[i]
		for _, u := range f.Updates {
			plan := x.Plans[tf.Unit{Stack: f.Stack, Unit: f.Unit}]
			if f.Type != finding.VM || u.Effect == string(schema.ProviderOnly) || plan == nil || says(known[f.Address], u) {
				continue
			}
			own := finding.Finding{
				Address:  f.Address,
				Kind:     finding.Unknown,
				Severity: finding.Blocked,
				Reason:   finding.Why("plan-out-of-date"),
			}
			own.VMID, own.Node, own.Name = f.VMID, f.Node, f.Name
			own.Change = &finding.Change{
				Attribute: u.Attribute,
				Property:  u.Name,
				Real:      u.Was,
				Spec:      u.Is,
				Effect:    u.Effect,
				Does:      u.Does,
				Cause:     finding.NotKnown,
			}
			own.Because("%s: Proxmox VE has %s, the spec says %s", u.Name, shown(u.Was, ""), shown(u.Is, ""))
			own.Next("plan again, or let stackgen plan", command("stackgen drift", x.specOf(f.Stack)))
			known[f.Address] = append(known[f.Address], own.Change)
			x.out = append(x.out, own)
		}
	}
}

// says reports whether one of the changes of a VM is of an attribute, and sets the same
// number, or is of what is around it or in it, or of all of the VM. Other values may be
// written in two ways.
func says(known []*finding.Change, u finding.Update) bool {
	return slices.ContainsFunc(known, func(c *finding.Change) bool {
		planned, err := strconv.Atoi(c.Spec)
		wanted, errToo := strconv.Atoi(u.Is)
		other := err == nil && errToo == nil && planned != wanted
		return c.Attribute == "" || slices.ContainsFunc(strings.Split(c.Attribute, ", "), func(a string) bool {
			return hardware.Overlap(a, u.Attribute) && !other
		})
	})
}

// blockedFirst makes the steps of what is safe wait for what blocks in the same stack: an
// apply would be refused.
func (x *explainer) blockedFirst() {
	blocked := map[string]bool{}
	for i := range x.out {
		blocked[x.out[i].Stack] = blocked[x.out[i].Stack] || x.out[i].Stops()
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
