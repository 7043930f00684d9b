package guard

import (
	"fmt"
	"slices"

	"stackgen/internal/cluster"
	"stackgen/internal/finding"
)

// A VM is `ambiguous` if other guests have its name, and nothing proves which one it is.

// candidates are the VMs that may be the VM: those with its name, where nothing else says which
// one it is.
func (s *subject) candidates() []*cluster.Guest {
	others := vmsOf(s.match.Others)
	switch {
	case s.absent():
		return others
	case s.notInState() && s.byNameOnly() && len(others) > 0:
		return append([]*cluster.Guest{s.guest}, others...)
	}
	return nil
}

// byNameOnly reports whether nothing but the name says that the guest is the VM.
func (s *subject) byNameOnly() bool {
	return slices.Contains([]cluster.Why{cluster.ByName, cluster.NameAlone, cluster.HalfMade}, s.match.Why)
}

func (s *subject) isAmbiguous() bool { return len(s.candidates()) > 0 }

// ambiguous lists every VM that has the name, each with the line to paste.
func (s *subject) ambiguous() {
	others := s.candidates()
	s.Is(finding.Ambiguous, finding.Why("name-of-others"))
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
	if s.isReplica() { // what a Template makes is never adopted
		s.Next("then give each another name in Proxmox VE, or destroy those that nobody needs, then run preflight again")
		s.Add(finding.Step{What: "or " + s.leaveRelease(), Lines: s.forget()})
		return
	}
	s.Next("then "+s.removeKeys()+"write the line of the right one into "+s.at.Spec+", or run `stackgen adopt KEY=VMID`", lines...)
	s.Next("or, if it is none of them, give the VM another name in "+s.at.Spec, s.line("name: ANOTHER_NAME"))
}
