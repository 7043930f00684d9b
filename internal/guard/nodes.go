package guard

import (
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/effect"
	"stackgen/internal/finding"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// HiddenNodes are the VMs to which a plan of their unit does not add the NUMA nodes that
// somebody removed. The plan after one that has read them does.
func HiddenNodes(in Input, u tf.Unit, plan *tf.Plan) []tf.Summary {
	var out []tf.Summary
	for _, r := range plan.Changes {
		if len(in.hiddenNodes(u, r)) > 0 {
			c := r.Summary(u)
			c.Action = tf.Update
			out = append(out, c)
		}
	}
	return out
}

// hiddenNodes are the changes of NUMA nodes that the plan of a VM does not show.
func (in *Input) hiddenNodes(u tf.Unit, c *tf.ResourceChange) []tf.Change {
	if c.Type != guest.VMResource || c.Action != tf.NoOp && c.Action != tf.Update {
		return nil
	}
	v := in.spec(u.Stack, c.Key)
	ignores := func(p schema.Profile) bool { return p.Name == v.Profile && p.Ignores(tf.NUMANodes) }
	if v == nil || slices.ContainsFunc(in.Project.Profiles, ignores) {
		return nil
	}
	return effect.HiddenNodes(v.Values.Get(guest.NUMANodes).List(), tf.Flatten(c.Before), tf.Flatten(c.After))
}

// SayHidden says of updates that no plan shows when they are made.
func SayHidden(f *finding.Finding, updates []effect.Update) {
	var names []string
	for _, u := range updates {
		if u.Later && u.Path == tf.NUMANodes {
			names = append(names, u.Name())
		}
	}
	if len(names) > 0 {
		f.Because("no plan adds %s before the state says that it is missing: `stackgen apply` reads it into the state, and plans again",
			strings.Join(names, ", "))
	}
}
