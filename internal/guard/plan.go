package guard

import (
	"fmt"
	"slices"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/effect"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
)

// JudgePlan refuses what the plan of one unit would do without a spec that asks
// for it: creating what exists, replacing, destroying, forgetting, and importing
// what is not ours for certain. Found are the findings of Judge for the same input.
// Updates are what the plan does to the VMs that it updates, by resource address.
func JudgePlan(in Input, found []finding.Finding, unit tf.Unit, plan *tf.Plan) (
	refused []finding.Finding, updates map[string][]effect.Update, err error,
) {
	if in.Lock.Stacks.Get(unit.Stack) == nil {
		return nil, nil, fmt.Errorf("the lock has no stack %s", unit.Stack)
	}
	if NotJudged(found, unit.Stack) {
		return nil, nil, nil // nothing is known about what the plan changes
	}
	p := newPlanJudge(in, found, unit, plan)
	changes := map[string]bool{}
	for _, c := range plan.Changes {
		changes[c.Address] = true
		if c.Managed {
			p.change(c)
		}
	}
	for _, d := range plan.Drift {
		if d.Managed && !changes[d.Address] {
			p.reads(d)
		}
	}
	if plan.Errored {
		p.errored()
	}
	p.space(plan)
	shareLines(in.Project, p.out)
	finding.Sort(p.out)
	return p.out, p.does, nil
}

// A planJudge holds one run of JudgePlan.
type planJudge struct {
	in      Input
	unit    tf.Unit
	lock    *lock.Stack
	entries map[string]*lock.VM
	found   map[foundKey]*finding.Finding // of Judge, about the unit
	gone    map[string]bool               // what the plan's refresh did not find
	does    map[string][]effect.Update    // the plan, by resource address
	index   index                         // the profiles only
	out     []finding.Finding

	downloads map[string]bool // templates whose images the plan creates, by their keys: that takes up to two hours

	borrowed map[int][]cluster.Borrowed // volumes that other guests have, by the VMID to which they belong
}

func newPlanJudge(in Input, found []finding.Finding, unit tf.Unit, plan *tf.Plan) *planJudge {
	l := in.Lock.Stacks.Get(unit.Stack)
	p := &planJudge{
		in: in, unit: unit, lock: l, entries: l.VMs.ByKey(),
		found: map[foundKey]*finding.Finding{}, gone: map[string]bool{}, does: map[string][]effect.Update{},
		borrowed: in.Inventory.Borrowed(), index: index{profiles: profilesOf(in.Project)}, downloads: map[string]bool{},
	}
	for _, c := range plan.Changes {
		if c.Type == guest.FileResource && c.Action == tf.Create {
			p.downloads[c.Key] = true
		}
	}
	for i := range slices.Backward(found) {
		if f := &found[i]; f.Stack == unit.Stack && f.Unit == unit.Unit {
			p.found[foundKeyOf(f)] = f
		}
	}
	for _, d := range plan.Drift {
		if d.Action == tf.Delete {
			p.gone[d.Address] = true
		}
	}
	return p
}

// change judges one change of the plan.
func (p *planJudge) change(c *tf.ResourceChange) {
	if p.sharesVolumes(c) || p.lends(c) {
		return
	}
	if c.Action != tf.NoOp && p.otherID(c) {
		return
	}
	switch c.Action {
	case tf.NoOp, tf.Update, tf.Read:
		if c.Imports {
			p.imports(c)
		}
		if c.Action == tf.Update || len(p.in.hiddenNodes(p.unit, c)) > 0 {
			p.updates(c)
		}
	case tf.Create:
		p.creates(c)
	case tf.Delete:
		p.deletes(c)
	case tf.Forget:
		p.forgets(c)
	case tf.Replace, tf.ReplaceKept:
		p.replaces(c)
	default:
		p.add(c).Is(finding.Unknown, finding.Why("unknown-action", c.Words)).
			Because("%s", c.Address).Next("do not apply it; use the version of OpenTofu that `engine.opentofu` names")
	}
}

// add begins the finding about a change.
func (p *planJudge) add(c *tf.ResourceChange) *finding.Finding {
	v := finding.Finding{Address: finding.Address{Stack: p.unit.Stack, Unit: p.unit.Unit, Type: finding.VM, Key: c.Key}}
	v.Resource = c.Address
	switch c.Type {
	case guest.PoolResource:
		v.Type = finding.Pool
	case guest.FileResource:
		v.Type = finding.Image
	case guest.RecordResource:
		v.Type = finding.Record
	}
	if v.Key == "" {
		v.Key = c.Address
	}
	if known := p.known(c); known != nil {
		v.Key, v.VMID, v.Node, v.Name = known.Key, known.VMID, known.Node, known.Name
	}
	p.out = append(p.out, v)
	return &p.out[len(p.out)-1]
}

// known is what Judge said of the same thing, or nil.
func (p *planJudge) known(c *tf.ResourceChange) *finding.Finding {
	return p.found[foundKey{p.unit.TypeOf(c.Type), c.Key}]
}

// A foundKey is what a finding is about, as a change of a plan names it.
type foundKey struct {
	of  finding.Type
	key string
}

func foundKeyOf(f *finding.Finding) foundKey {
	if f.Type == finding.Record {
		return foundKey{f.Type, f.Name}
	}
	return foundKey{f.Type, f.Key}
}

// judged reports whether a resource type is judged.
func judged(kind string) bool {
	return slices.Contains([]string{
		guest.VMResource, guest.ContainerResource, guest.PoolResource, guest.FileResource, guest.RecordResource,
	}, kind)
}

// unitAddress is that of a finding about a unit.
func unitAddress(u tf.Unit) finding.Address {
	return finding.Address{Stack: u.Stack, Unit: u.Unit, Type: finding.Unit}
}
