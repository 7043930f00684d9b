package guard

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/feasible"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/pve"
	"stackgen/internal/shell"
	"stackgen/internal/tf"
)

// pools judges the pool that a stack creates, and the pools that its VMs join.
func (j *judge) pools(at *place) {
	if at.createsPool() {
		j.pool(at)
	}
	if u := at.lock.Units.Get(lock.UnitPool); u != nil && u.Status == lock.Retired {
		for _, r := range j.State[tf.Unit{Stack: at.Name, Unit: lock.UnitPool}].Resources {
			j.retiredPool(at, r)
		}
	}
	for _, id := range j.missingPools(at) {
		f := j.add(at, lock.UnitVM, finding.Pool, id)
		if gaps(f, j.Inventory.GapsForPool(id)) {
			continue
		}
		f.Is(finding.CannotCreate, finding.Why("pool-missing"))
		if at.Pool != nil && at.Pool.ID == id { // a stack has one pool
			f.Next("create it with the stack: write into "+at.Spec, "pool: {id: "+finding.Key(id)+", create: true}")
		}
		f.Next("or create it by hand", pve.Pvesh("create", "/pools", "--poolid "+shell.Word(id)))
	}
}

// createsPool reports whether the stack creates a pool.
func (at *place) createsPool() bool { return at.Pool != nil && at.Pool.Create }

// missingPools are the pools that VMs of a stack join, and that neither the cluster has nor a
// spec creates.
func (j *judge) missingPools(at *place) []string {
	if j.Destroy {
		return nil // no VM joins a pool any more
	}
	made := map[string]bool{}
	for _, s := range j.Project.Stacks {
		if s.Pool != nil && s.Pool.Create {
			made[s.Pool.ID] = true
		}
	}
	var out []string
	for _, v := range at.VMs {
		if v.PoolID != "" && !made[v.PoolID] && j.Inventory.Pool(v.PoolID) == nil {
			out = append(out, v.PoolID)
		}
	}
	return unique(out)
}

// retiredPool is a pool to delete. Proxmox VE deletes only an empty one, and the
// provider moves VMs into another pool, but takes none out.
func (j *judge) retiredPool(at *place, r tf.Resource) {
	f := j.add(at, lock.UnitPool, finding.Pool, r.Key)
	f.Resource = r.Address
	f.Is(finding.Retiring, finding.Why("pool-retired"))
	found := j.Inventory.Pool(r.Key)
	switch {
	case found == nil:
		return
	case j.Destroy:
		j.poolInUse(f, at, r.Key)
		return
	}
	leaving := map[int]bool{}
	for _, e := range at.lock.VMs {
		leaving[e.Value.VMID] = e.Value.Status == lock.Retired
	}
	for _, v := range at.VMs {
		if v.IsContainer() { // no apply moves one to another pool
			continue
		}
		if e := at.entries[v.Key]; e != nil && v.PoolID != "" && v.PoolID != r.Key {
			leaving[e.VMID] = true
		}
	}
	var stay []string
	for _, vmid := range found.Members {
		if !leaving[vmid] {
			stay = append(stay, fmt.Sprint(vmid))
		}
	}
	if len(stay) > 0 {
		f.Is(finding.Busy, finding.Why("pool-retired-in-use"))
		f.Because("its guests: %s", strings.Join(stay, " "))
		f.Next("take them out of it, then run preflight again", takeOut(r.Key, stay))
	}
}

// takeOut is the line that takes VMs out of a pool, on any node.
func takeOut(pool string, vmids []string) string {
	return pve.SetPool(pool, "--vms "+strings.Join(vmids, ","), "--delete 1")
}

// poolAddress is the address of a pool in the state of its unit.
func poolAddress(id string) string { return fmt.Sprintf("%s.this[%q]", guest.PoolResource, id) }

