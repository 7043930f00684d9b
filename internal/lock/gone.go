package lock

import (
	"fmt"
	"slices"

	"stackgen/guest"
	"stackgen/internal/finding"
	"stackgen/internal/shell"
	"stackgen/schema"
)

// gone handles the stacks that the lock has and no spec.
func (d *decider) gone() {
	has := map[string]bool{}
	for _, s := range d.project.Stacks {
		has[s.Name] = true
	}
	named := func(list []schema.ListItem, name string) bool {
		return slices.ContainsFunc(list, func(i schema.ListItem) bool { return i.Name == name })
	}
	var kept Ordered[Stack]
	for _, e := range d.lock.Stacks {
		l := e.Value
		to := d.project.NewName(e.Key)
		retired, forgotten := named(d.project.Retired, e.Key), named(d.project.Forgotten, e.Key)
		switch {
		case has[e.Key] && (retired || forgotten):
			d.clash(listPos(append(d.project.Retired, d.project.Forgotten...), e.Key), "", "remove the spec, or the line",
				"stack %s is in retired or forgotten and also has a spec", e.Key)
		case has[e.Key]:
		case to != e.Key:
			// it is renamed, to a stack that is not rendered now or has a problem
		case retired && forgotten:
			d.clash(listPos(d.project.Forgotten, e.Key), "", "keep one of them", "stack %s is in retired and also in forgotten", e.Key)
		case retired:
			before := l.addresses()
			l.retire()
			l.recordAddresses(before, nil)
			d.result.Stacks = append(d.result.Stacks, tombstone(e.Key, &l, d.project))
		case forgotten:
			l.Status = Forgotten
		case l.Status == Forgotten && slices.ContainsFunc(l.VMs, func(v Entry[VM]) bool { return !v.Value.Gone }):
			// its line is gone, and its VMs may still exist: their VMIDs stay reserved
		case l.Status == Retired && !l.seenGone():
			d.result.Refusals = append(d.result.Refusals, d.stackUnseen(e.Key))
		case l.Status != Live:
			d.note("%s: the %s stack is removed from the lock; its VMIDs are free again", e.Key, l.Status)
			continue
		default:
			d.result.Refusals = append(d.result.Refusals, d.stackGone(e.Key, &l))
		}
		kept = append(kept, Entry[Stack]{e.Key, l})
	}
	d.lock.Stacks = kept
	for _, w := range append(slices.Clone(d.project.Retired), d.project.Forgotten...) {
		if d.lock.Stacks.index(w.Name) < 0 {
			d.warnUnknown(w, "stack")
		}
	}
}

func listPos(list []schema.ListItem, name string) schema.Pos {
	for _, i := range list {
		if i.Name == name {
			return i.Pos
		}
	}
	return schema.Pos{}
}

func (d *decider) warnUnknown(w schema.ListItem, what string) {
	d.problems.Add(schema.Problem{Pos: w.Pos, Severity: schema.SeverityWarning, Code: schema.CodeListClash,
		Message: fmt.Sprintf("the lock has no %s %q", what, w.Name), Fix: "remove the line"})
}

// retire marks everything of a stack for destruction, except what is forgotten.
func (s *Stack) retire() {
	s.Status = Retired
	for i := range s.VMs {
		if v := &s.VMs[i].Value; v.Status == Live {
			v.Status = Retired
		}
	}
	for i := range s.Units {
		if u := &s.Units[i].Value; u.Status == Live || u.Status == Moving {
			u.Status = Retired
		}
	}
}

// forgetVMs marks the VMs of a forgotten stack whose spec is there again.
func (s *Stack) forgetVMs() {
	for i := range s.VMs {
		if v := &s.VMs[i].Value; s.Status == Forgotten && v.Status == Live && v.Image == nil {
			v.Status = Forgotten
		}
	}
}

// tombstone is a stack that only the lock has: it has no VMs, and all of its
// resources will be destroyed.
func tombstone(name string, l *Stack, project *schema.Project) *schema.Stack {
	s := &schema.Stack{
		Spec:        l.Spec,
		Kind:        schema.KindStack,
		Name:        name,
		Environment: l.Environment,
		Guard:       project.Guard,
		Parallelism: project.Parallelism,
		Backend: schema.Backend{
			Type:      l.Backend.Type,
			Bucket:    l.Backend.Bucket,
			Region:    l.Backend.Region,
			Endpoint:  l.Backend.Endpoint,
			PathStyle: l.Backend.PathStyle,
			Lock:      l.Backend.Lock,
		},
	}
	if slices.ContainsFunc(l.VMs, func(e Entry[VM]) bool { return e.Value.Image != nil }) {
		s.Kind = schema.KindTemplate
	}
	if p := l.Proxmox; p != nil {
		s.Proxmox = schema.Proxmox{Endpoint: p.Endpoint, Insecure: p.Insecure, CAFile: p.CAFile, Set: true}
	}
	return s
}

