package guard

import (
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
)

// otherID is a VM whose id in the state is another VMID than its vm_id, as after a state was
// edited. The provider acts on the id: it would change or destroy that guest.
func (in Input) otherID(f *finding.Finding, r *tf.Resource) bool {
	if !r.OtherID() {
		return false
	}
	f.Is(finding.Conflict, "its id in the state is another VMID than its vm_id: an apply would change or destroy that guest")
	f.Because("%s has id %s and vm_id %d in state", r.Address, r.ID, r.VMID)
	if g := in.Inventory.Guest(r.ActsOn()); g != nil {
		f.Because("VMID %d is %s", g.VMID, Describe(g))
		f.Next("inspect it: the provider acts on the id", inspect(g))
	}
	f.Next("if the state was edited, or is an old one, restore the right one")
	f.Add(finding.DoAll("or remove the VM from the state, then run preflight again", lock.StateRemove(f.Stack, f.Unit, r.Address)))
	return true
}

// otherID refuses the change of a VM whose id is another VMID than its vm_id.
func (p *planJudge) otherID(c *tf.ResourceChange) bool {
	r := c.Resource()
	return r.OtherID() && p.in.otherID(p.add(c), &r)
}