func (j *judge) pool(at *place) {
	id := at.Pool.ID
	states, unreadable := j.find(at, lock.UnitPool, guest.PoolResource, id)
	found := j.Inventory.Pool(id)
	if j.Destroy && unreadable == "" && len(states) == 0 {
		return // a destroy does nothing about it
	}
	f := j.add(at, lock.UnitPool, finding.Pool, id)
	f.Resource = poolAddress(id)
	switch {
	case unreadable != "":
		j.stateUnknown(f, unreadable)
	case found == nil && gaps(f, j.Inventory.GapsForPool(id)):
	case found == nil && len(states) > 0 && j.Destroy:
		f.Is(finding.Retiring, finding.Why("destroyed-already"))
	case found == nil && len(states) > 0:
		f.Is(finding.Gone, finding.Why("pool-gone"))
		f.Add(finding.DoAll("to create it again, remove it from the state",
			lock.StateRemove(at.Name, lock.UnitPool, states[0].Address)))
	case found == nil && len(feasible.CreatePool(j.Inventory, id)) > 0:
		for _, o := range feasible.CreatePool(j.Inventory, id) {
			f.Is(finding.CannotCreate, finding.Why("obstacle", o.Reason)).Because("%s", strings.Join(o.Evidence, ", "))
			for _, r := range o.Remedies {
				f.Next(r.What, r.Commands...)
			}
		}
	case found == nil:
		f.Is(finding.Create, finding.Why("pool-free"))
	case len(states) > 0 && j.Destroy && j.poolInUse(f, at, id):
	case len(states) > 0:
		f.Is(finding.Managed, finding.Why("agrees")).Because("its guests: %d", len(found.Members))
	case j.ownPool(at, found):
		f.Is(finding.Adopt, finding.Why("in-no-state")).Because("its guests: %d", len(found.Members))
		f.Import = id
	default:
		j.foreignPool(f, at, found)
	}
}

// members are the VMs in a pool: how many are certainly of a stack, which are of other
// stacks, and which are in no spec.
func (j *judge) members(at *place, p *cluster.Pool) (own int, others, strangers []int) {
	stacks := map[int]string{}
	for i := range j.all {
		if m := &j.all[i]; !m.Conflict() {
			stacks[m.VMID] = m.Stack
		}
	}
	for _, vmid := range p.Members {
		switch stacks[vmid] {
		case at.Name:
			own++
		case "":
			strangers = append(strangers, vmid)
		default:
			others = append(others, vmid)
		}
	}
	return own, others, strangers
}

// ownPool reports whether a pool that is in no state was made by the stack: the lock
// says that a state had it, or it has nothing but VMs of the stack and the comment of
// the spec. The name alone proves nothing.
func (j *judge) ownPool(at *place, p *cluster.Pool) bool {
	own, others, strangers := j.members(at, p)
	if u := at.lock.Units.Get(lock.UnitPool); u != nil && u.Applied && u.Pool == p.ID {
		return len(strangers) == 0
	}
	return own > 0 && len(others) == 0 && len(strangers) == 0 && p.Comment == at.Pool.Comment
}

// foreignPool is a pool of which nothing proves that the stack made it.
func (j *judge) foreignPool(f *finding.Finding, at *place, p *cluster.Pool) {
	_, _, strangers := j.members(at, p)
	f.Is(finding.Conflict, finding.Why("pool-unproven"))
	if len(strangers) > 0 {
		f.Reason = finding.Why("pool-of-others")
	}
	if p.Comment != at.Pool.Comment {
		f.Because("its comment is %q, and the spec says %q: an apply would change it", p.Comment, at.Pool.Comment)
	}
	j.describeMembers(f, strangers)
	f.Add(finding.Step{What: "if it belongs to somebody else, use it without managing it: write into " + at.Spec, Lines: []finding.Line{
		{Text: "pool: {id: " + finding.Key(p.ID) + ", create: false}"},
		lock.Entries("forgotten", at.Forgotten, lock.UnitPool),
		{Text: "stackgen render"},
	}})
	f.Next("or, if this stack made it and its state is lost, import it, then run preflight again",
		lock.InUnit(at.Name, lock.UnitPool, "terragrunt run -- import "+shell.Quote(poolAddress(p.ID))+" "+shell.Word(p.ID)))
}

// poolInUse is a pool that a destroy would have to delete, and that others use:
// Proxmox VE deletes only an empty pool, so the destroy would stop after the VMs.
func (j *judge) poolInUse(f *finding.Finding, at *place, id string) bool {
	p := j.Inventory.Pool(id)
	if p == nil {
		return false
	}
	_, others, strangers := j.members(at, p)
	used := slices.Concat(others, strangers)
	if len(used) == 0 {
		return false
	}
	slices.Sort(used)
	f.Is(finding.Conflict, finding.Why("pool-in-use"))
	j.describeMembers(f, used)
	var list []string
	for _, vmid := range used {
		list = append(list, fmt.Sprint(vmid))
	}
	f.Next("remove them from the pool, on any node, then run the same command again", takeOut(id, list))
	f.Add(finding.DoAll("or keep the pool: stop managing it", lock.StateRemove(at.Name, lock.UnitPool, poolAddress(id))))
	return true
}

// describeMembers adds some VMs of a pool as evidence.
func (j *judge) describeMembers(f *finding.Finding, vmids []int) {
	for _, vmid := range vmids {
		if g := j.Inventory.Guest(vmid); g != nil {
			f.Because("in the pool: %s", Describe(g))
		}
	}
}
