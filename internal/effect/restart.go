package effect

import (
	"slices"
	"strings"

	"stackgen/schema"
)

// Interrupts reports whether an update restarts or stops a running VM that permits it.
func (u Update) Interrupts() bool {
	does := []string{restarts, hardStop, stops, stopsVM, stopsVMHard, restartsContainer, stopsContainer}
	return u.Harm == "" && slices.Contains(does, u.Does)
}

// Reboots reports whether the provider restarts a running VM for an update, if it may.
func (u Update) Reboots() bool {
	return u.Does == restarts || u.Does == hardStop || u.Does == restartsContainer
}

// Waits reports whether the VM has the new value after its next restart.
func (u Update) Waits() bool { return u.Does == afterRestart }

// RefuseNeedless makes a harm of each update that restarts or stops a VM although nothing
// needs that: the VM has the blocks already that an import could not read, and
// agent.timeout is in no VM. settles are these attributes and blocks; none of a VM that
// was not imported. Whatever else restarts the VM, the spec asks for, and one restart does
// for both.
func RefuseNeedless(updates []Update, settles []string) []Update {
	if len(settles) == 0 || slices.ContainsFunc(updates, func(u Update) bool { return u.Interrupts() && u.asked(settles) }) {
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

// OnlySettles reports whether RefuseNeedless would refuse the restart that updates need,
// if the spec permitted it.
func OnlySettles(updates []Update, settles []string) bool {
	return len(settles) > 0 && !slices.ContainsFunc(updates, func(u Update) bool { return NeedsRestart(u.Change) && u.asked(settles) })
}

// asked reports whether an update does more than to set what an import could not read.
// A disk grows without a restart, unless the VM has no hotplug of disks.
func (u Update) asked(settles []string) bool {
	top, _, _ := strings.Cut(u.Path, ".")
	unread := slices.ContainsFunc(schema.SettledRows(), func(r schema.Row) bool { return r.Attribute() == u.Path && r.Unset == u.Was })
	settled := slices.Contains(settles, top) && (u.Was == "" || unread)
	return !settled && (u.Effect != schema.Grow || u.Alone)
}
