package report

import (
	"stackgen/guest"
	"stackgen/internal/finding"
)

// kindIf is the kind of a guest of which only that is known.
func kindIf(container bool) guest.Kind {
	if container {
		return guest.Container
	}
	return guest.VM
}

// guestsOf are a number of VMs and one of containers.
func guestsOf(vms, containers int) guest.Tally {
	return guest.Tally{guest.VM: vms, guest.Container: containers}
}

// Guests counts what findings are about.
func Guests(list []finding.Finding) guest.Tally {
	return guest.Count(list, func(f finding.Finding) guest.Kind { return f.GuestKind() })
}
