package guard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/effect"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// A subject is one VM while it is judged.
type subject struct {
	*judge
	*finding.Finding
	at      *place
	match   *cluster.Match
	entry   *lock.VM
	profile *schema.Profile
	states  []tf.Resource  // in the state, by its key
	guest   *cluster.Guest // the guest with its VMID, the right one or not

	notKnown []string        // of what its creation needs
	next     []effect.Update // that the next apply makes
}

// vms judges every VM of a stack, also those that only the lock has.
func (j *judge) vms(at *place) {
	for i := range j.all {
		m := &j.all[i]
		if m.Stack != at.Name || m.Entry == nil {
			continue
		}
		v := j.add(at, lock.UnitVM, finding.VM, m.Key)
		v.VMID, v.Node, v.Name = m.VMID, m.Entry.Node, m.Name()
		s := &subject{judge: j, Finding: v, at: at, match: m, entry: m.Entry, profile: j.profile(m.Entry), guest: cmp.Or(m.Guest, m.Holder)}
		v.Resource = schema.VMAddress(m.Entry.Profile, m.Key)
		if !s.decide() {
			j.out = j.out[:len(j.out)-1]
			continue
		}
		j.kinds[at.Name+"/"+m.Key] = v.Kind
	}
}

// decide judges one VM. It reports whether there is a finding.
func (s *subject) decide() bool {
	var unreadable string
	if s.states, unreadable = s.find(s.at, lock.UnitVM, guest.VMResource, s.at.keys(s.Key, s.entry)...); unreadable != "" {
		stateUnknown(s.Finding, unreadable)
		return true
	}
	if len(s.states) > 0 {
		s.Resource = s.states[0].Address
	}
	if s.guest != nil {
		s.Node, s.listed[s.guest.VMID] = s.guest.Node, true
		s.Name = cmp.Or(s.Name, s.guest.Name)
	}
	switch {
	case s.entry.Status == lock.Forgotten:
		return s.forgotten()
	case len(s.states) > 1:
		s.duplicate()
	case len(s.states) == 1 && s.otherID(s.Finding, &s.states[0]):
	case s.notMoved():
	case s.entry.Status == lock.Retired:
		s.retired()
	case len(s.states) == 1 && s.states[0].VMID != s.VMID:
		s.otherVMID()
	case s.nodeDown(), gaps(s.Finding, s.Inventory.GapsForVM(s.VMID)), s.inOtherState():
	case s.Destroy && len(s.states) == 0 && s.match.Guest == nil:
		return s.cloned()
	case s.guest == nil && len(s.states) == 0:
		s.absent()
	case s.guest == nil && s.Destroy:
		s.Is(finding.Retiring, "not in the cluster any more: the destroy removes it from the state")
	case s.guest == nil:
		s.gone()
	default:
		s.present()
	}
	return true
}

// duplicate is a VM that a state has at several addresses.
func (s *subject) duplicate() {
	s.Is(finding.WouldDestroy, "in state several times: an apply would destroy it")
	want := schema.VMAddress(s.entry.Profile, s.Key)
	for _, r := range s.states {
		s.Because("in state as %s, VMID %d", r.Address, r.VMID)
		if r.Address != want {
			s.Add(finding.DoAll("keep the address that the specs render, and remove the others from the state", s.stateRemove(r.Address)))
		}
	}
}

// stateRemove is the line that removes an address from the unit's state.
func (s *subject) stateRemove(address string) finding.Line {
	return lock.StateRemove(s.Stack, s.Unit, address)
}

// otherVMID is a state that has the key with another VMID: one that was restored
// from a backup, or belongs to another project.
func (s *subject) otherVMID() {
	r, reason := s.states[0], "the state has it with another VMID than the lock: an apply would destroy that VM and create another one"
	if s.entry.Status == lock.Retired {
		reason = "the state has it with another VMID than the lock: an apply would destroy a VM that is not retired"
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
		s.Next("if the lock was lost and created again, or a merge dropped the line of this VM, restore it", "git checkout -- "+lock.File)
	}
	if lost {
		s.Next(fmt.Sprintf("or, if VM %d is the right one, write into %s", r.VMID, s.at.Spec), s.line(fmt.Sprintf("vmid: %d", r.VMID)))
		return
	}
	s.Next("if the state is an old one, restore the right one")
	s.Add(finding.DoAll("if the state is wrong, remove the VM from it, then run preflight again", s.stateRemove(r.Address)))
}

// share reports whether two lists of MAC addresses have one in common.
func share(a, b []string) bool {
	return slices.ContainsFunc(a, func(mac string) bool { return contains(b, mac) })
}

// inOtherState is a VMID that the state of another VM or stack has as well.
func (s *subject) inOtherState() bool {
	for _, other := range s.vmids[s.VMID] {
		if other.stack == s.Stack && slices.ContainsFunc(s.states, func(o tf.Resource) bool { return o.Address == other.address }) {
			continue
		}
		s.Is(finding.Conflict, "its VMID is also in another state")
		s.Because("the state of %s has VMID %d as %s", other.stack, s.VMID, other.address)
		s.Add(finding.DoAll("remove it from the state that is wrong", lock.StateRemove(other.stack, lock.UnitVM, other.address)))
		return true
	}
	return false
}

