package drift

import (
	"stackgen/guest"
	"stackgen/internal/finding"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// handOnly adds what was changed by hand since the last apply, and the plan leaves.
func (r *resource) handOnly() {
	if r.hand == nil || r.hand.Action == tf.Delete {
		if r.hand != nil && r.left {
			f := r.add(finding.Gone, finding.Why("unasked-gone"))
			f.Change.Cause = finding.ByHand
			f.Because("%s", r.change.Address)
		}
		return
	}
	after := tf.All(r.hand.After)
	now := after.Shown()
	if r.change.Type == guest.ContainerResource {
		for _, c := range r.hand.OfContainer() {
			if !r.covers(c.Attribute()) {
				r.changedByHand(c, now)
			}
		}
		return
	}
	for _, c := range tf.OfPlan(r.applied, now) {
		if !r.covers(c.Attribute()) {
			r.changedByHand(c, now)
		}
	}
	for _, attribute := range tf.Differing(r.last, after, nil) {
		if !r.covers(attribute) {
			path, device := tf.Split(attribute)
			r.changedByHand(tf.Change{Path: path, Device: device, Was: r.applied[attribute], Is: now[attribute]}, now)
		}
	}
}

// changedByHand adds the finding of a change by hand that an apply leaves as it is. It needs
// nothing, unless the VM is on another node now.
func (r *resource) changedByHand(c tf.Change, now tf.Values) {
	u := r.simple(c)
	if row := r.row(c); row != nil && u.Effect == schema.Noise && row.HCL != c.Path { // a list that is only read, as a whole
		c = tf.Change{Path: row.HCL, Was: textAt(r.applied, row.HCL), Is: textAt(now, row.HCL)}
	}
	f := r.begin(finding.Noise, c, u.Effect)
	own := f.Change
	own.Applied, own.Real, own.Cause = c.Was, c.Is, finding.ByHand
	f.Severity = finding.OK
	switch {
	case u.Effect == schema.Noise:
		own.Cause, f.Reason = finding.ByNobody, finding.Why("only-read")
	case u.Effect == schema.Migrate && r.vm != nil && r.vm.Node == own.Real:
		own.Spec, f.Reason = c.Is, finding.Why("migrated-as-spec")
	case u.Effect == schema.Migrate && r.ignored(c.Path):
		f.Kind, f.Severity = finding.Moved, finding.Outdated
		f.Reason = finding.Why("migrated-ignored")
		r.accepts(f, "to write the node into the spec")
	case r.ignored(c.Path):
		f.Reason = finding.Why("changed-ignored")
	case u.Effect == "":
		f.Is(finding.Unknown, finding.Why("changed-without-effect"))
	case !r.says(c) && own.Real != "" && !r.isUnset(c):
		f.Severity, f.Reason = finding.Outdated, finding.Why("changed-unsaid")
		r.accepts(f, "to keep it in the spec")
	default:
		own.Spec, f.Reason = c.Is, finding.Why("changed-as-spec")
	}
	if own.Real == "(secret)" || own.Applied == "(secret)" {
		own.Sensitive = true
		r.password(f)
	}
	f.Because("%s: the last apply left %s, now it is %s", own.Property, shown(own.Applied, own.Unit), shown(own.Real, own.Unit))
}

// isUnset reports whether a value is what the provider reads of a property that nothing sets.
func (r *resource) isUnset(c tf.Change) bool {
	row := r.row(c)
	if r.vm == nil || row == nil {
		return false
	}
	f := schema.FieldAt(r.vm.Kind, row.Name)
	return f != nil && f.Unset != "" && f.Unset == c.Is
}
