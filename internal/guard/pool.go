package guard

import (
	"fmt"

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
		held := j.State[UnitID{at.Name, lock.UnitPool}]
		for _, r := range held.Resources {
			v := j.add(at, lock.UnitPool, finding.Pool, r.Key)
			v.Resource = r.Address
			v.Is(finding.Retiring).Because("the next apply deletes it, after its VMs")
		}
	}
	var others []string
	for _, v := range at.VMs {
		if j.Destroy {
			break // nothing joins a pool any more
		}
		if v.PoolID != "" && !made[v.PoolID] && j.Inventory.Pool(v.PoolID) == nil {
			others = append(others, v.PoolID)
		}
	}
	for _, id := range unique(others) {
		v := j.add(at, lock.UnitVM, finding.Pool, id)
		if gaps(v, j.Inventory.GapsForPool(id)) {
			continue
		}
		v.Is(finding.CannotCreate).Because("VMs are to join pool %s, which does not exist, and no spec creates it", id)
		v.Next("let the stack create it: in "+at.Spec, "pool: {id: "+id+", create: true}")
		v.Next("or create it by hand", "pvesh create /pools --poolid "+id)
	}
}

func (j *judge) pool(at *place) {
	id := at.Pool.ID
	held, problem := j.held(at, lock.UnitPool, TypePool, id)
	there := j.Inventory.Pool(id)
	if j.Destroy && problem == "" && len(held) == 0 && there == nil {
		return
	}
	v := j.add(at, lock.UnitPool, finding.Pool, id)
	v.Resource = fmt.Sprintf("%s.this[%q]", TypePool, id)
	switch {
	case problem != "":
		unread(v, problem)
	case there == nil && gaps(v, j.Inventory.GapsForPool(id)):
	case there == nil && len(held) > 0 && j.Destroy:
		v.Is(finding.Retiring).Because("it is gone from the cluster: the destroy takes it out of the state")
	case there == nil && len(held) > 0:
		v.Is(finding.Gone).Because("pool %s is in state, and the cluster has none of that name", id)
		v.Next("create it anew: take it out of the state", inUnit(at.Name, lock.UnitPool, "terragrunt state rm "+shell.Quote(held[0].Address))...)
	case there == nil:
		v.Is(finding.Create).Because("the cluster has no pool %s", id)
	case len(held) > 0:
		v.Is(finding.Managed).Because("the cluster has it; its VMs: %d", len(there.Members))
	default:
		v.Is(finding.Adopt).Because("the cluster has it, and no state knows it; its VMs: %d", len(there.Members))
		v.Import = id
	}
}
