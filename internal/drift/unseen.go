package drift

import (
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/effect"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/hardware"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// unseen reports what a clone has and neither its spec nor its template says: the provider
// reads of a clone only what the spec sets, and not even that while it has its default.
func (r *resource) unseen(state *tf.Resource, g *cluster.Guest) {
	template := guard.TemplateOf(state.Values, g, r.Inventory)
	if template == nil || state.Planned || r.profile == nil || r.profile.IgnoreAll {
		return
	}
	if r.templates[template.VMID] == nil {
		r.templates[template.VMID] = hardware.Read(template)
	}
	reading := r.read(g.VMID)
	if reading == nil {
		return
	}
	for _, u := range reading.Unseen(r.vm, r.templates[template.VMID], r.profile.Ignores) {
		top, _, _ := strings.Cut(u.Path, ".")
		planned := state.Values.Read([]tf.Change{u.Change}, true)
		if len(planned) == 0 && state.Values.Knows(top) && !r.reported(u.Attribute()) && !r.allHave(u.Entry, g) {
			r.unseenValue(u, template)
		}
	}
}

// allHave reports whether all other clones of the template have the same entry as a guest:
// then it is the template that somebody has changed. It says nothing of hidden values.
func (r *resource) allHave(entry string, g *cluster.Guest) bool {
	others := 0
	if g.Config.Raw[entry] == "" {
		return false
	}
	for i := range r.Inventory.Guests {
		c := &r.Inventory.Guests[i]
		if c.Template || c.VMID == g.VMID || c.Config == nil || len(c.Config.Raw) == 0 || c.Config.Created != g.Config.Created {
			continue
		}
		if c.Config.Raw[entry] != g.Config.Raw[entry] {
			return false
		}
		others++
	}
	return others > 0
}

// reported reports whether a finding is about an attribute of the VM, or about all of it.
func (r *resource) reported(attribute string) bool {
	return slices.ContainsFunc(r.out, func(f finding.Finding) bool {
		switch {
		case f.Address != r.at || f.Change == nil:
			return false
		case f.Change.Attribute == "":
			return f.Kind != finding.Import && f.Kind != finding.Moved
		}
		return hardware.Overlap(f.Change.Attribute, attribute)
	})
}

// notRead corrects what the plan says of a value of a clone that the provider has not read:
// to the plan, there is none, or the provider's default.
func (r *resource) notRead(f *finding.Finding, u effect.Update) {
	at := tf.Change{Path: u.Path, Device: u.Device, Whole: u.Whole, Was: "something"}
	if r.vm == nil || r.replaced || r.real[guard.CloneOf] == "" || u.Is == "" || len(r.real.Read([]tf.Change{at}, true)) > 0 {
		return
	}
	reading := r.read(f.VMID)
	if reading == nil || !hardware.Says(r.vm.Kind, u.Attribute()) {
		return
	}
	was, known := reading.Has(r.vm, u.Attribute())
	c := f.Change
	switch {
	case !known:
	case was == "" && (f.Kind == finding.Live || f.Kind == finding.Pending):
		f.Kind, c.Cause = finding.ProviderOnly, finding.ByNobody
		f.Reason = finding.Why("sent-once-more", c.Property)
	case was != "":
		c.Real = was
	}
}

// unseenValue adds the finding of one value. Its cause is not known: no state has what the
// last apply left, and the template may have been changed since.
func (r *resource) unseenValue(u hardware.Unseen, template *cluster.Guest) {
	f := r.begin(finding.Noise, u.Change, schema.Noise)
	c := f.Change
	c.Real, c.Spec, c.Sensitive, c.NoAccept, c.Unplanned = u.Was, u.Is, u.Was == hardware.Secret, u.Reason, true
	if c.At == nil {
		c.Property = u.Entry
		f.Because("%s: Proxmox VE has %s, and no property of a spec says it", c.Property, shown(c.Real, c.Unit))
	} else {
		f.Because("%s", r.direction(f, u.Change))
	}
	f.Reason = finding.Why("unsaid-unplanned", c.Property)
	has := "does not have it"
	if u.Template != "" {
		has = "has " + shown(u.Template, c.Unit)
	}
	f.Because("template %d %s", template.VMID, has)
	undo := "to change it back, on any node"
	if u.Reason == "" {
		keep := "to keep it, write it into the spec"
		if r.vm.Values.Get(guest.Restart).Bool() {
			keep += "; with `restart: true`, the next apply may restart the VM for it"
		}
		r.accepts(f, keep)
		undo = "or, to change it back, on any node"
	}
	if c.Undo = u.Undo; c.Undo != "" {
		f.Next(undo, u.Undo)
	}
}
