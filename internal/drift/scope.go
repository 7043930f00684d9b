package drift

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/finding"
	"stackgen/schema"
)

// ScopeOf is what was looked at, and which guests of the pools, tags and VMID ranges of the
// selected specs they manage.
func ScopeOf(in Input) finding.Scope {
	s := finding.Scope{Units: []finding.ScopeUnit{}, Nodes: []finding.ScopeNode{}, VMs: []finding.ScopeVM{}}
	for _, u := range in.Units {
		s.Units = append(s.Units, finding.ScopeUnit{
			Stack:     u.Stack,
			Unit:      u.Unit,
			Resources: len(in.State[u].Resources),
			Planned:   in.Plans[u] != nil,
		})
	}
	for _, n := range in.Inventory.Nodes {
		s.Nodes = append(s.Nodes, finding.ScopeNode{Name: n.Name, Online: n.Online})
	}
	ours := map[int]bool{}
	for _, stack := range in.Project.Stacks {
		l := in.Lock.Stacks.Get(stack.Name)
		if l == nil {
			continue
		}
		entries := l.VMs.ByKey()
		for _, e := range l.VMs {
			ours[e.Value.VMID] = true // also a retired one
		}
		for _, v := range stack.VMs {
			e := entries[v.Key]
			if e == nil {
				continue
			}
			if !in.Selected(stack.Name) {
				continue
			}
			vm := finding.ScopeVM{Stack: stack.Name, Key: v.Key, VMID: e.VMID, Container: v.IsContainer()}
			if g := in.Inventory.Guest(e.VMID); g != nil {
				vm.Node = g.Node
				s.Coverage.Managed++
			}
			s.VMs = append(s.VMs, vm)
		}
	}
	s.Coverage.Unmanaged, s.Coverage.Steps = unmanaged(in, ours)
	return s
}

// unmanaged are the guests with a pool, tag or VMID of a selected stack that no spec has.
func unmanaged(in Input, ours map[int]bool) ([]finding.Unmanaged, []finding.Step) {
	why := map[int]string{}
	for i := range in.Found {
		if f := &in.Found[i]; f.Kind == finding.Orphan {
			why[f.VMID] = "has a mark of " + f.Stack
			if f.Mark != "" {
				why[f.VMID] = f.Mark
			}
		}
	}
	out, steps := []finding.Unmanaged{}, []finding.Step{}
	for i := range in.Inventory.Guests {
		g := &in.Inventory.Guests[i]
		text, marked := why[g.VMID]
		if !marked {
			text = rangeOf(in, g.VMID)
		}
		if text == "" || ours[g.VMID] || g.Template {
			continue
		}
		out = append(out, finding.Unmanaged{VMID: g.VMID, Name: g.Name, Node: g.Node, Why: text})
	}
	if len(out) > 0 {
		vmids := []string{}
		for _, u := range out {
			vmids = append(vmids, fmt.Sprint(u.VMID))
		}
		steps = append(steps, finding.Do("to write them into specs", "stackgen discover "+strings.Join(vmids, " ")))
	}
	return out, steps
}

// rangeOf is the range of a selected stack that has a VMID, or empty.
func rangeOf(in Input, vmid int) string {
	i := slices.IndexFunc(in.Project.Stacks, func(s *schema.Stack) bool {
		return in.Selected(s.Name) && s.VMIDs != nil && s.VMIDs.First <= vmid && vmid <= s.VMIDs.Last
	})
	if i < 0 {
		return ""
	}
	s := in.Project.Stacks[i]
	return fmt.Sprintf("in the VMID range of %s, %d-%d", s.Name, s.VMIDs.First, s.VMIDs.Last)
}
