package guard

import (
	"fmt"
	"strings"

	"stackgen/internal/finding"
	"stackgen/internal/lock"
)

// maxClaims is how many VMs a note names.
const maxClaims = 5

// ClaimNotes name the VMs that the locks of other projects have, too. The locks that are at
// hand are all that shows it: two projects with one VM do not see each other.
func ClaimNotes(in Input, found []finding.Finding, others []lock.Other) []string {
	if in.Inventory == nil {
		return nil
	}
	var out []string
	for i := range others {
		var names []string
		for j := range found {
			names = append(names, claimed(in, &found[j], others[i:i+1])...)
		}
		if n := len(names); n > maxClaims {
			names = append(names[:maxClaims], fmt.Sprintf("and %d more", n-maxClaims))
		}
		if len(names) > 0 {
			out = append(out, fmt.Sprintf("another project manages guests of this one or with their names, by its lock %s: %s. "+
				"Two projects with one guest change and destroy it without seeing each other: forget it in one of them (`forgotten: [KEY]`)",
				others[i].File, strings.Join(names, ", ")))
		}
	}
	return out
}

// claimed names the VMs that another project has of those that a finding is about: the VM
// itself, or those with its name.
func claimed(in Input, f *finding.Finding, others []lock.Other) []string {
	what := ""
	switch {
	case f.Type == finding.VM && f.Kind == finding.Ambiguous:
		what = "the name of "
	case f.Type != finding.VM || !f.Kind.Exists() && f.Kind != finding.Adopt:
		return nil
	}
	var out []string
	for _, vmid := range append([]int{f.VMID}, f.Candidates...) {
		g := in.Inventory.Guest(vmid)
		if g == nil {
			continue
		}
		if c := in.Inventory.Claimed(others, g); c != nil {
			out = append(out, fmt.Sprintf("%s %d (%s%s/%s here, %s/%s there)", g.Kind.Name(), vmid, what, f.Stack, f.Key, c.Stack, c.Key))
		}
	}
	return out
}
