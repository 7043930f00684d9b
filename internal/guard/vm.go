package guard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/shell"
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
	states  []Resource
	guest   *cluster.Guest // on its VMID, whatever it is
}

// vms judges every VM of a stack, those that only the lock still has included.
func (j *judge) vms(at *place) {
	for i := range j.matches {
		m := &j.matches[i]
		if m.Stack != at.Name || m.Entry == nil {
			continue
		}
		j.out = append(j.out, finding.Finding{})
		v := &j.out[len(j.out)-1]
		*v = finding.Finding{Address: finding.Address{Stack: at.Name, Unit: lock.UnitVM, Type: finding.VM, Key: m.Key},
			Object: finding.Object{VMID: m.VMID, Node: m.Entry.Node, Name: m.Name()}}
		s := &subject{judge: j, Finding: v, at: at, match: m, entry: m.Entry, guest: cmp.Or(m.Guest, m.Holder)}
		v.Resource = schema.VMAddress(m.Entry.Profile, m.Key)
		for k := range j.Project.Profiles {
			if p := &j.Project.Profiles[k]; p.Name == cmp.Or(m.Entry.Profile, "default") {
				s.profile = p
			}
		}
		if !s.decide() { // nothing left to say
			j.out = j.out[:len(j.out)-1]
			continue
		}
		j.kinds[at.Name+"/"+m.Key] = v.Kind
	}
}

// decide judges one VM. It reports whether there is a verdict at all.
func (s *subject) decide() bool {
	keys := []string{s.Key}
	for _, a := range s.entry.Former {
		keys = append(keys, a.Key)
	}
	for _, r := range s.at.Renamed {
		if r.To == s.Key {
			keys = append(keys, r.From)
		}
	}
	var problem string
	if s.states, problem = s.held(s.at, lock.UnitVM, TypeVM, keys...); problem != "" {
		unread(s.Finding, problem)
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
		s.twice()
	case s.notMoved():
	case s.entry.Status == lock.Retired:
		s.retired()
	case len(s.states) == 1 && s.states[0].VMID != s.VMID:
		s.otherVMID()
	case gaps(s.Finding, s.Inventory.GapsForVM(s.VMID)), s.offline(), s.absorbed():
	case s.Destroy && len(s.states) == 0 && s.match.Guest == nil:
		return false // a destroy has nothing to do with it
	case s.guest == nil && len(s.states) == 0:
		s.nowhere()
	case s.guest == nil && s.Destroy:
		s.Is(finding.Retiring).Because("it is gone from the cluster: the destroy takes it out of the state")
	case s.guest == nil:
		s.lost()
	default:
		s.present()
	}
	return true
}

// twice is a VM that a state has at several addresses.
func (s *subject) twice() {
	s.Is(finding.WouldDestroy)
	for _, r := range s.states {
		s.Because("in state as %s, VMID %d", r.Address, r.VMID)
	}
	s.Because("one VM is in state several times: an apply would destroy all but one of them")
	for _, r := range s.states {
		if want := schema.VMAddress(s.entry.Profile, s.Key); r.Address != want {
			s.Next("keep "+want+": take the other out of the state", s.rm(r.Address)...)
		}
	}
}

func (s *subject) rm(address string) []string {
	return inUnit(s.Stack, s.Unit, "terragrunt state rm "+shell.Quote(address))
}

// otherVMID is a state that has the key with another VMID: one that was restored
// from a backup, or is of another project.
func (s *subject) otherVMID() {
	r, also := s.states[0], fmt.Sprintf(" and create %d", s.VMID)
	if s.entry.Status == lock.Retired {
		also = ", which is not the VM that was retired"
	}
	s.Is(finding.WouldDestroy).Because("state has %s as VMID %d, the lock says %d: an apply would destroy %d%s", r.Address, r.VMID, s.VMID, r.VMID, also)
	switch g := s.Inventory.Guest(r.VMID); {
	case g != nil:
		s.listed[g.VMID] = true
		s.Because("VMID %d is %s", r.VMID, describe(g))
	default:
		s.Because("nothing that can be seen has VMID %d", r.VMID)
	}
	s.Next("the state is an old one: bring the right one back")
	s.Next("the state is wrong: take the VM out of it, then look again", s.rm(r.Address)...)
}

// absorbed is a VMID that another VM of the project, or another stack, has in
// state as well.
func (s *subject) absorbed() bool {
	for _, other := range s.Project.Stacks {
		for _, r := range s.State[UnitID{other.Name, lock.UnitVM}].Resources {
			if r.Type == TypeVM && r.VMID == s.VMID && !(other.Name == s.Stack && slices.ContainsFunc(s.states, func(o Resource) bool { return o.Address == r.Address })) {
				s.Is(finding.Conflict).Because("VMID %d is in the state of %s as %s too", s.VMID, other.Name, r.Address)
				s.Next("only one state may have it: take it out of the wrong one", inUnit(other.Name, lock.UnitVM, "terragrunt state rm "+shell.Quote(r.Address))...)
				return true
			}
		}
	}
	return false
}

