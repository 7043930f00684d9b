package deploy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/check"
	"stackgen/internal/finding"
	"stackgen/internal/natural"
	"stackgen/internal/progress"
	"stackgen/internal/report"
	"stackgen/internal/tf"
)

// An announcement is what a person confirms: what the plans do, and what is done with the
// records that wait for the address of a VM.
type announcement struct {
	changes []tf.Summary
	outputs []tf.Unit
	waiting map[tf.Unit][]finding.Finding // records, by their units
	starts  []starting
	found   map[tf.Unit]map[string]*finding.Finding
}

func announce(found []finding.Finding, all []*plans) *announcement {
	a := &announcement{waiting: map[tf.Unit][]finding.Finding{}, found: map[tf.Unit]map[string]*finding.Finding{}}
	for _, p := range all {
		a.changes = append(a.changes, p.withHidden()...)
		for _, u := range p.outputs() {
			a.outputs = append(a.outputs, tf.Unit{Stack: p.stack.name, Unit: u})
		}
		for _, f := range found {
			u := tf.Unit{Stack: f.Stack, Unit: f.Unit}
			if f.Stack == p.stack.name && f.Type == finding.Record &&
				(slices.Contains(p.without, f.Unit) || f.NoAddress && f.Kind != finding.Managed) {
				a.waiting[u] = append(a.waiting[u], f)
			}
		}
	}
	for i := range found {
		f := &found[i]
		u := tf.Unit{Stack: f.Stack, Unit: f.Unit}
		if a.found[u] == nil {
			a.found[u] = map[string]*finding.Finding{}
		}
		key := f.Key
		if f.Type == finding.Record {
			key = f.Name
		}
		a.found[u][string(f.Type)+" "+key] = f
	}
	return a
}

// nothing reports whether there is nothing to do.
func (a *announcement) nothing() bool {
	records := slices.ContainsFunc(a.records(), func(f finding.Finding) bool { return !f.NoAddress })
	return len(a.changes) == 0 && len(a.outputs) == 0 && len(a.starts) == 0 && !records
}

// A starting is a guest that a run has left off, and that is started.
type starting struct {
	finding.Finding
	stopped bool // by a run that did not start it again; otherwise one that was interrupted has made it
}

// startsOf are the guests of a stack that are started.
func startsOf(off []finding.Finding, stopped check.Stopped) []starting {
	var out []starting
	for _, f := range off {
		out = append(out, starting{f, stopped[f.Key] == f.VMID})
	}
	return out
}

// action is the row of the guest in the summary.
func (s *starting) action() report.Action {
	detail := "made by a run that was interrupted"
	if s.stopped {
		detail = "stopped by a run that did not start it again"
	}
	return report.Action{Word: "start", Stack: s.Stack, What: s.Word(), Name: s.Key, Detail: detail}
}

// target is what the start is about, in the view.
func (s *starting) target() progress.Target {
	c := tf.Summary{Unit: tf.Unit{Stack: s.Stack, Unit: s.Unit}, Key: s.Key, VMID: s.VMID, Node: s.Node}
	return targetOf(progress.VM, c)
}

// starting reports whether a VM of a stack is started.
func (a *announcement) starting(stack string) bool {
	return slices.ContainsFunc(a.starts, func(s starting) bool { return s.Stack == stack })
}

// records are the records that wait and that an apply makes, changes or removes once
// their VM has an address.
func (a *announcement) records() []finding.Finding {
	var out []finding.Finding
	for _, list := range a.waiting {
		for _, f := range list {
			if lateWord(&f) != "" {
				out = append(out, f)
			}
		}
	}
	finding.Sort(out)
	return out
}

// lateWord is what is done with a record that waits.
func lateWord(f *finding.Finding) string {
	switch {
	case f.NoAddress && f.Kind == finding.Managed:
		return ""
	case f.Kind == finding.Create:
		return "create"
	case f.Kind == finding.Adopt:
		return "import"
	case f.Kind == finding.Retiring:
		return "destroy"
	case f.Kind == finding.Managed:
		return "correct"
	}
	return ""
}

// later are the units of a stack whose records wait.
func (a *announcement) later(stack string) []string {
	var out []string
	for u := range a.waiting {
		if u.Stack == stack {
			out = append(out, u.Unit)
		}
	}
	slices.Sort(out)
	return out
}

