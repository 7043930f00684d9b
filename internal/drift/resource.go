package drift

import (
	"reflect"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/effect"
	"stackgen/internal/finding"
	"stackgen/internal/hardware"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// A resource is one resource of a plan.
type resource struct {
	*explainer
	at      finding.Address
	change  *tf.ResourceChange
	hand    *tf.ResourceChange // what the refresh changed of it, or nil
	left    bool               // the plan has nothing to do with it but the refresh
	updates []effect.Update    // of a VM
	verdict *finding.Finding   // of guard, or nil
	vm      *schema.VM         // in its spec, or nil
	profile *schema.Profile    // of the VM
	applied tf.Values          // that the last apply left; nil if that is not known
	real    tf.Values          // that the refresh has read
	wanted  tf.Values          // that the plan sets
	before  tf.Values          // real, secrets included
	after   tf.Values          // wanted, secrets included
	last    tf.Values          // applied, secrets included, of what the refresh changed
	covered []string           // attributes that have a finding
	reading *hardware.Reading  // of the guest, once it is needed

	replaced bool // the plan creates another one
}

func (x *explainer) resource(u tf.Unit, c, hand *tf.ResourceChange) *resource {
	r := &resource{explainer: x, change: c, hand: hand}
	r.at = finding.Address{Stack: u.Stack, Unit: u.Unit, Type: u.TypeOf(c.Type), Key: c.Key}
	if r.at.Type == "" {
		r.at.Type, r.at.Key = finding.Unit, ""
	}
	r.verdict = x.about[r.at]
	for _, s := range x.Project.Stacks {
		if s.Name != u.Stack {
			continue
		}
		for _, v := range s.VMs {
			if r.at.Type == finding.VM && v.Key == r.at.Key {
				r.vm = v
			}
		}
	}
	for i := range x.Project.Profiles {
		if p := &x.Project.Profiles[i]; r.vm != nil && p.Name == r.vm.Profile {
			r.profile = p.For(r.vm.Kind)
		}
	}
	if r.vm != nil && r.vm.Replica != nil {
		r.profile = schema.TemplateProfile()
	}
	r.before, r.after = tf.All(c.Before), tf.All(c.After)
	r.real, r.wanted = r.before.Shown(), r.after.Shown()
	if hand != nil {
		r.last = tf.All(hand.Before)
		r.applied = r.last.Shown()
	} else if !c.Imports && c.Before != nil {
		r.applied = r.real
	}
	return r
}

// unplannedVM is the VM that a finding is about, without a plan of it.
func (x *explainer) unplannedVM(f *finding.Finding) *resource {
	c := &tf.ResourceChange{Address: f.Resource, Type: guest.KindOfUnit(f.Unit).Resource(), Key: f.Key}
	return x.resource(tf.Unit{Stack: f.Stack, Unit: f.Unit}, c, nil)
}

// explain adds the findings of a resource.
func (r *resource) explain() {
	from := len(r.out)
	switch a := r.change.Action; {
	case r.left:
		r.handOnly()
	case a == tf.Create:
		r.creates()
	case a == tf.Delete:
		r.whole(finding.Destroy, finding.Why("destroyed-by-plan"))
	case a == tf.Forget:
		r.whole(finding.Forget, finding.Why("forgotten-by-plan"))
	case a == tf.NoOp, a == tf.Update, a == tf.Read:
		r.kept()
	case a == tf.Replace, a == tf.ReplaceKept:
		r.replaces()
	default:
		words := strings.ReplaceAll(r.change.Words, "+", " ")
		r.whole(finding.Unknown, finding.Why("unknown-action", "["+words+"]"))
		r.out[from].Severity, r.out[from].Change.Cause = finding.Blocked, finding.NotKnown
	}
	r.block(r.out[from:])
	if len(r.out) > from && r.verdict != nil {
		r.explained[placeOf(r.verdict)] = true
	}
}

// block makes the findings block if guard refuses the change for a reason that no
// attribute has: the VM is not ours, it is busy, or a permission is missing. The first of
// them has what guard says.
func (r *resource) block(own []finding.Finding) {
	if r.verdict == nil || !r.verdict.Stops() || len(own) == 0 {
		return
	}
	if r.verdict.Case == finding.OtherGuest && r.at.Type == finding.VM && r.change.Action != tf.Create && !r.change.Imports {
		r.stranger(own)
		return
	}
	first := slices.IndexFunc(own, func(f finding.Finding) bool { return f.Severity == finding.Blocked })
	if first < 0 {
		for i := range own {
			own[i].Severity = finding.Blocked
			if r.verdict.Kind != finding.Moved && r.verdict.Kind != finding.CannotCreate && own[i].Kind != finding.Noise {
				own[i].Kind = finding.Unknown
			}
			own[i].Cite(r.verdict.Reason)
		}
		first = 0
	}
	f := &own[first]
	for _, e := range r.verdict.Evidence {
		ofUpdate := slices.ContainsFunc(r.verdict.Updates, func(u finding.Update) bool { return u.Says == e.Text }) // f says it itself
		if r.verdict.Kind != finding.WouldHarm && !slices.ContainsFunc(f.Evidence, e.Same) && !ofUpdate {
			f.Evidence = append(f.Evidence, e)
		}
	}
	f.Steps = slices.Clone(r.verdict.Steps)
	if f.Change.Cause == finding.ByHand || f.Kind == finding.DiskLoss && f.Change.Cause != finding.BySpec {
		r.accepts(f, "or, to keep it, let stackgen write it into the spec")
	}
}

// stranger makes the findings say that something else has the VMID: what differs is no
// change of the VM, and an apply must not make it like the VM.
func (r *resource) stranger(own []finding.Finding) {
	for i := range own {
		f := &own[i]
		f.Steps = nil // its values are those of something else
		if f.Kind == finding.Noise {
			continue
		}
		f.Kind, f.Severity = finding.Unknown, finding.Blocked
		f.Reason = finding.Why("vmid-of-other")
	}
	f := r.add(finding.Unknown, r.verdict.Reason)
	f.Severity, f.Change.Cause = finding.Blocked, finding.ByHand
	f.Evidence, f.Steps = slices.Clone(r.verdict.Evidence), slices.Clone(r.verdict.Steps)
}

// add begins a finding about an attribute; nothing of it is set that depends on that.
func (r *resource) add(kind finding.Kind, reason finding.Reason) *finding.Finding {
	f := finding.Finding{Address: r.at, Kind: kind, Severity: finding.Outdated, Reason: reason}
	f.Resource = r.change.Address
	if r.verdict != nil {
		f.Key, f.VMID, f.Node, f.Name = r.verdict.Key, r.verdict.VMID, r.verdict.Node, r.verdict.Name
	} else if f.Key == "" {
		f.Key = r.change.Address
	}
	f.Change = &finding.Change{Cause: finding.NotKnown}
	r.out = append(r.out, f)
	return &r.out[len(r.out)-1]
}

// whole is a finding about the resource as a whole. It is safe if guard permits it.
func (r *resource) whole(kind finding.Kind, reason finding.Reason) *finding.Finding {
	f := r.add(kind, reason)
	f.Because("%s", r.change.Address)
	f.Change.Cause = finding.BySpec
	if !r.permits(kind) {
		f.Severity = finding.Blocked
		r.stops(f)
		return f
	}
	f.Next("an apply does it", r.apply(r.at.Stack))
	if r.verdict != nil && r.verdict.Reason.Code != "" {
		f.Cite(r.verdict.Reason)
	}
	return f
}

// permits reports whether guard permits a change of the resource as a whole. A record
// without a verdict may change, but not be created.
func (r *resource) permits(kind finding.Kind) bool {
	record := r.at.Type == finding.Record
	switch {
	case r.verdict == nil:
		return record && kind != finding.Create
	case r.verdict.Stops():
		return false
	}
	return record || kind != finding.Destroy || r.verdict.Kind == finding.Retiring
}

// creates is a resource that the plan creates.
func (r *resource) creates() {
	switch {
	case r.verdict != nil && r.verdict.Case == finding.StaleNode:
		f := r.add(finding.Moved, r.verdict.Reason)
		f.Severity, f.Change.Cause = finding.Blocked, finding.ByHand
		f.Because("%s", r.change.Address)
	case r.hand != nil && r.hand.Action == tf.Delete:
		f := r.add(finding.Gone, finding.Why("gone-by-hand"))
		f.Severity, f.Change.Cause = finding.Blocked, finding.ByHand
		f.Because("%s", r.change.Address)
		if r.at.Type == finding.Record && (r.verdict == nil || !r.verdict.Stops()) {
			f.Severity, f.Reason = finding.Outdated, finding.Why("record-removed")
			f.Next("to publish it again, apply", r.apply(r.at.Stack))
		}
	case r.verdict != nil && (r.verdict.Kind == finding.Create || r.verdict.Kind == finding.CannotCreate):
		r.whole(finding.Create, finding.Why("not-created-yet"))
	case r.verdict == nil, r.verdict.Reason.Code == "plan-creates-unasked":
		r.whole(finding.Create, finding.Why("plan-creates-unasked"))
	case r.verdict.Kind == finding.Unknown:
		r.whole(finding.Unknown, r.verdict.Reason).Severity = finding.Blocked
	case r.verdict.Kind == finding.NotFound:
		r.whole(finding.Unknown, finding.Why("would-create-empty").Of(r.verdict.Reason)).Severity = finding.Blocked
	default:
		r.whole(finding.CreateOfExisting, finding.Why("creates-existing")).Severity = finding.Blocked
	}
}

// kept is a resource that the plan imports, moves, updates or leaves as it is.
func (r *resource) kept() {
	c, from := r.change, len(r.out)
	if c.Imports {
		r.whole(finding.Import, finding.Why("imported")).Because("imported as %s", c.ImportID)
	}
	if c.Previous != "" && c.Previous != c.Address {
		r.whole(finding.Moved, finding.Why("new-address")).
			Because("%s was %s", c.Address, c.Previous)
	}
	if c.Action == tf.Update || len(r.updates) > 0 {
		if r.attributes(); len(r.out) == from && !reflect.DeepEqual(c.Before, c.After) {
			r.onlyState()
		}
	}
	r.handOnly()
}

// onlyState adds an update of which no value differs: it removes an empty block, such as
// that of a startup order that somebody has removed.
func (r *resource) onlyState() {
	f := r.add(finding.ProviderOnly, finding.Why("empty-block"))
	f.Because("%s", r.change.Address)
	f.Change.Cause = finding.ByNobody
	f.Next("an apply sets it", r.apply(r.at.Stack))
}

// replaces is a resource that the plan destroys and creates again. What forces that is a
// finding each, and so is everything else that changes.
func (r *resource) replaces() {
	code := finding.Code("replaced")
	switch {
	case r.change.Tainted:
		code = "replaced-tainted"
	case r.change.Asked:
		code = "replaced-by-request"
	}
	r.replaced = true
	if r.change.Action == tf.ReplaceKept {
		code = "replaced-unmanaged"
	}
	paths := r.change.Forces
	f := r.whole(finding.Replace, finding.Why(code))
	if r.change.Tainted {
		f.Change.Cause = finding.ByNobody // the mark is in the state only
	}
	if r.at.Type == finding.VM || r.change.Action == tf.ReplaceKept {
		f.Severity = finding.Blocked
	}
	if len(paths) > 0 {
		f.Because("because of %s", strings.Join(paths, " and "))
		f.Change.Attribute = strings.Join(paths, ", ")
	}
	r.attributes()
}

// ignored reports whether the profile of a VM ignores changes of an attribute.
func (r *resource) ignored(attribute string) bool {
	top, _, _ := strings.Cut(attribute, ".")
	return r.profile != nil && r.profile.Ignores(top)
}
