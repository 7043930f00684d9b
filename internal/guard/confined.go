package guard

import (
	"slices"

	"stackgen/guest"
	"stackgen/internal/finding"
	"stackgen/internal/tf"
)

// Confined reports whether a plan changes nothing but DNS records that it creates, updates
// or imports. What is wrong with VMs that these records do not belong to is no reason to
// refuse it: after a VM could not be created, the records of the others are published. What its
// refresh found changed of guests, an apply of it writes into the state, also where that removes them.
func Confined(plan *tf.Plan) bool {
	if slices.ContainsFunc(plan.Drift, func(d *tf.ResourceChange) bool { return d.Managed && tf.IsGuest(d.Type) }) {
		return false
	}
	for _, c := range plan.Changes {
		if !c.Managed || c.Action == tf.NoOp && !c.Imports {
			continue
		}
		if c.Type != guest.RecordResource || c.Action != tf.NoOp && c.Action != tf.Create && c.Action != tf.Update {
			return false
		}
	}
	return !plan.Errored
}

// Concerning are the findings that a confined plan of a unit depends on: about the stack,
// the unit, its records and their VMs.
func Concerning(found []finding.Finding, u tf.Unit) []finding.Finding {
	owners := map[string]bool{}
	for _, f := range found {
		if f.Stack == u.Stack && f.Unit == u.Unit && f.Owner != "" {
			owners[f.Owner] = true
		}
	}
	var out []finding.Finding
	for _, f := range found {
		switch {
		case f.Stack != u.Stack:
		case f.Type == finding.Stack, f.Type == finding.VM && owners[f.Key], f.Type != finding.VM && f.Unit == u.Unit:
			out = append(out, f)
		}
	}
	return out
}
