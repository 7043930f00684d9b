package drift

import (
	"slices"
	"strings"

	"stackgen/internal/effect"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/hardware"
	"stackgen/internal/lock"
	"stackgen/internal/shell"
	"stackgen/internal/tf"
)

// An Input is everything that differences are explained from.
type Input struct {
	guard.Input
	Found   []finding.Finding // by guard, plans included
	Plans   map[tf.Unit]*tf.Plan
	Updates map[tf.Unit]map[string][]effect.Update // what each plan does to the VMs that it updates, by resource address
	Older   map[tf.Unit][]string                   // VMs and pools of which given plans have other values than the specs, by their keys
	Units   []tf.Unit                              // those of the plans, in order
	Failed  map[tf.Unit]string                     // units that could not be planned, and why
}

// NotGiven is why a unit has no plan if others were given.
const NotGiven = "no plan of it was given"

// Explain returns a finding for each difference between specs, states, plans and cluster,
// in a total order. There is none where an apply has nothing to do and nothing changed
// since the last one.
func Explain(in Input) []finding.Finding {
	x := explainPlans(in)
	x.unplanned()
	x.unread()
	for _, f := range Older(in) {
		f.Change = &finding.Change{Cause: finding.NotKnown}
		x.out = append(x.out, f)
	}
	x.fromGuard()
	x.blockedFirst()
	finding.Sort(x.out)
	return x.out
}

// Older returns a finding for each VM and pool of which a plan has other values than the specs:
// the plan is older than these, or of another commit. Nothing says of a plan which cluster it
// was made from.
func Older(in Input) []finding.Finding {
	x := &explainer{Input: in}
	var out []finding.Finding
	for _, u := range in.Units {
		of := finding.VM
		if !u.HasGuests() {
			of = finding.Pool
		}
		for _, key := range in.Older[u] {
			f := finding.Finding{Address: finding.Address{Stack: u.Stack, Unit: u.Unit, Type: of, Key: key}}
			for i := range in.Found {
				if known := &in.Found[i]; known.Address == f.Address {
					f.VMID, f.Node, f.Name = known.VMID, known.Node, known.Name
				}
			}
			f.Is(finding.Unknown, finding.Why("plan-out-of-date"))
			out = append(out, *f.Next("plan again, or let stackgen plan", command("stackgen drift", x.specOf(u.Stack))))
		}
	}
	return out
}

// explainPlans explains the changes of the plans.
func explainPlans(in Input) *explainer {
	x := &explainer{
		Input:     in,
		about:     map[finding.Address]*finding.Finding{},
		explained: map[finding.Address]bool{},
		templates: map[int]*hardware.Reading{},
	}
	for i := range in.Found {
		f := &in.Found[i]
		x.about[placeOf(f)] = f
	}
	x.plans()
	return x
}

