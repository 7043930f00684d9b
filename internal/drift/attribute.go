package drift

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/effect"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// attributes adds a finding for each attribute, block and device that the plan changes.
func (r *resource) attributes() {
	c := r.change
	for _, u := range r.updates {
		r.update(u)
	}
	if c.Before == nil || c.After == nil {
		return
	}
	if c.Type == guest.ContainerResource {
		r.ofContainer()
		return
	}
	for _, change := range tf.OfPlan(r.real, r.wanted) {
		if !r.covers(change.Attribute()) {
			r.update(r.simple(change))
		}
	}
	for _, attribute := range tf.Differing(r.before, r.after, c.Unknown) {
		if !r.covers(attribute) {
			r.unexplained(attribute)
		}
	}
}

// ofContainer adds the changes of a container that an apply does not make by themselves, such as of its console.
func (r *resource) ofContainer() {
	for _, change := range r.change.OfContainer() {
		if !r.covers(change.Attribute()) {
			r.update(r.simple(change))
		}
	}
}

// covers reports whether an attribute has a finding, or the block that it is in.
func (r *resource) covers(attribute string) bool {
	return slices.ContainsFunc(r.covered, func(done string) bool {
		return attribute == done || strings.HasPrefix(attribute, done+".")
	})
}

// row is the row of the table of effects about a change, or nil.
func (r *resource) row(c tf.Change) *schema.Attribute {
	return schema.ResourceAttribute(r.change.Type, c.Path)
}

// simple is a change that guard does not judge by itself: it does nothing to a VM, or is
// about a pool or record.
func (r *resource) simple(c tf.Change) effect.Update {
	u := effect.Update{Change: c, Does: "at once"}
	if row := r.row(c); row != nil {
		u.Effect = row.Change
		if c.Removes() {
			u.Effect = row.Removal
		}
	}
	return u
}

// begin begins the finding about a change: what changes, and where the spec says it.
func (r *resource) begin(kind finding.Kind, of tf.Change, effect schema.Effect) *finding.Finding {
	f := r.add(kind, finding.Reason{})
	c := f.Change
	c.Attribute, c.Property, c.Effect = of.Attribute(), r.property(of), string(effect)
	c.At, c.Unit = r.place(of)
	r.covered = append(r.covered, c.Attribute)
	return f
}

// update adds the finding of one change.
func (r *resource) update(u effect.Update) {
	f := r.begin(r.kind(u), u.Change, u.Effect)
	c := f.Change
	c.Real, c.Spec, c.Does, c.Cause = u.Was, u.Is, u.Does, r.cause(u)
	if !u.Whole {
		c.Applied = r.applied[c.Attribute]
	}
	f.Reason = r.reason(f, u)
	r.notRead(f, u)
	f.Because("%s", r.direction(f, u.Change))
	guard.SayHidden(f, []effect.Update{u})
	if r.replaced && u.Is == "" && !u.Whole && u.Harm == "" {
		r.created(f)
		return
	}
	if blocks(f.Kind) || u.Harm != "" {
		f.Severity = finding.Blocked
	}
	if r.change.Action == tf.Update && r.ignored(u.Path) && !(r.change.Imports && f.Kind == finding.ProviderOnly) {
		f.Is(finding.Unknown, finding.Why("plan-of-other-render"))
		f.Next("render, then run this again", "stackgen render")
		return
	}
	r.steps(f)
}

// kind is the verdict on a change.
func (r *resource) kind(u effect.Update) finding.Kind {
	switch u.Harm {
	case effect.Detaches, effect.Shares, effect.Abandons, effect.Empties, effect.Unadded,
		effect.Unplugs, effect.Lost, effect.Forgets, effect.ForgetsKeys, effect.Shrinks:
		return finding.DiskLoss
	case effect.Repeats, effect.Moves:
		return finding.Restart
	}
	switch u.Effect {
	case "":
		return finding.Unknown
	case schema.Noise, schema.Creation:
		return finding.Noise
	case schema.Replace:
		if u.Does == effect.Settles { // the VMID of a container that is imported
			return finding.ProviderOnly
		}
		return finding.Replace
	case schema.Migrate:
		return finding.Migrate
	case schema.PowerOff, schema.Move, schema.Power:
		return finding.Power
	}
	switch {
	case u.Reboots():
		return finding.Restart
	case r.onlyInState(u.Change):
		return finding.ProviderOnly
	case u.Waits():
		return finding.Pending
	case u.Does == effect.Settles || u.Effect == schema.ProviderOnly:
		return finding.ProviderOnly
	}
	return finding.Live
}

