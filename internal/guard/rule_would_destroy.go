package guard

import (
	"fmt"
	"slices"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/pve"
	"stackgen/internal/shell"
	"stackgen/schema"
)

// A VM is `would-destroy` if the next apply would destroy it, and the spec does not ask for that:
// it is forgotten and still in state, in state several times, at another address or with another
// VMID, or tainted. With a destroy of the stack, its profile prevents it.

// forgotten reports whether the VM is no longer managed.
func (s *subject) forgotten() bool { return s.entry.Status == lock.Forgotten }

func (s *subject) forgottenInState() bool { return s.forgotten() && !s.notInState() }

// destroyForgotten is a VM that an apply would destroy as long as the state has it.
func (s *subject) destroyForgotten() {
	s.Is(finding.WouldDestroy, finding.Why("forgotten-in-state"))
	if s.guest != nil {
		s.Because("%s", Describe(s.guest))
	}
	for _, r := range s.states {
		s.Add(finding.DoAll("remove it from the state", s.stateRemove(r.Address)))
	}
}

// duplicated reports whether the state has the VM at several addresses.
func (s *subject) duplicated() bool { return len(s.states) > 1 }

func (s *subject) destroyDuplicate() {
	s.Is(finding.WouldDestroy, finding.Why("several-in-state"))
	want := schema.GuestAddress(s.entry.Kind, s.entry.Profile, s.Key)
	for _, r := range s.states {
		s.Because("in state as %s, VMID %d", r.Address, r.VMID)
		if r.Address != want {
			s.Add(finding.DoAll("keep the address that the specs render, and remove the others from the state", s.stateRemove(r.Address)))
		}
	}
}

// notMoved reports whether the state has another address than the plan expects, with no
// moved block between them: the state is older than the lock remembers.
func (s *subject) notMoved() bool {
	if len(s.states) != 1 || s.states[0].VMID != s.VMID || s.Destroy {
		return false
	}
	at := s.states[0].Address
	return at != s.entry.Resource(s.entry.Address(s.Key)) &&
		!slices.ContainsFunc(s.entry.Former, func(a lock.Address) bool { return s.entry.Resource(a) == at })
}

func (s *subject) destroyNotMoved() {
	at, want := s.states[0].Address, s.entry.Resource(s.entry.Address(s.Key))
	s.Is(finding.WouldDestroy, finding.Why("not-moved"))
	s.Because("state has %s, and the specs %s", at, want)
	move := "terragrunt state mv " + shell.Quote(at) + " " + shell.Quote(want)
	s.Next("move it in the state, then run preflight again", lock.InUnit(s.Stack, s.Unit, move))
}

// vmidDiffers reports whether the state has the key with another VMID: it was restored from a
// backup, or belongs to another project.
func (s *subject) vmidDiffers() bool { return len(s.states) == 1 && s.states[0].VMID != s.VMID }

func (s *subject) destroyOtherVMID() {
	r, reason := s.states[0], finding.Why("vmid-differs-in-state")
	if s.retired() {
		reason = finding.Why("vmid-differs-retired")
	}
	s.Is(finding.WouldDestroy, reason).Because("%s has VMID %d in state and %d in the lock", r.Address, r.VMID, s.VMID)
	g := s.Inventory.Guest(r.VMID)
	if g != nil {
		s.listed[g.VMID] = true
		s.Because("VMID %d is %s", r.VMID, Describe(g))
	} else {
		s.Because("no visible guest has VMID %d", r.VMID)
	}
	// The entry of a VM that does not exist and was never seen may be a new one, in place of one that
	// was lost.
	unseen := s.entry.Fingerprint == nil && s.entry.Status == lock.Live && s.Inventory.Guest(s.VMID) == nil
	lost := unseen && g != nil && g.Name == s.Name && g.Config != nil && share(g.Config.MACs, r.MACs)
	decided := s.entry.DecidedMACs()
	if lost || len(r.MACs) > 0 && len(decided) > 0 && !share(decided, r.MACs) {
		s.Next("if the lock was lost and created again, or a merge dropped the line of this "+s.Word()+", restore it",
			lock.Restore)
	}
	if lost {
		s.Next(fmt.Sprintf("or, if %s %d is the right one, write into %s", s.Word(), r.VMID, s.at.Spec), s.line(fmt.Sprintf("vmid: %d", r.VMID)))
		return
	}
	s.Next("if the state is an old one, restore the right one")
	s.Add(finding.DoAll("if the state is wrong, remove the "+s.Word()+" from it, then run preflight again", s.stateRemove(r.Address)))
}