// An explainer holds one run of Explain.
type explainer struct {
	Input
	about     map[finding.Address]*finding.Finding // what guard says about a VM, pool or record
	explained map[finding.Address]bool             // that has a finding
	templates map[int]*hardware.Reading            // that VMs were cloned from, once they are needed
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

// plans explains the plans of all units.
func (x *explainer) plans() {
	for _, u := range x.Units {
		if plan := x.Plans[u]; plan != nil {
			x.plan(u, plan)
		}
	}
}

// plan explains the plan of one unit.
func (x *explainer) plan(u tf.Unit, plan *tf.Plan) {
	byHand := map[string]*tf.ResourceChange{}
	for _, d := range plan.Drift {
		byHand[d.Address] = d
	}
	seen := map[string]bool{}
	for _, c := range plan.Changes {
		if !x.understood(u, c) || !c.Managed {
			continue
		}
		r := x.resource(u, c, byHand[c.Address])
		r.updates = x.Updates[u][c.Address]
		if c.Deposed == "" {
			seen[c.Address] = true
		}
		r.explain()
	}
	for _, d := range plan.Drift {
		if !seen[d.Address] {
			r := x.resource(u, d, d)
			r.left = true
			r.explain()
		}
	}
	for _, r := range x.State[u].Resources {
		had := func(c *tf.ResourceChange) bool { return c.Previous == r.Address }
		if !seen[r.Address] && !plan.Errored && byHand[r.Address] == nil && !slices.ContainsFunc(plan.Changes, had) {
			x.unit(u, finding.Blocked, finding.Why("plan-of-part")).Because("%s", r.Address)
		}
	}
	x.incomplete(u, plan)
	x.outputs(u, plan)
}

// understood reports whether an entry of a plan is one that stackgen can explain, or a
// reading that changes nothing. Anything else is a finding.
func (x *explainer) understood(u tf.Unit, c *tf.ResourceChange) bool {
	if c.Managed && c.Action != tf.Read || !c.Managed && (c.Action == tf.Read || c.Action == tf.NoOp) {
		return true
	}
	x.unit(u, finding.Blocked, finding.Why("unknown-entry")).Because("%s", c.Address)
	return false
}

// incomplete reports what keeps a plan from saying everything.
func (x *explainer) incomplete(u tf.Unit, plan *tf.Plan) {
	if n := plan.Deferred; n > 0 {
		x.unit(u, finding.Blocked, finding.Why("plan-deferred")).Because("%d deferred changes", n)
	}
	if n := plan.Invoked; n > 0 {
		x.unit(u, finding.Blocked, finding.Why("plan-runs-actions")).Because("%d actions", n)
	}
	if plan.Partial && !plan.Errored && plan.Deferred == 0 {
		x.unit(u, finding.Blocked, finding.Why("plan-targeted")).Next("plan again, without -target")
	}
	for _, check := range plan.FailedChecks {
		x.unit(u, finding.Blocked, finding.Why("check-failed")).Because("%s", check)
	}
	if plan.Errored {
		f := x.unit(u, finding.Failed, finding.Why("plan-failed"))
		f.Next("read its errors", lock.InUnit(u.Stack, u.Unit, "terragrunt plan"))
	}
}

// unit begins a finding about a unit as a whole.
func (x *explainer) unit(u tf.Unit, severity finding.Severity, reason finding.Reason) *finding.Finding {
	x.out = append(x.out, finding.Finding{
		Address:  finding.Address{Stack: u.Stack, Unit: u.Unit, Type: finding.Unit},
		Kind:     finding.Unknown,
		Severity: severity,
		Reason:   reason,
		Object:   finding.Object{Change: &finding.Change{Cause: finding.NotKnown}},
	})
	x.explained[x.out[len(x.out)-1].Address] = true
	return &x.out[len(x.out)-1]
}

// outputs reports the outputs that a plan changes, where nothing else changes them.
func (x *explainer) outputs(u tf.Unit, plan *tf.Plan) {
	names := plan.ChangedOutputs()
	if len(names) == 0 || len(tf.Summaries(u, plan)) > 0 {
		return
	}
	f := x.unit(u, finding.Outdated, finding.Why("writes-outputs"))
	f.Kind, f.Change.Cause = finding.Noise, finding.ByNobody
	f.Change.Attribute = "output." + strings.Join(names, ", output.")
	f.Because("outputs: %s", strings.Join(names, ", "))
	f.Next("an apply records it", x.apply(u.Stack))
}

// unplanned reports the units that could not be planned.
func (x *explainer) unplanned() {
	for _, u := range x.Units {
		if why, failed := x.Failed[u]; failed {
			if why == NotGiven {
				x.unit(u, finding.Failed, finding.Why("plan-not-given")).
					Next("give the plans of all units, or let stackgen plan", command("stackgen drift", x.specOf(u.Stack)))
				continue
			}
			f := Unplannable(u, why)
			f.Change = &finding.Change{Cause: finding.NotKnown}
			x.out, x.explained[f.Address] = append(x.out, f), true
		}
	}
}

// Unplannable is a unit that could not be planned, and why.
func Unplannable(u tf.Unit, why string) finding.Finding {
	f := finding.Finding{
		Address:  finding.Address{Stack: u.Stack, Unit: u.Unit, Type: finding.Unit},
		Kind:     finding.Unknown,
		Severity: finding.Failed,
		Reason:   finding.Why("unplannable"),
	}
	f.Because("%s", why)
	return *f.Next("read all of its errors", lock.InUnit(u.Stack, u.Unit, "terragrunt plan"))
}

// fromGuard reports what guard found out and no plan shows: what stops an apply, and what waits
// for a restart or was migrated.
func (x *explainer) fromGuard() {
	for i := range x.Found {
		f := &x.Found[i]
		switch at := placeOf(f); {
		case f.Stops() && !x.explained[at] && f.Kind != finding.Busy:
			own := *f
			if !driftKind(f.Kind) {
				own.Kind = finding.Unknown
			}
			own.Change = &finding.Change{Cause: finding.NotKnown}
			own.Evidence = append([]finding.Evidence{{Text: "preflight says " + string(f.Kind)}}, f.Evidence...)
			x.out = append(x.out, own)
		case len(f.Pending) > 0 && !f.Stops():
			x.waits(f)
		}
		if f.MadeFrom != 0 && !f.Stops() {
			x.oldTemplate(f)
		}
		if !f.Stops() {
			x.madeOtherwise(f)
		}
	}
}

// driftKind reports whether a kind of guard is a verdict of drift, too.
func driftKind(k finding.Kind) bool {
	return slices.Contains([]finding.Kind{finding.Create, finding.Gone, finding.Moved, finding.Migrate, finding.Pending, finding.Unknown}, k)
}

// apply is the line that applies a stack.
func (x *explainer) apply(stack string) string { return command("stackgen apply", x.specOf(stack)) }

// specOf is the path of the spec of a stack, for a command; empty if none is known.
func (x *explainer) specOf(stack string) string {
	for _, s := range x.Project.Stacks {
		if s.Name == stack {
			return s.Spec
		}
	}
	return ""
}

// command is a command for the spec at a path, or for all specs if that is empty.
func command(name, path string) string {
	if path == "" {
		return name
	}
	return name + " " + shell.Path(path)
}
