package guard

import (
	"fmt"
	"slices"

	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/shell"
	"stackgen/internal/tf"
)

// otherState is a VM unit whose state is not the recorded one: two checkouts with
// states of their own would both apply. The VM unit decides for the whole stack. Where no
// state says whose it is, the rendered files do.
func (j *judge) otherState(at *place) {
	if f := j.Lock.OtherProject(at.Name, j.Rendered); f != nil && projectOf(j.State, at.Name) == "" {
		j.out = append(j.out, *f)
		return
	}
	recorded, now := j.lineages(at)
	foreign := otherProject(j.Input, at.Name)
	known := recorded != "" && now != ""
	empty := !slices.ContainsFunc(tf.GuestUnits(at.Name), func(id tf.Unit) bool { return len(j.State[id].Resources) > 0 })
	if empty || known && recorded == now || !known && foreign == "" {
		return
	}
	f := j.add(at, lock.UnitVM, finding.Unit, "")
	if foreign != "" {
		f.Is(finding.OtherState,
			finding.Why("other-project"))
		f.Because("the id of the project is %s in the lock, and %s in the state", j.Lock.Project, foreign)
		f.Next("restore the lock of this project", lock.Restore)
		f.Next("or, if this state was taken over from that project, record it", newState(at.Name))
		return
	}
	if importedHere(j.Input, at.Name) {
		f.Is(finding.OtherState, finding.Why("new-state"))
		f.Severity = finding.OK
		f.Because("the lineage of this state is %s, and the recorded one is %s", now, recorded)
		f.Next("record this one, unless another checkout or machine still has the other one: then use that", newState(at.Name))
		return
	}
	f.Is(finding.OtherState, finding.Why("other-state"))
	f.Because("the lineage of this state is %s, and the recorded one is %s", now, recorded)
	f.Next("if another checkout or machine has the recorded state, apply there; `backend: {type: s3, ...}` in " +
		at.Spec + " lets both share a state")
	f.Next("if the recorded state is lost, and this one replaces it, record this one", newState(at.Name))
}

// otherProject is another project that applied a state of guests of a stack, or "".
func otherProject(in Input, stack string) string {
	for _, u := range tf.GuestUnits(stack) {
		if id := in.State[u].Project; id != "" && in.Lock.Project != "" && id != in.Lock.Project {
			return id
		}
	}
	return ""
}

// projectOf is the project that applied a state of guests of a stack, or "".
func projectOf(states tf.States, stack string) string {
	for _, u := range tf.GuestUnits(stack) {
		if id := states[u].Project; id != "" {
			return id
		}
	}
	return ""
}

// importedHere reports whether an import file of a stack's guests, which no other
// checkout has, imported guests that the state has.
func importedHere(in Input, stack string) bool {
	return slices.ContainsFunc(tf.GuestUnits(stack), func(id tf.Unit) bool {
		return slices.ContainsFunc(in.State[id].Resources, func(r tf.Resource) bool {
			return id.Manages(r.Type) && in.Imported[id][r.Address] != ""
		})
	})
}

// lineages are the recorded lineage of the state of a stack's VM unit, and that of the
// state that was read. Either is empty if it is not known, or if no state exists.
func (j *judge) lineages(at *place) (recorded, now string) {
	u := at.lock.Units.Get(lock.UnitVM)
	if u == nil {
		return "", ""
	}
	return u.Lineage, j.State[tf.VMUnit(at.Name)].Lineage
}

// newState is the line that records another state.
func newState(stack string) string { return "stackgen resolve --new-state " + shell.Word(stack) }

// StateNotes say what to do before and after an import into an empty state, if another
// state is recorded.
func StateNotes(in Input, found []finding.Finding) []string {
	var out []string
	for _, s := range in.Project.Stacks {
		l := in.Lock.Stacks.Get(s.Name)
		if l == nil || !in.Selected(s.Name) {
			continue
		}
		if slices.ContainsFunc(tf.GuestUnits(s.Name), func(id tf.Unit) bool { return recordedElsewhere(in, found, l, id) }) {
			out = append(out, fmt.Sprintf("%s: the lock records a state that is not here. If another checkout or machine has it, "+
				"do not import: use that one. If it is lost, import and apply, then run `%s`", s.Name, newState(s.Name)))
		}
	}
	return out
}

// recordedElsewhere reports whether the recorded state of a unit of guests is not here, and an apply can import a guest into
// the one that is.
func recordedElsewhere(in Input, found []finding.Finding, l *lock.Stack, id tf.Unit) bool {
	state, read := in.State[id]
	u := l.Units.Get(id.Unit)
	return read && state.Unreadable == "" && len(state.Resources) == 0 && u != nil && u.Lineage != "" && u.Lineage != state.Lineage &&
		slices.ContainsFunc(found, func(f finding.Finding) bool {
			return f.Stack == id.Stack && f.Unit == id.Unit && f.Type == finding.VM &&
				(f.Kind == finding.Adopt || f.Kind == finding.WouldHarm && len(f.Differs) > 0)
		})
}

// NewerNotes say that a state was changed since the lock has seen it, where an apply changes or destroys what exists: specs
// and lock may be those of an old checkout, and take back what somebody else has applied.
func NewerNotes(in Input, found []finding.Finding) []string {
	var out []string
	for _, s := range in.Project.Stacks {
		l := in.Lock.Stacks.Get(s.Name)
		if l == nil || !in.Selected(s.Name) || !changedSince(in.State[tf.VMUnit(s.Name)], l) ||
			!slices.ContainsFunc(found, func(f finding.Finding) bool { return f.Stack == s.Name && changesExisting(&f) }) {
			continue
		}
		out = append(out, fmt.Sprintf("%s: its state was changed since the lock has seen it, and an apply from here changes what exists. "+
			"If somebody else applies this stack, update this checkout first (`git pull`); if not, `stackgen resolve` records the state", s.Name))
	}
	return out
}

// changesExisting reports whether an apply changes or destroys what a finding is about.
func changesExisting(f *finding.Finding) bool {
	destroys := []finding.Code{"retired", "retired-records-first", "retired-vm-first"}
	return len(f.Updates) > 0 || f.Kind == finding.Migrate || slices.Contains(destroys, f.Reason.Code)
}
