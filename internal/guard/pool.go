package guard

import (
	"fmt"

	"stackgen/internal/lock"
	"stackgen/schema"
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
			v := j.add(at, lock.UnitPool, KindPool, r.Key)
			v.Resource = r.Address
			v.is(Retiring).because("the next apply deletes it, after its VMs")
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
		v := j.add(at, lock.UnitVM, KindPool, id)
		if v.gaps(j.Inventory.GapsForPool(id)) {
			continue
		}
		v.is(Missing).because("VMs are to join pool %s, which does not exist, and no spec creates it", id)
		v.next("let the stack create it: in "+at.Spec, "pool: {id: "+id+", create: true}")
		v.next("or create it by hand", "pvesh create /pools --poolid "+id)
	}
}

func (j *judge) pool(at *place) {
	id := at.Pool.ID
	held, unread := j.held(at, lock.UnitPool, TypePool, id)
	there := j.Inventory.Pool(id)
	if j.Destroy && unread == "" && len(held) == 0 && there == nil {
		return
	}
	v := j.add(at, lock.UnitPool, KindPool, id)
	v.Resource = fmt.Sprintf("%s.this[%q]", TypePool, id)
	switch {
	case unread != "":
		v.unread(unread)
	case there == nil && v.gaps(j.Inventory.GapsForPool(id)):
	case there == nil && len(held) > 0 && j.Destroy:
		v.is(Retiring).because("it is gone from the cluster: the destroy takes it out of the state")
	case there == nil && len(held) > 0:
		v.is(Lost).because("pool %s is in state, and the cluster has none of that name", id)
		v.next("create it anew: take it out of the state", inUnit(at.Name, lock.UnitPool, "terragrunt state rm "+schema.Quoted(held[0].Address))...)
	case there == nil:
		v.is(Create).because("the cluster has no pool %s", id)
	case len(held) > 0:
		v.is(Managed).because("the cluster has it; its VMs: %d", len(there.Members))
	default:
		v.is(Adopt).because("the cluster has it, and no state knows it; its VMs: %d", len(there.Members))
		v.Import = id
	}
}