// offline is a VM on a node that does not answer, or one that is to be created
// there.
func (s *subject) offline() bool {
	n := s.Inventory.Node(s.Node)
	switch {
	case n == nil && s.guest == nil && len(s.states) == 0 && len(s.Inventory.Nodes) > 0:
		s.Is(finding.Unknown).Because("the cluster has no node %s", s.Node)
		s.Next("correct the node in "+s.at.Spec, "node: NAME  # one of "+strings.Join(nodeNames(s.Inventory), ", "))
	case n != nil && !n.Online:
		s.Is(finding.Unknown).Because("node %s is offline, so what is said of its guests may be old", s.Node)
		if s.guest != nil {
			s.Because("%s", describe(s.guest))
		}
		s.Next("bring the node back, or wait until it is, then look again", "pvecm status")
	default:
		return false
	}
	return true
}

func nodeNames(inv *cluster.Inventory) []string {
	var out []string
	for _, n := range inv.Nodes {
		out = append(out, n.Name)
	}
	return out
}

// nowhere is a VM that neither state nor cluster has.
func (s *subject) nowhere() {
	vm := s.match.VM
	if vm.Adopt {
		s.Is(finding.NotFound).Because("the spec adopts VMID %d, and no guest of the cluster has it", s.VMID)
		s.Next("name the right VMID in "+s.where(), "adopt: {vmid: N}")
		s.Next("or let it be created: replace the line by its template", "template: VMID")
		return
	}
	if id, ok := s.imported(); ok {
		s.Is(finding.NotFound).Because("%s imports %s into %s, and nothing has that VMID", importPath(UnitID{s.Stack, s.Unit}), id, s.Resource)
		s.Next("write the import files anew", "stackgen import-blocks")
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
	if s.noTemplate() {
		return
	}
	s.Is(finding.Create).Because("VMID %d and the name %s are free", s.VMID, s.Name)
}

// imported is what the import file on disk imports into the VM's address.
func (s *subject) imported() (string, bool) {
	id, ok := s.Imports[UnitID{s.Stack, s.Unit}][s.Resource]
	return id, ok
}

// ambiguous lists every VM that carries the name, each with the line to paste.
func (s *subject) ambiguous(others []*cluster.Guest) {
	what := "another VM carries"
	if len(others) > 1 {
		what = fmt.Sprintf("%d other VMs carry", len(others))
	}
	s.Is(finding.Ambiguous).Because("%s the name %s, and nothing says that one of them is VMID %d", what, s.Name, s.VMID)
	s.Import = ""
	for _, g := range others {
		s.listed[g.VMID] = true
		s.Candidates = append(s.Candidates, g.VMID)
		s.Because("%s", describe(g))
	}
	var lines []string
	for _, g := range others {
		lines = append(lines, fmt.Sprintf("adopt: {vmid: %d}  # %s", g.VMID, inspect(g)))
	}
	s.Next("look at each, then write the line of the one that is meant into "+s.where()+", or run `stackgen adopt "+s.Key+"=VMID`", lines...)
	s.Next("it is none of them: give the VM another name in "+s.where(), "name: ANOTHER-NAME")
}

// where is the spec and the place in it, as people find it.
func (s *subject) where() string {
	if s.match.VM == nil {
		return s.at.Spec
	}
	return s.at.Spec + ", " + s.match.VM.Path
}

// noTemplate is a VM whose template is not there, so that nothing can be cloned.
func (s *subject) noTemplate() bool {
	t := s.entry.Template
	if t == nil || len(s.Inventory.GapsForVM(t.VMID)) > 0 {
		return false
	}
	g := s.Inventory.Guest(t.VMID)
	switch {
	case g == nil:
		s.Is(finding.CannotCreate).Because("its template %d is not there, so it cannot be created", t.VMID)
	case g.Kind != cluster.KindVM || !g.Template && s.entry.Clone == "linked":
		s.Is(finding.CannotCreate).Because("its template %d is no VM template: %s", t.VMID, describe(g))
	default:
		return false
	}
	s.Next("make the template again, or name another one in "+s.where(), "template: VMID")
	return true
}

// lost is a VM that the state has and the cluster has no more.
func (s *subject) lost() {
	r := s.states[0]
	s.Is(finding.Gone).Because("%s (VMID %d) is in state, and no guest of the cluster has VMID %d: the plan would show an innocent create", r.Address, s.VMID, s.VMID)
	for _, g := range vmsOf(s.match.Others) {
		s.listed[g.VMID] = true
		s.Because("of the same name: %s", describe(g))
	}
	s.Next("somebody deleted it by mistake: restore it from a backup under VMID "+fmt.Sprint(s.VMID)+", then look again", fmt.Sprintf("qmrestore BACKUP %d", s.VMID))
	s.Next("it is to be created anew, empty: take it out of the state, then look again", s.rm(r.Address)...)
	s.Next("it is to be gone: "+retire(s.at.Spec), "retired: ["+s.Key+"]", "stackgen render")
}

// forgotten is a VM that is to be left alone. As long as the state has it, an
// apply would destroy it.
func (s *subject) forgotten() bool {
	if len(s.states) == 0 {
		return false
	}
	s.Is(finding.WouldDestroy).Because("%s is forgotten, and still in state: an apply would destroy it", s.Key)
	if s.guest != nil {
		s.Because("%s", describe(s.guest))
	}
	for _, r := range s.states {
		s.Next("take it out of the state, and leave it alone from then on", s.rm(r.Address)...)
	}
	return true
}
