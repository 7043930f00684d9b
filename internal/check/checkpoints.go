package check

import (
	"fmt"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/lock"
	"stackgen/schema"
)

// checkpointNotes say which VMs get no checkpoint although their specs want one, and why: a
// storage without snapshots, or a missing privilege.
func (s *Session) checkpointNotes() []string {
	if s.Inventory == nil {
		return nil
	}
	var order []string
	of := map[string][]string{} // VMs by what is wrong
	var missing []cluster.Missing
	for _, stack := range s.Project.SelectedStacks() {
		recorded := s.Project.Lock.Stacks.Get(stack.Name)
		for _, v := range stack.VMs {
			if recorded == nil || !v.WantsCheckpoint() {
				continue
			}
			why, lacks := s.noCheckpoint(v, recorded.VMs.Get(v.Key))
			if missing = append(missing, lacks...); why == "" {
				continue
			}
			if of[why] == nil {
				order = append(order, why)
			}
			of[why] = append(of[why], stack.Name+"/"+v.Key)
		}
	}
	var out []string
	for _, why := range order {
		vms := of[why][0]
		if more := len(of[why]) - 1; more > 0 {
			vms += fmt.Sprintf(" and %d more", more)
		}
		out = append(out, vms+": the spec wants a checkpoint, and an apply cannot take it: "+why)
	}
	if len(missing) > 0 {
		for _, line := range s.Inventory.Access.Grants(missing) {
			out = append(out, "grant "+cluster.VMSnapshot+": "+line)
		}
	}
	return out
}

// noCheckpoint says why no snapshot of a VM can be taken, or empty, and which privilege is missing.
func (s *Session) noCheckpoint(v *schema.VM, e *lock.VM) (why string, missing []cluster.Missing) {
	if e == nil {
		return "", nil
	}
	var template *cluster.Guest
	if e.Template != nil {
		template = s.Inventory.Guest(e.Template.VMID)
	}
	g := s.Inventory.Guest(e.VMID)
	if g != nil && (g.Kind != guest.VM || g.Template) {
		return "", nil // preflight says what that is
	}
	if without := s.Inventory.WithoutSnapshots(g, v, template); without != "" {
		return without, nil
	}
	at := fmt.Sprintf("/vms/%d", e.VMID)
	if g == nil && v.PoolID != "" {
		at = "/pool/" + v.PoolID // it joins the pool when it is created
	}
	if a := s.Inventory.Access; a != nil && !a.Rights.Has(at, cluster.VMSnapshot) {
		return "the token lacks " + cluster.VMSnapshot, []cluster.Missing{{Path: at, Privilege: cluster.VMSnapshot}}
	}
	return "", nil
}
