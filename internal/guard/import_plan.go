package guard

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/finding"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// An ImportPlan is what a plan with an import file would do.
type ImportPlan struct {
	Unit    tf.Unit
	Failed  error // why there is no plan
	Want    int   // the imports of the file
	Imports int
	Counts  map[tf.Action]int
	Changes []string // a line for each change
	Settles int      // updates that set only what an import cannot read
	errored bool
}

// ReadImportPlan counts what a plan would do. settling are the attributes that settling
// VMs get, by their keys.
func ReadImportPlan(u tf.Unit, plan *tf.Plan, want int, settling map[string][]string) ImportPlan {
	p := ImportPlan{Unit: u, Want: want, Counts: map[tf.Action]int{}, errored: plan.Errored}
	for _, c := range plan.Changes {
		if !c.Managed {
			continue
		}
		if c.Imports {
			p.Imports++
		}
		if c.Action == tf.NoOp {
			continue
		}
		changed := changedAttributes(c)
		if c.Action == tf.Update && c.Type == guest.FileResource { // what makes the provider keep the file, in the state only
			p.Settles++
			continue
		}
		if c.Action == tf.Update && c.Type == guest.ContainerResource && containerSettles(c) {
			p.Settles++
			continue
		}
		if c.Action == tf.Update && tf.IsGuest(c.Type) && settlesOnly(c.Type, changed, settling[c.Key]) {
			p.Settles++
			continue
		}
		for a := range strings.SplitSeq(c.Words, "+") {
			p.Counts[tf.Action(a)]++
		}
		p.Changes = append(p.Changes, fmt.Sprintf("%s %s: %s", strings.ReplaceAll(c.Words, "+", " and "), c.Address, strings.Join(changed, ", ")))
	}
	return p
}

// Settling are the attributes that the next apply sets of the settling VMs of a unit,
// by their keys.
func Settling(u tf.Unit, verdicts []finding.Finding) map[string][]string {
	out := map[string][]string{}
	for _, v := range verdicts {
		if v.Stack == u.Stack && v.Unit == u.Unit && v.Type == finding.VM && len(v.Settles) > 0 {
			out[v.Key] = v.Settles
		}
	}
	return out
}

// settlesOnly reports whether nothing is changed but what settles, and what the
// provider reads again after any change.
func settlesOnly(resource string, changed, settling []string) bool {
	return len(settling) > 0 && !slices.ContainsFunc(changed, func(name string) bool {
		row := schema.ResourceAttribute(resource, name)
		return !slices.Contains(settling, name) && (row == nil || row.Change != schema.Noise)
	})
}

// Exact reports whether the plan does all the imports and nothing else.
func (p *ImportPlan) Exact() bool {
	return p.Failed == nil && p.Imports == p.Want && len(p.Changes) == 0 && !p.errored
}

// changedAttributes are the names of the attributes that a change changes. Their
// values may be secret.
func changedAttributes(c *tf.ResourceChange) []string {
	before, after := c.Before, c.After
	if before == nil || after == nil {
		return []string{"all of it"}
	}
	var out []string
	for name := range after {
		if !reflect.DeepEqual(before[name], after[name]) {
			out = append(out, name)
		}
	}
	for name := range before {
		if _, still := after[name]; !still {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// AddressArgs are plan arguments for a unit of records whose VMs are in no state
// yet. Without them, the plan is made with mock addresses, and existing records
// seem to change. They are nil if an address is unknown.
func AddressArgs(u tf.Unit, verdicts []finding.Finding) []string {
	known := map[string]string{}
	for _, v := range verdicts {
		if v.Stack != u.Stack || v.Unit != u.Unit || v.Owner == "" {
			continue
		}
		if v.IPv4 == "" {
			return nil
		}
		known[v.Owner] = v.IPv4
	}
	if len(known) == 0 {
		return nil
	}
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(known)) {
		pairs = append(pairs, fmt.Sprintf("%q=%q", key, known[key]))
	}
	return []string{"-var", "addresses={" + strings.Join(pairs, ",") + "}"}
}