// blocks reports whether a verdict blocks whatever the spec says.
func blocks(k finding.Kind) bool {
	return slices.Contains([]finding.Kind{
		finding.DiskLoss, finding.Replace, finding.Destroy, finding.CreateOfExisting,
		finding.Gone, finding.Forget, finding.Unknown,
	}, k)
}

// property is the name of what changes, in the words of the spec.
func (r *resource) property(c tf.Change) string {
	if r.at.Type == finding.VM {
		return c.Name()
	}
	return c.Path
}

// cause says who made the plan differ from what is real.
func (r *resource) cause(u effect.Update) finding.Cause {
	if u.Present || u.Implied || u.SideEffect || u.Effect == schema.Noise {
		return finding.ByNobody
	}
	if r.applied == nil {
		return finding.NotKnown
	}
	at := u.Attribute()
	if u.Later && r.applied.Has(u.Attribute()) {
		return finding.ByHand
	}
	if u.Whole { // the provider computes values of a block that a spec does not say
		if r.applied.Has(at) == r.wanted.Has(at) {
			return finding.ByHand // also a disk that no state has
		}
		return finding.BySpec
	}
	applied, now, wanted := textAt(r.applied, at), textAt(r.real, at), textAt(r.wanted, at)
	switch {
	case applied == now && now == wanted:
		return finding.ByNobody
	case applied == now:
		return finding.BySpec
	case applied == wanted:
		return finding.ByHand
	}
	return finding.ByBoth
}

// textAt is the value of an attribute, or all values of a block.
func textAt(v tf.Values, at string) string {
	if !v.Has(at) {
		return v[at]
	}
	var out []string
	for key, text := range v {
		if strings.HasPrefix(key, at+".") && text != "" {
			out = append(out, key+"="+text)
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// unexplained adds the finding of an attribute whose new value is not known or not shown.
func (r *resource) unexplained(attribute string) {
	path, device := tf.Split(attribute)
	u := r.simple(tf.Change{Path: path, Device: device})
	f := r.begin(r.kind(u), u.Change, u.Effect)
	c := f.Change
	switch _, known := r.wanted[attribute]; {
	case r.replaced && !known:
		f.Because("%s is known after the apply", attribute)
		r.created(f)
		return
	case f.Kind == finding.Noise:
		f.Severity, f.Reason = finding.OK, finding.Why("read-again")
		f.Because("%s is known after the apply", attribute)
	case known:
		c.Sensitive = true
		f.Is(finding.Unknown, finding.Why("value-hidden")).Because("%s", attribute)
	default:
		f.Is(finding.Unknown, finding.Why("value-known-later")).Because("%s", attribute)
	}
	r.steps(f)
}

// created makes a finding about an attribute that the spec does not say, of a resource that
// the plan replaces: it follows from the creation.
func (r *resource) created(f *finding.Finding) {
	f.Kind, f.Severity, f.Change.Cause = finding.Noise, finding.OK, finding.ByNobody
	f.Reason = finding.Why("from-template")
}

// direction says who has what: Proxmox VE has 10240 MiB, specs/lab.yaml:14:20 says 8192 MiB.
func (r *resource) direction(f *finding.Finding, change tf.Change) string {
	c, has := f.Change, "Proxmox VE has "
	if r.at.Type == finding.Record {
		has = "the DNS server has "
	}
	if f.Kind == finding.ProviderOnly {
		has = "the state has "
	}
	spec := c.Spec
	if n, exact := r.node(change); exact && spec == "" && !change.Whole { // a plan of a container has false and 0 as nothing
		spec = n.Str()
	}
	is, says := apart(c.Real, spec, c.Unit)
	text := fmt.Sprintf("%s: %s%s", c.Property, has, is)
	switch {
	case c.At == nil:
		text += fmt.Sprintf(", the plan sets %s", says)
	case spec == "":
		text += fmt.Sprintf(", %s does not say it", c.At)
	case r.isDefault(change):
		text += fmt.Sprintf(", the default at %s is %s", c.At, says)
	default:
		text += fmt.Sprintf(", %s says %s", c.At, says)
	}
	if c.Cause == finding.ByBoth && !change.Whole {
		text += fmt.Sprintf("; the last apply left %s", shown(c.Applied, c.Unit))
	}
	return text
}
