package tf

import (
	"cmp"
	"stackgen/guest"
	"stackgen/internal/lock"
)

// A Unit names a unit of a stack.
type Unit struct{ Stack, Unit string }

func (u Unit) String() string { return u.Stack + "/" + u.Unit }

// HasRecords reports whether it is a unit of DNS records.
func (u Unit) HasRecords() bool { return !u.HasGuests() && u.Unit != lock.UnitPool }

// HasGuests reports whether it is the unit of the VMs or of the containers.
func (u Unit) HasGuests() bool { return lock.HasGuests(u.Unit) }

// Kind is the kind of the guests of a unit of guests.
func (u Unit) Kind() guest.Kind {
	return cmp.Or(guest.KindOfUnit(u.Unit), guest.VM)
}

// VMUnit is the unit of the VMs of a stack.
func VMUnit(stack string) Unit { return Unit{stack, lock.UnitVM} }

// GuestUnits are the units of the guests of a stack, that of the VMs first.
func GuestUnits(stack string) []Unit {
	var out []Unit
	for _, kind := range guest.Kinds() {
		out = append(out, Unit{stack, lock.UnitOf(kind)})
	}
	return out
}

// Guests are the guests in the states of a stack.
func (s States) Guests(stack string) []Resource {
	var out []Resource
	for _, u := range GuestUnits(stack) {
		for _, r := range s[u].Resources {
			if u.Manages(r.Type) {
				out = append(out, r)
			}
		}
	}
	return out
}

// IsGuest reports whether a type of resource is that of VMs or containers.
func IsGuest(resource string) bool { return guest.KindOf(resource) != "" }

// Manages reports whether a type of resource in the unit is that of its guests. A module of somebody else's may have
// containers beside VMs, which no spec knows.
func (u Unit) Manages(resource string) bool {
	return resource == guest.VMResource || resource == guest.ContainerResource && u.Unit == lock.UnitContainer
}
