package cluster

import (
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/lock"
)

// A Claim is the VM of another project that a guest is by the lock of that project.
type Claim struct {
	File       string // the lock, as shown
	Stack, Key string
}

func (c *Claim) String() string { return c.Stack + "/" + c.Key + " in " + c.File }

// Claimed finds the VM of another project that a guest is: by the UUID or a MAC address
// that its lock has, or by the VMID where the lock has neither. It is nil if no lock has it.
func (inv *Inventory) Claimed(others []lock.Other, g *Guest) *Claim {
	if g.Template {
		return nil
	}
	for _, other := range others {
		for _, s := range other.Stacks {
			if s.Value.Status != lock.Live || inv.Compare(s.Value.Cluster) == OtherCluster {
				continue
			}
			for _, e := range s.Value.VMs {
				if e.Value.Status == lock.Live && e.Value.IsContainer() == (g.Kind == guest.Container) && claims(&e.Value, g) {
					return &Claim{other.File, s.Key, e.Key}
				}
			}
		}
	}
	return nil
}

// claims reports whether an entry of a lock is a guest.
func claims(e *lock.VM, g *Guest) bool {
	is, macs := g.Identified(), slices.Clone(e.MACs)
	if e.Fingerprint != nil {
		if e.Fingerprint.UUID != "" && is.UUID != "" {
			return strings.EqualFold(e.Fingerprint.UUID, is.UUID)
		}
		macs = append(macs, e.Fingerprint.MACs...)
	}
	if len(macs) == 0 {
		return e.VMID == g.VMID
	}
	return slices.ContainsFunc(macs, func(mac string) bool {
		return slices.ContainsFunc(is.MACs, func(m string) bool { return strings.EqualFold(m, mac) })
	})
}

// NamedFor is the stack after which a VM seems to be named: its name is STACK-KEY, as that
// of the VMs that stackgen creates, and its pool or a tag of it is STACK, too. It is empty if
// the VM is not named so.
func NamedFor(g *Guest) string {
	for _, stack := range append([]string{g.Pool}, g.Tags...) {
		if stack != "" && len(g.Name) > len(stack)+1 && strings.EqualFold(g.Name[:len(stack)], stack) && g.Name[len(stack)] == '-' {
			return stack
		}
	}
	return ""
}
