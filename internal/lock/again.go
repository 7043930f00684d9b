package lock

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/finding"
	"stackgen/schema"
)

// manageAgain judges the VMs of the spec that were retired or forgotten, and that may exist. One
// that the spec names, or whose student is certainly the same, is managed again. A forgotten one
// whose key comes back by a count, or by a name that others may have, may be somebody else's now:
// it is managed again only if the spec adopts it.
func (d *stackDecider) manageAgain(back Ordered[VM]) {
	var stay, managed []string
	for _, e := range back {
		v, was := d.inSpec[e.Key], e.Value
		text := fmt.Sprintf("%s (VMID %d)", e.Key, was.VMID)
		switch holder := d.used[was.VMID]; {
		case was.Status == Live || was.Gone || was.Image != nil || v.VMID != 0: // what the spec says is judged as that of any VM
		case was.Status == Retired && v.N == 0: // the spec has it again, and nothing destroyed it
		case was.Status == Retired:
			stay = append(stay, text)
		case holder != d.stack.Name+"/"+e.Key: // it was adopted there
			d.vmError(v, v.Pos, v.Path, schema.CodeVMIDClash, "give the guest another key", "VMID %d is recorded for %s", was.VMID, holder)
		case v.N == 0 || was.Email != "" && was.Email == v.Email:
			managed = append(managed, text)
		default:
			d.refuseAgain(v, e)
		}
	}
	if len(stay) > 0 {
		d.note("%s: not retired any more: %s. No apply destroys them", d.stack.Name, some(stay))
	}
	if len(managed) > 0 {
		d.note("%s: forgotten before, and managed again: %s. An apply imports what no state has", d.stack.Name, some(managed))
	}
}

// refuseAgain refuses to manage a forgotten VM again that the spec does not name.
func (d *stackDecider) refuseAgain(v *schema.VM, e Entry[VM]) {
	other := "or, for a new " + v.Kind.Name() + ", lower the count in " + d.lock.Spec + ", and add one with another key"
	if v.Member != "" {
		other = "or, if it is another student of this name, write into both names what tells them apart, such as an initial"
	}
	path, _, _ := strings.Cut(v.Path, ".overrides.")
	d.refuse(finding.OtherVM, finding.VM, e.Key, finding.Why("forgotten-again"),
		d.adoptAgain("if it is still the right one", path, e),
		finding.Do("or, if it was forgotten by mistake, and the lock of that is not committed, restore the lock, then render",
			Restore, "stackgen render"),
		finding.Do("or, if it does not exist any more, record that, then render", "stackgen resolve", "stackgen render"),
		finding.Do(other)).
		Because("VMID %d is reserved for it in the lock", e.Value.VMID)
}

// adoptAgain is the step that says in the spec that a member of a group or class is the guest
// that had its key.
func (d *stackDecider) adoptAgain(what, path string, e Entry[VM]) finding.Step {
	adopt, overrides := fmt.Sprintf("adopt: {vmid: %d}", e.Value.VMID), path+".overrides."
	has := func(v *schema.VM) bool { return strings.HasPrefix(v.Path, overrides) }
	if slices.ContainsFunc(d.stack.VMs, has) { // a second map of this name would be refused
		return finding.DoPhases(what+": write into "+d.lock.Spec+", then render",
			[]string{adopt + "  # " + overrides + e.Key}, []string{"stackgen render"})
	}
	return finding.DoAll(what+": add to "+path+" in "+d.lock.Spec+", then render",
		finding.Line{Text: "overrides: {{}}", Sep: ", ", Items: []string{finding.Key(e.Key) + ": {" + adopt + "}"}}, "stackgen render")
}
