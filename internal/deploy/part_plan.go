package deploy

import (
	"slices"
	"strings"

	"stackgen/internal/check"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
)

// concerning are the findings that a destroy depends on: all of them, or those about its part.
func (r *run) concerning(found []finding.Finding) []finding.Finding {
	if r.Part == nil {
		return found
	}
	return slices.DeleteFunc(slices.Clone(found), func(f finding.Finding) bool {
		keys := r.Part[f.Stack]
		switch f.Type {
		case finding.VM:
			return !slices.Contains(keys, f.Key)
		case finding.Record:
			return !slices.Contains(keys, f.Owner)
		case finding.Pool:
			return true
		}
		return false
	})
}

// partsOf are what the states have of the part of a stack: records by their units, then the VMs.
func (r *run) partsOf(s *check.Session, stack string, found []finding.Finding) (units []tf.Unit, of map[tf.Unit][]guard.Granted) {
	keys := r.Part[stack]
	of = map[tf.Unit][]guard.Granted{}
	for _, u := range s.Units() {
		if u.Stack != stack || !u.HasRecords() {
			continue
		}
		for _, res := range s.State[u].Resources {
			if r.ownsRecord(u, res.Key, found) {
				of[u] = append(of[u], guard.Granted{Address: res.Address, Key: res.Key})
			}
		}
		if len(of[u]) > 0 {
			units = append(units, u)
		}
	}
	for _, u := range tf.GuestUnits(stack) {
		for _, res := range s.State[u].Resources {
			if u.Manages(res.Type) && slices.Contains(keys, res.Key) {
				of[u] = append(of[u], guard.Granted{Address: res.Address, Key: res.Key, VMID: res.VMID})
			}
		}
		if len(of[u]) > 0 {
			units = append(units, u)
		}
	}
	return units, of
}

// ownsRecord reports whether a record in the state of a unit belongs to a VM of the part: the
// unit is that VM's own, or the specs say so.
func (r *run) ownsRecord(u tf.Unit, record string, found []finding.Finding) bool {
	keys := r.Part[u.Stack]
	if l := r.p.Lock.Stacks.Get(u.Stack); l != nil && u.Unit != lock.UnitDNS {
		for _, key := range keys {
			if e := l.VMs.Get(key); e != nil && e.Unit == u.Unit {
				return true
			}
		}
	}
	return slices.ContainsFunc(found, func(f finding.Finding) bool {
		return f.Stack == u.Stack && f.Unit == u.Unit && f.Type == finding.Record && f.Name == record && slices.Contains(keys, f.Owner)
	})
}

// planPart plans the destroy of the part of a stack, unit by unit.
func (r *run) planPart(s *check.Session, st *stack, found []finding.Finding) (*plans, error) {
	p := &plans{stack: st, was: s.Inventory}
	units, of := r.partsOf(s, st.name, found)
	if len(units) == 0 {
		return p, nil
	}
	r.say("planning the destroy of %s of %s", strings.Join(r.Part[st.name], ", "), st.name)
	if err := r.generate(st); err != nil {
		return nil, err
	}
	for _, u := range units {
		one, refused, err := r.planGranted(st, guard.Grant{Unit: u, Kind: guard.GrantDestroy, Parts: of[u]})
		if err != nil {
			return nil, err
		}
		if len(refused) > 0 {
			return nil, r.refuse(s, refused)
		}
		p.units = append(p.units, one)
	}
	return p, nil
}

// generate makes the units of a stack as they are rendered: the guard refuses a unit of another render.
func (r *run) generate(st *stack) error {
	if err := r.p.RemoveStale(st.name); err != nil {
		return err
	}
	return r.tools.Generate(r.ctx, st.dir)
}
