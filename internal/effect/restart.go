package effect

import (
	"slices"
	"strings"

	"stackgen/schema"
)

// Interrupts reports whether an update restarts or stops a running VM that permits it.
func (u Update) Interrupts() bool {
	return u.Harm == "" && slices.Contains([]string{restarts, hardStop, stops}, u.Does)
}

// RefuseNeedless makes a harm of each update that restarts or stops a VM although nothing
// needs that: the VM has the blocks already that an import could not read, and
// agent.timeout is in no VM. settles are these attributes and blocks. Whatever else
// restarts the VM, the spec asks for, and one restart does for both.
func RefuseNeedless(updates []Update, settles []string) []Update {
	asked := func(u Update) bool {
		top, _, _ := strings.Cut(u.Path, ".")
		own := slices.ContainsFunc(schema.SettledRows(), func(r schema.Row) bool { return r.Attribute() == u.Path })
		settled := slices.Contains(settles, top) && (u.Was == "" || own)
		return u.Interrupts() && !settled && u.Effect != schema.Grow // a disk grows without a restart
	}
	if slices.ContainsFunc(updates, asked) {
		return updates
	}
	out := slices.Clone(updates)
	for i := range out {
		if out[i].Interrupts() {
			out[i].Harm = Needless
		}
	}
	return out
}
