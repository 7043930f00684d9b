package lock

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/finding"
	"stackgen/schema"
)

// renameStacks moves the entries of renamed stacks to their new names, before any
// decision. A stack that is not rendered now keeps its name.
func (d *decider) renameStacks() {
	specs, known := map[string]bool{}, map[string]bool{}
	for _, s := range d.project.Stacks {
		specs[s.Name] = true
	}
	for _, e := range d.lock.Stacks { // and the names that they get
		known[e.Key] = true
		for _, r := range chained(d.project.Renamed) {
			known[r.To] = known[r.To] || known[r.From]
		}
	}
	for _, r := range d.project.Renamed {
		to := d.project.NewName(r.From)
		from := d.lock.Stacks.index(r.From)
		switch {
		case specs[r.From]:
			d.clash(r.Pos, "renamed", "write name: "+finding.Key(r.To)+" into its spec, or remove the line",
				"stack %s is in renamed and also has a spec", r.From)
		case !known[r.From] && !known[to]:
			d.clash(r.Pos, "renamed", "remove the line, or correct the old name", "the lock has no stack %q", r.From)
		case from < 0:
		case d.lock.Stacks.index(to) >= 0:
			d.clash(r.Pos, "renamed", "retire or forget one of them", "%s and %s are both in the lock, and two stacks cannot become one", r.From, to)
		case !specs[to]:
			d.clash(r.Pos, "renamed", "write name: "+finding.Key(to)+" into its spec",
				"stack %s is renamed to %s, and no spec has that name", r.From, to)
		case d.options.Selected(to):
			d.lock.Stacks[from].Key = to
			d.renamed[to] = r.From
		}
	}
	d.old = d.lock.clone()
}

// specOf returns the new stack that has the spec of a stack, or nil: its name was
// changed in the spec.
func (d *decider) specOf(l *Stack) *schema.Stack {
	for _, s := range d.project.Stacks {
		if d.options.Specs[s.Name] == l.Spec && d.old.Stacks.index(s.Name) < 0 {
			return s
		}
	}
	return nil
}

// successor returns the new stack that a stack probably became: it has the same spec
// or most of its keys.
func (d *decider) successor(l *Stack) *schema.Stack {
	if s := d.specOf(l); s != nil {
		return s
	}
	entries, live := l.VMs.ByKey(), 0
	for _, v := range entries {
		if v.Status == Live {
			live++
		}
	}
	var best *schema.Stack
	most := 0
	for _, s := range d.project.Stacks {
		if d.old.Stacks.index(s.Name) >= 0 {
			continue
		}
		same := 0
		for _, v := range s.VMs {
			if e := entries[v.Key]; e != nil && e.Status == Live {
				same++
			}
		}
		if same > most && 2*same >= max(live, len(s.VMs)) {
			best, most = s, same
		}
	}
	return best
}

// probablyRenamed reports whether a stack will be refused as one that has another name
// in the specs.
func (d *decider) probablyRenamed(e Entry[Stack]) bool {
	named := func(i schema.ListItem) bool { return i.Name == e.Key }
	return e.Value.Status == Live && d.project.NewName(e.Key) == e.Key &&
		!slices.ContainsFunc(d.project.Stacks, func(s *schema.Stack) bool { return s.Name == e.Key }) &&
		!slices.ContainsFunc(d.project.Retired, named) && !slices.ContainsFunc(d.project.Forgotten, named) && d.successor(&e.Value) != nil
}

// stackRenamed adds the way out for a stack that has another name now.
func (d *decider) stackRenamed(f *finding.Finding, name string, l *Stack, to *schema.Stack) {
	now := Stack{}
	remember(&now, to)
	spec := d.options.Specs[to.Name]
	f.Because("%s has the new stack %s", spec, to.Name)
	d.namesChange(f, name, to)
	var all []string
	for _, r := range d.project.Renamed {
		all = append(all, finding.Key(r.From)+": "+finding.Key(r.To))
	}
	entry := finding.Line{
		Text: "renamed: {stacks: {{}}}", Items: append(all, finding.Key(name)+": "+finding.Key(to.Name)), Sep: ", ",
	}
	then, line := "render", "stackgen render"
	if !l.sameState(&now) {
		m := d.moveOf(l, &now)
		m.explain(f)
		if line = m.commands(to.Name); m.moves() {
			then = "move its state and render"
		}
	}
	f.Add(d.settingsStep("or keep its guests under the name "+to.Name, then, "renamed", d.project.Renamed != nil, entry, line))
	if spec == l.Spec {
		f.Next("or undo the new name in "+spec, "name: "+finding.Key(name))
	}
}

// namesChange says how the VMs of a stack keep their names when it is renamed.
func (d *decider) namesChange(f *finding.Finding, name string, to *schema.Stack) {
	if strings.Contains(to.Naming, "{stack}") && !to.IsTemplate() { // a template has the name of its creation
		f.Because("the names of its guests and records change with its name; to keep them, write into %s: %s", d.options.Specs[to.Name],
			fmt.Sprintf("naming: {pattern: %q}", strings.ReplaceAll(to.Naming, "{stack}", name)))
	}
}