// Tombstones are the retired stacks that the lock has and no spec.
func (l *Lock) Tombstones(p *schema.Project) []*schema.Stack {
	var out []*schema.Stack
	for i := range l.Stacks {
		e := &l.Stacks[i]
		if e.Value.Status == Retired && !slices.ContainsFunc(p.Stacks, func(s *schema.Stack) bool { return s.Name == e.Key }) {
			out = append(out, tombstone(e.Key, &e.Value, p))
		}
	}
	return out
}

// seenGone reports whether nothing of a retired stack exists any more.
func (s *Stack) seenGone() bool {
	return !slices.ContainsFunc(s.VMs, func(e Entry[VM]) bool { return e.Value.Status == Retired && !e.Value.Gone }) &&
		!slices.ContainsFunc(s.Units, func(e Entry[Unit]) bool { return e.Value.Status == Retired && !e.Value.Gone })
}

// stackUnseen refuses to drop a retired stack that may exist.
func (d *decider) stackUnseen(name string) finding.Finding {
	return finding.Finding{Address: finding.Address{Stack: name, Type: finding.Stack}, Kind: finding.Removed, Severity: finding.Blocked,
		Reason: finding.Why("stack-unseen"),
		Steps: []finding.Step{
			finding.Do("if an apply has destroyed it, record that, then render", "stackgen resolve", "stackgen render"),
			d.settingsStep("otherwise", "render and apply", "retired", d.project.Retired != nil,
				names("retired", d.project.Retired, name),
				"stackgen render", d.appliesGone(name)),
		}}
}

// appliesGone is the line that applies a stack without a spec. A word that is also the key of a guest names no stack.
func (d *decider) appliesGone(name string) string {
	for _, s := range d.project.Stacks {
		if slices.ContainsFunc(s.VMs, func(v *schema.VM) bool { return v.Key == name }) {
			return "stackgen apply"
		}
	}
	return "stackgen apply " + name
}

// stackGone refuses to drop a stack whose spec is gone.
func (d *decider) stackGone(name string, l *Stack) finding.Finding {
	live := slices.DeleteFunc(slices.Clone(l.VMs), func(v Entry[VM]) bool { return v.Value.Status != Live })
	f := finding.Finding{Address: finding.Address{Stack: name, Type: finding.Stack}, Kind: finding.Removed, Severity: finding.Blocked,
		Reason: finding.Why("spec-gone"),
	}
	f.Because("its spec was %s; it has %s", l.Spec,
		guest.Count(live, func(v Entry[VM]) guest.Kind { return v.Value.Kind }))
	if to := d.successor(l); to != nil {
		d.stackRenamed(&f, name, l, to)
	}
	if !slices.ContainsFunc(d.project.Stacks, func(s *schema.Stack) bool { return d.options.Specs[s.Name] == l.Spec }) {
		f.Next("or restore the spec", restore(l.Spec))
	}
	f.Add(d.settingsStep("or destroy its guests and records", "render and apply", "retired", d.project.Retired != nil,
		names("retired", d.project.Retired, name), "stackgen render", d.appliesGone(name)))
	f.Add(d.settingsStep("or stop managing its guests and records", "render", "forgotten", d.project.Forgotten != nil,
		names("forgotten", d.project.Forgotten, name), "stackgen render"))
	return f
}

// restore is the command that restores a spec as Git had it last, whether its removal was committed or not.
func restore(spec string) string {
	file := shell.Word(spec)
	return `git checkout "$(git log -1 --diff-filter=AM --format=%H -- ` + file + `)" -- ` + file
}

// settingsStep is a step that adds an entry of a list to the settings of the project, which may have none yet. The line has
// all entries of the list, of which the settings have some already.
func (d *decider) settingsStep(what, then, list string, there bool, line finding.Line, commands ...string) finding.Step {
	write, lines := "add to "+schema.SettingsFile, []finding.Line(nil)
	switch {
	case !d.project.Settings:
		write, lines = "create "+schema.SettingsFile, finding.Lines("apiVersion: "+schema.APIVersion, "kind: "+schema.KindProject)
	case there:
		write = "replace `" + list + "` in " + schema.SettingsFile
	}
	return finding.Step{
		What:  what + ": " + write + ", then " + then,
		Lines: slices.Concat(lines, []finding.Line{line}, finding.Lines(commands...)),
	}
}

// names is a line of the settings with a list of stacks, and those that it has already.
func names(list string, has []schema.ListItem, stack string) finding.Line {
	var all []string
	for _, i := range has {
		all = append(all, finding.Key(i.Name))
	}
	return finding.Line{Text: list + ": {stacks: [{}]}", Items: append(all, finding.Key(stack)), Sep: ", "}
}