// absent is a VM that neither state nor cluster has.
func (s *subject) absent() {
	if s.restored() || s.macTaken() {
		return
	}
	if s.match.VM != nil && s.match.VM.Adopt {
		s.Is(finding.NotFound, "the spec adopts a VMID that no guest of the cluster has").Because("no guest has VMID %d", s.VMID)
		s.Next("correct the VMID in "+s.at.Spec, s.line("adopt: {vmid: N}"))
		s.Next("or, to create it, write its template into "+s.at.Spec+", instead of adopt", s.line("template: VMID"))
		return
	}
	if id, ok := s.imported(); ok {
		s.Is(finding.NotFound, "the import file imports a VMID that no guest has")
		s.Because("%s imports %s into %s", importPath(tf.Unit{Stack: s.Stack, Unit: s.Unit}), id, s.Resource)
		s.Add(writeImports())
		return
	}
	if others := vmsOf(s.match.Others); len(others) > 0 {
		s.ambiguous(others)
		return
	}
	if hidden := slices.DeleteFunc(s.Inventory.GapsForNames(), func(g cluster.Gap) bool { return !g.AnyGuest() }); gaps(s.Finding, hidden) {
		s.Because("so another VM may be named %s already", s.Name)
		return
	}
	if s.cannotCreate() {
		return
	}
	s.Is(finding.Create, "its VMID and name are free").Because("VMID %d and name %s", s.VMID, s.Name)
	for _, text := range s.notKnown {
		s.Because("%s", text)
	}
	s.unreadMACs()
	s.brings()
}

// imported is what the import file on disk imports into the VM's address.
func (s *subject) imported() (string, bool) {
	id, ok := s.Imports[tf.Unit{Stack: s.Stack, Unit: s.Unit}][s.Resource]
	return id, ok
}

// ambiguous lists every VM that has the name, each with the line to paste.
func (s *subject) ambiguous(others []*cluster.Guest) {
	s.Is(finding.Ambiguous, "other VMs have its name, and nothing proves which one it is")
	have := "1 VM has"
	if n := len(others); n != 1 {
		have = fmt.Sprintf("%d VMs have", n)
	}
	s.Because("%s the name %s; its VMID is %d", have, s.Name, s.VMID)
	s.Import = ""
	var looks, lines []string
	for _, g := range others {
		s.listed[g.VMID] = true
		s.Candidates = append(s.Candidates, g.VMID)
		s.Because("%s", Describe(g))
		looks, lines = append(looks, inspect(g)), append(lines, s.line(fmt.Sprintf("adopt: {vmid: %d}", g.VMID)))
	}
	s.Next("inspect each", looks...)
	s.Next("then write the line of the right one into "+s.at.Spec+", or run `stackgen adopt KEY=VMID`", lines...)
	s.Next("or, if it is none of them, give the VM another name in "+s.at.Spec, s.line("name: ANOTHER-NAME"))
}

// gone is a VM that the state has and the cluster does not have any more.
func (s *subject) gone() {
	if s.restored() {
		return
	}
	r := s.states[0]
	s.Is(finding.Gone, "in state, and not in the cluster any more: a plan would create it again, empty")
	s.Because("%s has VMID %d, and no guest has that VMID", r.Address, s.VMID)
	for _, g := range vmsOf(s.match.Others) {
		s.listed[g.VMID] = true
		s.Because("another VM of this name: %s", Describe(g))
	}
	s.Next("if it was deleted by mistake, restore it from a backup, then run preflight again", fmt.Sprintf("qmrestore BACKUP %d", s.VMID))
	s.Add(finding.DoAll("or, to create it again, remove it from the state, then run preflight again", s.stateRemove(r.Address)))
	s.Add(s.retire("or, if you do not need it any more, "))
}

// retire is the step that removes the VM from where its spec has it, and retires it.
func (s *subject) retire(what string) finding.Step {
	return finding.DoAll(what+leaves(s.match.VM, s.at.Spec), finding.Entries("retired", s.Key), "stackgen render")
}

// leaves says where a VM is removed from its spec.
func leaves(v *schema.VM, spec string) string {
	if v == nil {
		return "retire it in " + spec
	}
	switch list, name, _ := strings.Cut(v.Path, "."); {
	case list == "teacher":
		return "remove `teacher` from " + spec + " and retire it there"
	case list == "students" && v.Member == "":
		return "lower `count` of `students` in " + spec + " and retire it there"
	case list == "students":
		return "remove it from the roster of " + spec + " and retire it in the spec"
	case list == "groups":
		return fmt.Sprintf("lower `count` of groups.%s in %s, which removes its last VM, and retire it there", name, spec)
	}
	return "remove it from vms in " + spec + " and retire it there"
}

// forgotten is a VM that is no longer managed. An apply would destroy it as long as the state
// has it.
func (s *subject) forgotten() bool {
	if len(s.states) == 0 {
		return false
	}
	s.Is(finding.WouldDestroy, "forgotten, and still in state: an apply would destroy it")
	if s.guest != nil {
		s.Because("%s", Describe(s.guest))
	}
	for _, r := range s.states {
		s.Add(finding.DoAll("remove it from the state", s.stateRemove(r.Address)))
	}
	return true
}
