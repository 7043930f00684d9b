package guard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
)

// A VM is `gone` if the state has it and the cluster does not, or if it exists under another VMID.

// gone is a VM that the state has and the cluster does not have any more.
func (s *subject) gone() {
	r := s.states[0]
	s.Is(finding.Gone, finding.Why("gone"))
	s.Because("%s has VMID %d, and no guest has that VMID", r.Address, s.VMID)
	for _, g := range s.match.Others {
		if (g.Kind == guest.Container) == s.entry.IsContainer() {
			s.listed[g.VMID] = true
			s.Because("another %s of this name: %s", g.Kind.Name(), Describe(g))
		}
	}
	s.Next("if it was deleted by mistake, restore it from a backup, then run preflight again", s.restore())
	created := !s.entry.IsContainer() && s.match.VM != nil && !s.match.VM.Adopt && len(vmsOf(s.match.Others)) == 0
	if f, t := s.entry.Fingerprint, s.entry.Template; created && f != nil && f.UUID != "" && t != nil && t.VMID != 0 {
		s.Next("or create it again", "stackgen rebuild "+s.Stack+"/"+s.Key)
	}
	if s.match.VM == nil || !s.match.VM.Adopt { // that is never created
		s.Add(finding.DoAll("or, to create it again, remove it from the state, then run preflight again", s.stateRemove(r.Address)))
	}
	keys := []string{s.Key}
	if v := s.match.VM; v != nil && groupOf(v) != noGroup { // a group has one count
		keys = s.goneOf(groupOf(v))
	}
	s.Add(s.retire("or, if you do not need it any more, ", keys...))
}

// restore is the command that restores the guest from a backup.
func (s *subject) restore() string {
	if s.entry.IsContainer() {
		return fmt.Sprintf("pct restore %d BACKUP", s.VMID)
	}
	return fmt.Sprintf("qmrestore BACKUP %d", s.VMID)
}

// restored reports whether no guest has the VMID, while another guest has the identity of the VM.
func (s *subject) restored() bool { return s.absent() && len(s.seenCopies()) > 0 }

// seenCopies are the VMs with another VMID that have the recorded identity of the VM.
func (s *subject) seenCopies() []cluster.Copy {
	return slices.DeleteFunc(slices.Clone(s.match.Copies), func(c cluster.Copy) bool { return !c.Seen || c.Kind != guest.VM })
}

// goneToOtherVMID is a VM of which a creation or a restore would make two.
func (s *subject) goneToOtherVMID() {
	copies := s.seenCopies()
	s.Is(finding.Gone, finding.Why("other-vmid"))
	s.Because("no guest has VMID %d", s.VMID)
	for _, c := range copies {
		s.listed[c.VMID] = true
		s.Candidates = append(s.Candidates, c.VMID)
		s.Because("%s: %s", sharing(c), Describe(c.Guest))
		if s.hasEntry() {
			s.Next(fmt.Sprintf("if VM %d is this VM, use it: %sadopt it, and import it", c.VMID, s.removeFirst()), s.adoptCopy(c)...)
		} else {
			s.Next(fmt.Sprintf("a VM of a group, class or Template cannot have another VMID: if VM %d is this VM, "+
				"restore it under VMID %d, and destroy VM %d", c.VMID, s.VMID, c.VMID), fmt.Sprintf("qmrestore BACKUP %d", s.VMID))
		}
	}
	s.Next("or inspect it, and destroy it if it is only a copy; then run preflight again", inspect(copies[0].Guest))
}

// removeFirst names what must be done before adoptCopy adopts: keys that keep an entry from being adopted, and
// its first command.
func (s *subject) removeFirst() (out string) {
	out = s.removeKeys()
	if len(s.states) > 0 {
		out += "remove the former one from the state, "
	}
	return out
}

// removeKeys names the keys that must be removed before the guest is adopted as another one; "" if it has none.
func (s *subject) removeKeys() string {
	keys := s.notOfAdopted()
	if len(keys) == 0 {
		return ""
	}
	return "remove " + strings.Join(keys, " and ") + " from its entry in " + s.at.Spec + ", "
}

// notOfAdopted are the keys in the entry of a guest that keep it from being adopted as another guest.
func (s *subject) notOfAdopted() (keys []string) {
	for _, key := range []string{guest.VMID, guest.Profile} {
		if s.match.VM != nil && s.match.VM.Own.Get(key) != nil {
			keys = append(keys, "`"+key+"`")
		}
	}
	return keys
}

// adoptCopy are the commands after which the VM is another guest.
func (s *subject) adoptCopy(c cluster.Copy) []string {
	var out []string
	for _, r := range s.states {
		out = append(out, s.stateRemove(r.Address).String())
	}
	return append(out, s.adoptLine(c.VMID).String(), "stackgen render", "stackgen import-blocks")
}

// sharing says what a copy shares with the VM.
func sharing(c cluster.Copy) string {
	if len(c.MACs) == 0 {
		return "it has the recorded smbios1 uuid"
	}
	return "it has the MAC " + strings.Join(c.MACs, " ")
}

// retire is the step that removes VMs, the subject among them, from where its spec has them, and retires them.
func (s *subject) retire(what string, keys ...string) finding.Step {
	place, entries := Leaves(s.at.VMs, s.match.VM, keys, s.at.Spec)
	step := finding.DoAll(what+place, lock.Entries("retired", s.at.Retired, keys...), "stackgen render")
	step.Lines = slices.Concat(finding.Lines(entries...), step.Lines)
	return step
}

// goneOf are the keys of the members of a group that the state has and the cluster does not have any more.
func (s *subject) goneOf(group string) (keys []string) {
	for i := range s.all {
		m := &s.all[i]
		if m.Stack != s.Stack || m.Entry == nil || m.VM == nil || groupOf(m.VM) != group {
			continue
		}
		other := *s
		other.match, other.entry, other.guest = m, m.Entry, cmp.Or(m.Guest, m.Holder)
		other.states, _ = s.find(s.at, m.Entry.In(), m.Entry.Kind.Resource(), s.at.keys(m.Key, m.Entry)...)
		if m.Key == s.Key || other.absentInState() && len(other.seenCopies()) == 0 {
			keys = append(keys, m.Key)
		}
	}
	return keys
}
