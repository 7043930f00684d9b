package guard

import (
	"cmp"

	tfjson "github.com/hashicorp/terraform-json"

	"stackgen/internal/finding"
	"stackgen/internal/lock"
)

// otherID is a VM whose id in the state is another VMID than its vm_id, as after a state was
// edited. The provider acts on the id: it would change or destroy that guest.
func (in Input) otherID(f *finding.Finding, r *Resource) bool {
	if !r.otherID() {
		return false
	}
	f.Is(finding.Conflict, "its id in the state is another VMID than its vm_id: an apply would change or destroy that guest")
	f.Because("%s has id %s and vm_id %d in state", r.Address, r.ID, r.VMID)
	if g := in.Inventory.Guest(vmidIn(r.ID)); g != nil {
		f.Because("VMID %d is %s", g.VMID, Describe(g))
		f.Next("inspect it: the provider acts on the id", inspect(g))
	}
	f.Next("if the state was edited, or is an old one, restore the right one")
	f.Add(finding.DoAll("or remove the VM from the state, then run preflight again", lock.StateRemove(f.Stack, f.Unit, r.Address)))
	return true
}

// otherID refuses the change of a VM whose id is another VMID than its vm_id.
func (p *planJudge) otherID(c *tfjson.ResourceChange) bool {
	values, _ := c.Change.Before.(map[string]any)
	id := scalar(values["id"])
	r := Resource{Address: c.Address, Type: c.Type, ID: id, VMID: cmp.Or(vmidOf(values), vmidIn(id))}
	return r.otherID() && p.in.otherID(p.add(c), &r)
}
