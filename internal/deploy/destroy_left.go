package deploy

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/finding"
)

// existing are the VMs of a stack that exist and are in no state.
func existing(found []finding.Finding, stack string) []string {
	var out []string
	for _, f := range found {
		if f.Stack == stack && f.Type == finding.VM && (f.Kind == finding.Adopt || isClone(&f)) {
			out = append(out, f.Key)
		}
	}
	return out
}

// isClone reports whether a finding is about a clone that nobody has completed, and that a destroy leaves.
func isClone(f *finding.Finding) bool {
	return f.Case == finding.OpenClone || f.Case == finding.LeftClone && !f.Stops()
}

// notInState are notes about the VMs that exist and are in no state, and how to destroy
// those, too, that an interrupted apply has made.
func (r *run) notInState(found []finding.Finding) []string {
	var out, stacks []string
	for _, f := range found {
		if isClone(&f) {
			out = append(out, fmt.Sprintf("%s, %s %d on %s, was never completed. "+
				"It is in no state, so it is not destroyed; `%s` says what to do",
				f.Address, f.Word(), f.VMID, f.Node, r.p.Command("preflight", f.Stack)))
		}
		if f.Case == finding.OtherVMID {
			out = append(out, fmt.Sprintf("%s has VMID %s now, and is not destroyed", f.Address, strings.Trim(fmt.Sprint(f.Candidates), "[]")))
		}
		if f.Type != finding.VM || f.Kind != finding.Adopt {
			continue
		}
		out = append(out, fmt.Sprintf("%s, %s %d on %s, is in no state, so it is not destroyed", f.Address, f.Word(), f.VMID, f.Node))
		if f.Case == finding.HalfMade && !slices.Contains(stacks, f.Stack) { // another one was not made by an apply
			stacks = append(stacks, f.Stack)
		}
	}
	for _, name := range stacks {
		if r.p.Specs[name] != "" {
			out = append(out, fmt.Sprintf("to destroy the VMs of %s that are in no state as well, complete them first: `%s`; "+
				"then run this command again: `%s`", name, r.p.Command("apply", name), r.Line))
		}
	}
	return out
}
