package check

import (
	"context"
	"strings"

	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
)

// EmptyPlans are the VMs that an apply would leave as they are, and why it would not leave
// the others.
type EmptyPlans struct {
	empty map[string]bool
	why   map[string]reasonNot // by STACK/KEY, or by stack for all of its VMs
}

type reasonNot struct{ text, fix string }

// WhyNot says why the plan of a VM is not certainly empty, and what to do; nothing if it is.
func (e *EmptyPlans) WhyNot(stack, key string) (text, fix string) {
	name := stack + "/" + key
	for _, at := range []string{stack, name} {
		if why, has := e.why[at]; has {
			return why.text, why.fix
		}
	}
	if !e.empty[name] {
		return "it is not in the plan", "stackgen preflight"
	}
	return "", ""
}

// EmptyPlans reads the cluster and the states, and plans the selected stacks. It writes no
// state and takes no lock.
func (s *Session) EmptyPlans(ctx context.Context) (*EmptyPlans, error) {
	r, err := s.Run(ctx, Config{Plans: MadePlans, Imports: true, Unrendered: finding.Blocked, Rendered: true, Locks: true})
	if err != nil {
		return nil, err
	}
	out := &EmptyPlans{empty: map[string]bool{}, why: map[string]reasonNot{}}
	for i := range r.Unrendered {
		out.why[r.Unrendered[i].Stack] = reasonNot{"its stack is not rendered as its spec says", "stackgen render"}
	}
	for i := range r.Found {
		if f := &r.Found[i]; f.Stops() {
			out.stopped(f)
		}
	}
	for u, why := range r.Failed {
		if first, _, _ := strings.Cut(strings.TrimSpace(why), "\n"); lock.HasGuests(u.Unit) {
			out.why[u.Stack] = reasonNot{"its stack cannot be planned: " + first, "stackgen drift"}
		}
	}
	for u, plan := range r.Plans {
		out.plan(u, plan)
	}
	return out, nil
}

// stopped adds a finding that stops an apply. One about a whole unit or stack stops all VMs.
func (e *EmptyPlans) stopped(f *finding.Finding) {
	at := f.Stack
	if f.Type == finding.VM {
		at += "/" + f.Key
	} else if f.Type != finding.Stack && !lock.HasGuests(f.Unit) {
		return
	}
	e.why[at] = reasonNot{"preflight says " + string(f.Kind), "stackgen preflight"}
}

// plan adds what a plan does with the VMs of a unit.
func (e *EmptyPlans) plan(u tf.Unit, plan *tf.Plan) {
	for _, c := range plan.Changes {
		at := u.Stack + "/" + c.Key
		switch {
		case !c.Managed || u.TypeOf(c.Type) != finding.VM:
		case c.Action != tf.NoOp || c.Imports || c.Previous != "" || c.Deposed != "":
			e.why[at] = reasonNot{"its plan is not empty", "stackgen drift"}
		case !plan.Errored && !plan.Partial && plan.Deferred == 0:
			e.empty[at] = true
		}
	}
}
