package guard

import (
	"fmt"
	"strings"

	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/shell"
)

// pools judges the pool that a stack creates, and the pools that its VMs join.
func (j *judge) pools(at *place) {
	made := map[string]bool{}
	for _, s := range j.Project.Stacks {
		if s.Pool != nil && s.Pool.Create {
			made[s.Pool.ID] = true
		}
	}
	if at.Pool != nil && at.Pool.Create {
		j.pool(at)
	}
	if u := at.lock.Units.Get(lock.UnitPool); u != nil && u.Status == lock.Retired {
		for _, r := range j.State[UnitID{at.Name, lock.UnitPool}].Resources {
			j.retiredPool(at, r)
		}
	}
	var others []string
	for _, v := range at.VMs {
		if j.Destroy {
			break // no VM joins a pool any more
		}
		if v.PoolID != "" && !made[v.PoolID] && j.Inventory.Pool(v.PoolID) == nil {
			others = append(others, v.PoolID)
		}
	}
	for _, id := range unique(others) {
		f := j.add(at, lock.UnitVM, finding.Pool, id)
		if gaps(f, j.Inventory.GapsForPool(id)) {
			continue
		}
		f.Is(finding.CannotCreate, "VMs join it; it does not exist, and no spec creates it")
		what := "create it by hand"
		if at.Pool != nil && at.Pool.ID == id { // a stack has one pool
			f.Next("create it with the stack: write into "+at.Spec, "pool: {id: "+id+", create: true}")
			what = "or " + what
		}
		f.Next(what, "pvesh create /pools --poolid "+shell.Word(id))
	}
}

// retiredPool is a pool to delete. Proxmox VE deletes only an empty one, and the
// provider moves VMs into another pool, but takes none out.
func (j *judge) retiredPool(at *place, r Resource) {
	f := j.add(at, lock.UnitPool, finding.Pool, r.Key)
	f.Resource = r.Address
	f.Is(finding.Retiring, "retired: the next apply deletes it, after its VMs")
	found := j.Inventory.Pool(r.Key)
	if found == nil || j.Destroy {
		return
	}
	leaving := map[int]bool{}
	for _, e := range at.lock.VMs {
		leaving[e.Value.VMID] = e.Value.Status == lock.Retired
	}
	for _, v := range at.VMs {
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
		f.Is(finding.Busy, "retired, and VMs stay in it: Proxmox VE deletes only an empty pool, and the provider takes no VM out of one").Because("its VMs: %s", strings.Join(stay, " "))
		f.Next("take them out of it, then run preflight again", "pvesh set /pools/"+shell.Word(r.Key)+" --vms "+strings.Join(stay, ",")+" --delete 1")
	}
}

func (j *judge) pool(at *place) {
	id := at.Pool.ID
	states, unreadable := j.find(at, lock.UnitPool, TypePool, id)
	found := j.Inventory.Pool(id)
	if j.Destroy && unreadable == "" && len(states) == 0 && found == nil {
		return
	}
	f := j.add(at, lock.UnitPool, finding.Pool, id)
	f.Resource = fmt.Sprintf("%s.this[%q]", TypePool, id)
	switch {
	case unreadable != "":
		stateUnknown(f, unreadable)
	case found == nil && gaps(f, j.Inventory.GapsForPool(id)):
	case found == nil && len(states) > 0 && j.Destroy:
		f.Is(finding.Retiring, "not in the cluster any more: the destroy removes it from the state")
	case found == nil && len(states) > 0:
		f.Is(finding.Gone, "in state, and not in the cluster any more")
		f.Add(finding.Step{What: "to create it again, remove it from the state", Lines: []finding.Line{lock.StateRemove(at.Name, lock.UnitPool, states[0].Address)}})
	case found == nil:
		f.Is(finding.Create, "the cluster has no pool of this name")
	case len(states) > 0:
		f.Is(finding.Managed, "state and cluster agree").Because("its VMs: %d", len(found.Members))
	default:
		f.Is(finding.Adopt, "in the cluster, and in no state").Because("its VMs: %d", len(found.Members))
		f.Import = id
	}
}