// allows reports whether a change of a record was announced.
func (a *announcement) allows(c tf.Summary) bool {
	if c.Type != finding.Record {
		return false
	}
	if slices.Contains(a.changes, c) { // its unit was not run, because a VM failed
		return true
	}
	for _, f := range a.waiting[c.Unit] {
		if f.Name != c.Key && f.Resource != c.Address {
			continue
		}
		switch c.Action {
		case tf.Create:
			return f.Kind == finding.Create
		case tf.NoOp, tf.Update:
			return f.Kind != finding.Retiring
		case tf.Delete:
			return f.Kind == finding.Retiring
		}
	}
	return false
}

// wordOrder is the order in which actions are listed.
var wordOrder = []string{"create", "import", "complete", "change", "start", "move", "set", "correct", "forget", "replace", "destroy"}

// kindOrder is the order in which things are made.
var kindOrder = []string{"pool", "image", guest.VM.Name(), guest.Container.Name(), "record"}

// actions are the rows of the summary.
func (a *announcement) actions() []report.Action {
	var out []report.Action
	for _, c := range a.changes {
		out = append(out, a.action(c))
	}
	for _, u := range a.outputs {
		out = append(out, report.Action{Word: "set", Stack: u.Stack, What: "output", Name: u.Unit, Detail: "the cluster does not change"})
	}
	for _, f := range a.records() {
		detail := "after its " + f.Word() + " has an address"
		if f.NoAddress {
			detail = "once its " + f.Word() + " reports an address"
		}
		out = append(out, report.Action{
			Word: lateWord(&f), Stack: f.Stack, What: "record", Name: f.Key, Detail: detail,
			Named: f.Kind == finding.Retiring,
		})
	}
	for i := range a.starts {
		out = append(out, a.starts[i].action())
	}
	sortActions(out)
	return out
}

// sortActions puts the rows of a summary into the order of words, kinds, stacks and names.
func sortActions(out []report.Action) {
	var stacks []string
	for _, action := range out {
		if !slices.Contains(stacks, action.Stack) {
			stacks = append(stacks, action.Stack)
		}
	}
	slices.SortStableFunc(out, func(x, y report.Action) int {
		return cmp.Or(cmp.Compare(slices.Index(wordOrder, x.Word), slices.Index(wordOrder, y.Word)),
			cmp.Compare(slices.Index(kindOrder, x.What), slices.Index(kindOrder, y.What)),
			cmp.Compare(slices.Index(stacks, x.Stack), slices.Index(stacks, y.Stack)), natural.Compare(x.Name, y.Name))
	})
}

// changed is said of an import that a change follows.
const changed = "then changed"

// action is the row of one change.
func (a *announcement) action(c tf.Summary) report.Action {
	out := report.Action{Word: c.Action.Word(), Stack: c.Unit.Stack, What: string(c.Type), Name: c.Key}
	f := a.found[c.Unit][string(c.Type)+" "+c.Key]
	switch {
	case c.Imports && c.Action == tf.Update:
		out.Word, out.Detail = "import", changed
	case c.Imports:
		out.Word = "import"
	case c.Action == tf.NoOp:
		out.Word, out.Detail = "move", "to another address in the state"
	}
	switch c.Type {
	case finding.VM:
		out.What = c.Unit.Kind().Name()
		if out.Detail == changed && c.Unit.Kind() == guest.Container && (f == nil || len(f.Updates) == 0) { // it is known by its plan
			out.Detail = "then completed in the state"
		}
	case "":
		out.What, out.Name = "resource", c.Address
	}
	if f != nil && c.Imports && f.Case == finding.HalfMade {
		out.Word, out.Detail = "complete", "cloned by a run that was interrupted"
	}
	if f != nil && c.Type == finding.Record {
		out.Name = f.Key
	}
	if c.Action.Removes() {
		out.Named = true
		if c.VMID != 0 {
			out.Detail = strings.TrimSpace(fmt.Sprintf("%s %d %s on %s", c.Unit.Kind().Name(), c.VMID, c.Name, c.Node))
		}
	}
	return out
}

// thenNote says which stacks follow in a run of their own, which a dry run shows next.
func (r *run) thenNote() []string {
	if len(r.Then) == 0 || r.DryRun {
		return nil
	}
	how := "a second summary and question follow"
	if r.Yes {
		how = "they follow with a summary of their own"
	}
	then := strings.Join(r.Then, ", ") + ": " + how
	if !slices.ContainsFunc(r.stacks, func(st *stack) bool { return r.isTemplate(st.name) }) {
		return []string{"templates leave after these VMs; then " + then}
	}
	return []string{"this applies the Templates only; then " + then}
}
