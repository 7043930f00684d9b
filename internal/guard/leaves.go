package guard

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/finding"
	"stackgen/schema"
)

// A Place is where a spec has VMs, of which one leaves as another one does.
type Place struct {
	list  string // teacher, students, vms, containers, or nodes of a Template; empty if the spec does not have the VM any more
	group string
	named bool // a student of a roster
}

// PlaceOf is the place of a VM; of none, where the spec has nothing.
func PlaceOf(v *schema.VM) Place {
	if v == nil {
		return Place{}
	}
	list, _, _ := strings.Cut(v.Path, ".")
	switch list {
	case "teacher":
		return Place{list: list}
	case "students":
		return Place{list: list, named: v.Member != ""}
	case guest.Nodes:
		return Place{list: list}
	case guest.Release: // a former one, which only the lock has
		return Place{}
	case "groups":
		return Place{list: list, group: groupOf(v)}
	}
	return Place{list: v.Kind.List()}
}

// Leaves says where a VM is removed from its spec, and which entries are written there. all are the VMs of its stack,
// and leaving the keys of those that are removed. Without a VM, the spec does not have it any more.
func Leaves(all []*schema.VM, v *schema.VM, leaving []string, spec string) (text string, entries []string) {
	switch at := PlaceOf(v); {
	case at.list == "":
		return "retire it in " + spec, nil
	case at.list == guest.Nodes:
		return "remove its node from `nodes` in " + spec + ", or write another `release` there, and retire it there", nil
	case at.list == "teacher":
		return "remove `teacher` from " + spec + " and retire it there", nil
	case at.list == "students" && !at.named:
		return "lower `count` of `students` in " + spec + " and retire it there", nil
	case at.list == "students":
		return "remove it from the roster of " + spec + " and retire it in the spec", nil
	case at.group != "":
		return leavesGroup(all, at.group, leaving, spec)
	default:
		return "remove it from " + at.list + " in " + spec + " and retire it there", nil
	}
}

// leavesGroup is Leaves for members of a group, which has those from 1 to its count. Members with a higher number than
// one that leaves get entries of their own, under the same keys.
func leavesGroup(all []*schema.VM, group string, leaving []string, spec string) (text string, entries []string) {
	var members []*schema.VM
	for _, v := range all {
		if groupOf(v) == group {
			members = append(members, v)
		}
	}
	word := func(s string) *schema.Node { return schema.Scalar(schema.Pos{}, schema.ShapeString, s) }
	leaves := func(v *schema.VM) bool { return slices.Contains(leaving, v.Key) }
	count := slices.IndexFunc(members, leaves) // they are in the order of their numbers
	set := fmt.Sprintf("set `count` of %s in %s to %d", group, spec, count)
	for _, v := range members[count:] {
		if !leaves(v) {
			own := v.Own.With(word(guest.Name), word(v.Name)) // the pattern of the names may have the number
			entries = append(entries, finding.Key(v.Key)+": "+own.Flow())
		}
	}
	if len(entries) == 0 {
		return set + " and retire it there", nil
	}
	const write = ", write its members that stay under %s instead, remove them from its `overrides`, and retire it there"
	return set + fmt.Sprintf(write, members[count].Kind.List()), entries
}
