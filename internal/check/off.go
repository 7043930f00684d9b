package check

import (
	"fmt"
	"maps"
	"slices"

	"stackgen/guest"
	"stackgen/internal/finding"
	"stackgen/internal/project"
)

// Starts are the VMs of a stack, by their keys, and whether its spec says that they are started when they are created.
func Starts(p *project.Project, stack string) map[string]bool {
	out := map[string]bool{}
	for _, s := range p.SelectedStacks() {
		for _, v := range s.VMs {
			if s.Name == stack {
				out[v.Key] = v.Values.Get(guest.Started).Bool()
			}
		}
	}
	return out
}

// NotStarted are the guests of a stack that are to run and that runs have created or stopped, and may not have started.
// They are the guests of the spec: what was found about them stops nothing.
func (s *Session) NotStarted(stack string, begun Begun, stopped Stopped, found []finding.Finding) []finding.Finding {
	starts := Starts(s.Project, stack)
	var out []finding.Finding
	for _, f := range found {
		created := begun[f.Key].VMID == f.VMID && begun[f.Key].Start && starts[f.Key]
		if f.Stack == stack && f.Type == finding.VM && !f.Stops() && (f.Kind.Exists() || f.Kind == finding.Adopt) &&
			(created || stopped[f.Key] == f.VMID) &&
			!slices.ContainsFunc(out, func(o finding.Finding) bool { return o.Key == f.Key }) {
			out = append(out, f)
		}
	}
	return out
}

// Off reports whether a guest exists, is off, and can be started.
func (s *Session) Off(vmid int) bool {
	g := s.Inventory.Guest(vmid)
	return g != nil && g.Status == "stopped" && g.Lock == "" && !g.Template
}

// StartNotes say which guests an apply starts because a run has left them off. What records cannot be read say nothing.
func (s *Session) StartNotes(found []finding.Finding) (out []string) {
	for _, stack := range s.Project.SelectedNames() {
		begun, _ := ReadBegun(s.Project.Root, stack)
		begun = maps.Clone(begun)
		begun.Created(s.State, stack)
		stopped, _ := ReadStopped(s.Project.Root, stack)
		var names []string
		for _, f := range s.NotStarted(stack, begun, stopped, found) {
			if s.Off(f.VMID) {
				names = append(names, f.String())
			}
		}
		if len(names) == 0 {
			continue
		}
		text := names[0]
		if more := len(names) - 1; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		out = append(out, "an apply starts "+text+", which a run has left off")
	}
	return out
}