// share reports whether two lists of MAC addresses have one in common.
func share(a, b []string) bool {
	return slices.ContainsFunc(a, func(mac string) bool { return contains(b, mac) })
}

// tainted reports whether the state marks the VM as tainted: its creation failed halfway, or
// somebody ran taint. The plan would replace it, which no spec can ask for.
func (s *subject) tainted() bool { return len(s.states) == 1 && s.states[0].Tainted && !s.Destroy }

func (s *subject) destroyTainted() {
	address := s.states[0].Address
	s.Is(finding.WouldDestroy, finding.Why("tainted"))
	s.Because("%s", Describe(s.guest))
	what, lines := s.untaint(address)
	s.Next(what, lines...)
	s.hold().destroy(s.Finding, "or, to create it again, destroy it by hand, %s, then run preflight again, "+
		"which says how to remove it from the state")
}

// untaint says how a tainted guest is kept. The next apply completes a VM. Of a container, a creation
// that failed leaves nothing undone but the start, and the provider does not start it later.
func (s *subject) untaint(address string) (what string, lines []string) {
	lines = []string{lock.InUnit(s.Stack, s.Unit, "terragrunt run -- untaint "+shell.Quote(address))}
	switch {
	case !s.entry.IsContainer():
		return "to keep it, untaint it: the next apply completes it", lines
	case s.guest.Status != "running" && s.match.VM != nil && s.match.VM.Values.Get(guest.Started).Bool():
		return "to keep it, untaint it, and start it", append(lines, pve.Pvesh("create", s.guest.Path("status", "start")))
	}
	return "to keep it, untaint it", lines
}

// destroyPrevented reports whether the profile prevents the destroy of a VM whose whole stack is
// destroyed.
func (s *subject) destroyPrevented() bool {
	return s.Destroy && !s.notInState() && s.profile != nil && s.profile.PreventDestroy
}

func (s *subject) destroyHalfway() {
	s.Is(finding.WouldDestroy, finding.Why("profile-prevents-destroy", s.profile.Name))
	s.Add(s.retire("to destroy it too, ", s.Key))
	s.Next("or keep the stack, and retire only the VMs that you want to destroy")
}

// lends reports whether other guests have volumes of the VM: somebody attached one there, or the
// VM was restored under another VMID. Proxmox VE deletes with a VM all volumes that have its VMID,
// and the provider asks for those that the VM does not have, too.
func (s *subject) lends() bool { return len(lostWith(s.guest, s.borrowed[s.VMID])) > 0 }

func (s *subject) destroysLent() bool { return s.Destroy && !s.notInState() && s.lends() }

func (s *subject) destroyLent() {
	refuseLent(s.Finding, s.guest, lostWith(s.guest, s.borrowed[s.VMID]))
}

// refuseLent refuses to destroy a VM of which others have volumes. A move of one that the VM has, too, must not delete it:
// the destroy was refused, and may never come.
func refuseLent(f *finding.Finding, g *cluster.Guest, borrowed []cluster.Borrowed) {
	f.Is(finding.WouldDestroy, finding.Why("lends-volumes"))
	var move, copied []string
	for _, b := range borrowed {
		f.Because("%s has %s as %s", Describe(b.By), b.Volume, b.Entry)
		if g != nil && len(entriesWith(g, b.Volume)) > 0 {
			copied = append(copied, copyLent(b)...)
			continue
		}
		switch name, _ := pve.SplitKey(b.Entry); {
		case b.By.Kind == guest.Container:
			move = append(move, pve.Pvesh("create", b.By.Path("move_volume"), "--volume "+shell.Word(b.Entry), "--storage STORAGE", "--delete 1"))
		case name != "unused":
			move = append(move, moveTo(b.By, b.Entry, "STORAGE"))
		}
	}
	if len(copied) > 0 {
		f.Next("copy it to another storage, which leaves the volume as it is, and remove the entry unusedN that this leaves there; "+
			"then run the same command again", copied...)
	}
	if len(move) > 0 {
		f.Next("move it to another storage, where it gets the VMID of the guest that has it, then run the same command again", move...)
		return
	}
	f.Next("give that guest a volume of its own, or remove it from its configuration, then run the same command again")
}
