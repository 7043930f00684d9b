package lock

import (
	"cmp"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/schema"
)

// An Address is where a guest may be in the state of its unit: the resource block
// of a profile, and the key in it.
type Address struct{ Profile, Key string }

// String is the address as the lock has it: PROFILE/KEY.
func (a Address) String() string { return a.Profile + "/" + a.Key }

// Resource is an address of the guest as OpenTofu has it.
func (v *VM) Resource(a Address) string { return schema.GuestAddress(v.Kind, a.Profile, a.Key) }

// IsContainer reports whether it is a container.
func (v *VM) IsContainer() bool { return v != nil && v.Kind == guest.Container }

// In is the unit that has the guest in its state.
func (v *VM) In() string { return UnitOf(v.Kind) }

// parseAddress reads an address as the lock has it.
func parseAddress(s string) Address {
	profile, key, _ := strings.Cut(s, "/")
	return Address{profile, key}
}

// Address is where a plan expects the VM of a key.
func (v *VM) Address(key string) Address {
	if v.Status == Retired {
		// A profile that prevents destruction would never destroy a retired VM.
		return Address{"default", key}
	}
	return Address{cmp.Or(v.Profile, "default"), key}
}

// addresses are the addresses of all VMs, by key.
func (s *Stack) addresses() map[string]Address {
	out := map[string]Address{}
	for _, e := range s.VMs {
		out[e.Key] = e.Value.Address(e.Key)
	}
	return out
}

// Had reports whether a VM of the stack had a key that it may still have in state.
func (s *Stack) Had(key string) bool {
	return slices.ContainsFunc(s.VMs, func(e Entry[VM]) bool {
		return slices.ContainsFunc(e.Value.Former, func(a Address) bool { return a.Key == key })
	})
}

// recordAddresses updates the former addresses of all VMs. before has the
// address that each VM had until this run, by its key now.
//
// A former address stays recorded until a command has read that the state does not
// have it, because a move may be applied at any time. It is dropped when the
// VM comes back to it. Other VMs cannot get its key; where a lock
// has both, taken says so, and the VM that has the key now keeps it.
func (s *Stack) recordAddresses(before map[string]Address, taken map[string]bool) {
	for i := range s.VMs {
		e := &s.VMs[i]
		now, former := e.Value.Address(e.Key), slices.Clone(e.Value.Former)
		if was, known := before[e.Key]; known {
			former = append(former, was)
		}
		e.Value.Former = slices.DeleteFunc(former, func(a Address) bool {
			return a == now || a.Key != e.Key && taken[a.Key]
		})
	}
}
