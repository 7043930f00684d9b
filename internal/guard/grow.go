package guard

import (
	"slices"

	"stackgen/internal/cluster"
	"stackgen/internal/effect"
	"stackgen/internal/finding"
	"stackgen/internal/hardware"
	"stackgen/schema"
)

// growFirst is the step that makes two applies of one that would grow a disk together
// with a change that needs a restart: the disk first, unless the spec cannot leave out
// all such changes.
func growFirst(v *schema.VM, spec string, g *cluster.Guest, updates []effect.Update, settling bool) []finding.Step {
	if !slices.Contains(harmsOf(updates), effect.Together) || slices.ContainsFunc(updates, func(u effect.Update) bool { return u.Implied }) {
		return nil
	}
	lines := map[string][]string{} // by property
	for _, d := range hardware.Read(g).Differences(v, func(string) bool { return false }) {
		if d.Line != "" {
			lines[d.Field] = keepLines(v, &d)
		}
	}
	var keep []string
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
		f.Next("to grow the disk first, keep the other values until it has grown: write into "+spec, keep...)
	case lines["disks"] != nil:
		f.Next("to grow the disk with the apply after this one, keep the disks of the VM until then: write into "+spec, lines["disks"]...)
	}
	return f.Steps
}

// keepGrowing is the line that keeps the disks of a VM, if an update would grow one.
func keepGrowing(v *schema.VM, g *cluster.Guest, updates []effect.Update) string {
	if !slices.ContainsFunc(updates, func(u effect.Update) bool { return u.Effect == schema.Grow }) {
		return ""
	}
	for _, d := range hardware.Read(g).Differences(v, func(string) bool { return false }) {
		if d.Field == "disks" && d.Line != "" {
			return specLine(v, d.Line)
		}
	}
	return ""
}
