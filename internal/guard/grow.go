package guard

import (
	"slices"

	"stackgen/guest"
	"stackgen/internal/effect"
	"stackgen/internal/finding"
	"stackgen/schema"
)

// growFirst is the step that makes two applies of one that would grow a disk together
// with a change that needs a restart: the disk first, unless the spec cannot leave out
// all such changes.
func (k *keeper) growFirst(updates []effect.Update) []finding.Step {
	if !slices.Contains(harmsOf(updates), effect.Together) || slices.ContainsFunc(updates, func(u effect.Update) bool { return u.Implied }) {
		return nil
	}
	lines := map[string][]string{} // by property
	for _, d := range k.differences() {
		if d.Line != "" {
			lines[d.Field] = append(lines[d.Field], keepLines(&d)...)
		}
	}
	var keep []string
	settling := false
	for _, u := range updates {
		kept := lines[u.Key()]
		switch {
		case !effect.NeedsRestart(u.Change):
		case kept == nil:
			settling = true
		case !slices.Contains(keep, kept[0]):
			keep = append(keep, kept...)
		}
	}
	f := &finding.Finding{}
	switch {
	case !settling && len(keep) > 0:
		f.Next("to grow the disk first, keep the other values until it has grown: write into "+k.spec, k.lines(keep)...)
	case lines[guest.Disks] != nil:
		f.Next("to grow the disk with the apply after this one, keep the disks of the VM until then: write into "+k.spec,
			k.lines(lines[guest.Disks])...)
	}
	return f.Steps
}

// withoutRestart is the step after which an apply sets what a VM has already, and does not
// restart it. It keeps the disks if one of them would grow: the provider does not grow it with
// that apply.
func (k *keeper) withoutRestart(updates []effect.Update) finding.Step {
	lines := []string{"restart: false"}
	if slices.ContainsFunc(updates, func(u effect.Update) bool { return u.Effect == schema.Grow }) {
		for _, d := range k.differences() {
			if d.Field == guest.Disks && d.Line != "" {
				lines = append(lines, keepLines(&d)...)
			}
		}
	}
	what := "to set it without a restart, write into " + k.spec + ", and restore `restart: true` after that apply"
	if len(lines) > 1 {
		what = "to set it without a restart, write into " + k.spec + ", and restore `restart: true` and the disks after that apply"
	}
	return finding.Do(what, k.lines(lines)...)
}
