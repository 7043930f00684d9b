package lock

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/schema"
)

// CreationValue is what a creation of a VM would use for a property that acts at creation
// only. It is empty if that is not decided, or if the VM is adopted.
func (v *VM) CreationValue(spec *schema.VM, property string) string {
	if property == guest.Clone { // the spec may leave it to the cluster
		return v.Clone
	}
	return spec.Values.Get(property).Str()
}

// madeWith keeps what a VM that exists was made with, where its spec has another value since
// of a property that acts at creation only.
func (d *stackDecider) madeWith(v *schema.VM, was, out *VM) {
	if out.VMID != was.VMID || v.Adopt {
		return
	}
	if p := v.Placement; v.Node == "" && p != nil && len(p.Choices()) > 0 && was.Node != "" && !slices.Contains(p.Choices(), was.Node) {
		d.notPlaced = append(d.notPlaced, fmt.Sprintf("%s (%s)", v.Key, was.Node))
	}
	if v.IsContainer() {
		return
	}
	profile := d.profile(v.Profile)
	for _, f := range schema.CreationRows() {
		is := out.CreationValue(v, f.Key)
		if is == "" || !f.ActsAtCreation(profile) {
			continue
		}
		before := d.before(v, was, f.Key)
		if before != "" && before != is {
			c := creationChange{f.Key, is}
			d.otherCreation[c] = append(d.otherCreation[c], v.Key)
		}
		made := cmp.Or(was.MadeWith[f.Key], before)
		if was.Fingerprint == nil || made == "" || made == is {
			continue
		}
		if out.MadeWith == nil {
			out.MadeWith = Values{}
		}
		out.MadeWith[f.Key] = made
	}
}

// before is what a creation would have used before this run, or nothing if that is not known:
// only the rendered files have what the spec said.
func (d *stackDecider) before(v *schema.VM, was *VM, property string) string {
	switch {
	case property == guest.Clone:
		return was.Clone
	case d.options.Rendered != nil:
		return d.options.Rendered(d.stack, v.Key, property)
	}
	return ""
}

// profile is a profile of the project, or nil.
func (d *decider) profile(name string) *schema.Profile {
	i := slices.IndexFunc(d.project.Profiles, func(p schema.Profile) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &d.project.Profiles[i]
}

// A creationChange is another value of a property that acts at creation only.
type creationChange struct{ property, is string }

func (c creationChange) compare(o creationChange) int {
	return cmp.Or(strings.Compare(c.property, o.property), strings.Compare(c.is, o.is))
}

// creationNotes say which VMs have another value in the spec than before.
func (d *stackDecider) creationNotes() {
	for _, c := range slices.SortedFunc(maps.Keys(d.otherCreation), creationChange.compare) {
		d.note("%s: %s: %s is another value than before: %s. It acts at creation: a guest that exists stays as it was made",
			d.stack.Name, c.property, c.is, some(d.otherCreation[c]))
	}
	if len(d.notPlaced) > 0 {
		d.note("%s: the placement of the spec does not have the node of %s. It acts at creation: a guest that exists stays where it is",
			d.stack.Name, some(d.notPlaced))
	}
}
