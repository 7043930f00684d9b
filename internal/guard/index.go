package guard

import (
	"cmp"
	"slices"
	"strings"

	"stackgen/internal/cluster"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// An index has what is looked up for every VM, so that the time of a run does not
// grow with the square of their number.
type index struct {
	places    map[string]*place
	resources map[resourceKey][]int // positions in the state of the unit
	vmids     map[int][]vmInState
	matches   map[string]*cluster.Match  // by stack/key
	records   map[string]*cluster.Record // by lower-case name
	wanters   map[string]*wanter         // the same
	profiles  map[string]*schema.Profile
	borrowed  map[int][]cluster.Borrowed // volumes that other guests have, by the VMID to which they belong
}

// A resourceKey is a resource type and key in the state of a unit.
type resourceKey struct {
	unit     tf.Unit
	of, name string
}

// A vmInState is a VM in the state of a stack.
type vmInState struct{ stack, unit, address string }

// newIndex indexes an input. Lists keep the order of the stacks and of the states.
func newIndex(in Input) index {
	x := index{places: map[string]*place{}, resources: map[resourceKey][]int{}, vmids: map[int][]vmInState{},
		matches: map[string]*cluster.Match{}, records: map[string]*cluster.Record{}, wanters: map[string]*wanter{},
		profiles: profilesOf(in.Project), borrowed: in.Inventory.Borrowed()}
	for unit, state := range in.State {
		for i, r := range state.Resources {
			key := resourceKey{unit, r.Type, r.Key}
			x.resources[key] = append(x.resources[key], i)
		}
	}
	for _, s := range in.Project.Stacks {
		for _, unit := range tf.GuestUnits(s.Name) {
			x.addVMIDs(unit, in.State[unit])
		}
		l := in.Lock.Stacks.Get(s.Name)
		x.addWanters(s, l)
		if l != nil && l.Status != lock.Forgotten && in.Selected(s.Name) {
			x.places[s.Name] = newPlace(s, l)
		}
	}
	for i := range slices.Backward(in.Inventory.Records) {
		x.records[strings.ToLower(in.Inventory.Records[i].Name)] = &in.Inventory.Records[i]
	}
	return x
}

// profilesOf are the profiles of a project, by name.
func profilesOf(p *schema.Project) map[string]*schema.Profile {
	out := map[string]*schema.Profile{}
	for i := range slices.Backward(p.Profiles) {
		out[p.Profiles[i].Name] = &p.Profiles[i]
	}
	return out
}

// addVMIDs adds the VMIDs of the guests in the state of a unit.
func (x index) addVMIDs(unit tf.Unit, state tf.State) {
	for _, r := range state.Resources {
		if !unit.Manages(r.Type) {
			continue
		}
		in := vmInState{unit.Stack, unit.Unit, r.Address}
		x.vmids[r.VMID] = append(x.vmids[r.VMID], in)
		if r.OtherID() {
			x.vmids[r.ActsOn()] = append(x.vmids[r.ActsOn()], in)
		}
	}
}

func (x index) addMatches(matches []cluster.Match) {
	for i := range matches {
		x.matches[matches[i].Stack+"/"+matches[i].Key] = &matches[i]
	}
}

func (x index) match(in Input) []cluster.Match {
	return cluster.Matches(in.Project.Stacks, in.Lock, x.states(in), in.Inventory)
}

// states are the VMs that the states of all stacks have, and those that runs from here
// began to create, by the keys of the specs. What a state has several times is evidence of
// nothing.
func (x index) states(in Input) cluster.States {
	out := cluster.States{}
	for _, s := range in.Project.Stacks {
		l := in.Lock.Stacks.Get(s.Name)
		if l == nil {
			continue
		}
		at, later := newPlace(s, l), changedSince(in.State[tf.VMUnit(s.Name)], l)
		for i := range l.VMs {
			e := &l.VMs[i]
			found, _ := x.find(in.State, at, e.Value.In(), e.Value.Kind.Resource(), at.keys(e.Key, &e.Value)...)
			known := cluster.StateVM{Begun: in.Begun[s.Name+"/"+e.Key]}
			if len(found) == 1 {
				r := found[0]
				known.VMID, known.Name, known.MACs, known.Planned = r.VMID, r.Name, r.MACs, r.Planned
				known.Newer = later && r.Cloned && !in.Destroy && e.Value.Status == lock.Live // too little to destroy a guest
			}
			out[s.Name+"/"+e.Key] = known
		}
	}
	return out
}

// changedSince reports whether a state was changed after the VMs of a stack were observed
// last, so that an apply may have created one of them again since then.
func changedSince(state tf.State, l *lock.Stack) bool {
	u := l.Units.Get(lock.UnitVM)
	return u != nil && u.Serial > 0 && u.Lineage == state.Lineage && state.Serial > uint64(u.Serial) //nolint:gosec // it is positive
}

// A place is a stack and its decisions.
type place struct {
	*schema.Stack
	lock    *lock.Stack
	entries map[string]*lock.VM
	former  map[string]bool     // keys that VMs had
	renamed map[string][]string // old keys by new key
}

func newPlace(s *schema.Stack, l *lock.Stack) *place {
	at := &place{Stack: s, lock: l, entries: l.VMs.ByKey(), former: map[string]bool{}, renamed: map[string][]string{}}
	for _, e := range l.VMs {
		for _, a := range e.Value.Former {
			at.former[a.Key] = true
		}
	}
	for _, r := range s.Renamed {
		at.former[r.From] = true
		at.renamed[r.To] = append(at.renamed[r.To], r.From)
	}
	return at
}

// keys are the keys by which a state may have a VM: its own, and former ones.
func (at *place) keys(key string, entry *lock.VM) []string {
	out := []string{key}
	for _, a := range entry.Former {
		out = append(out, a.Key)
	}
	return append(out, at.renamed[key]...)
}

// find returns the resources that a unit's state has of a type, by their keys, in
// the order of the state. If the state is not known, it returns the reason.
func (j *judge) find(at *place, unit, of string, keys ...string) (found []tf.Resource, unreadable string) {
	return j.index.find(j.State, at, unit, of, keys...)
}

func (x index) find(states tf.States, at *place, unit, of string, keys ...string) (found []tf.Resource, unreadable string) {
	id := tf.Unit{Stack: at.Name, Unit: unit}
	state, ok := states[id]
	if !ok {
		return nil, "it was not read"
	}
	var positions []int
	for _, key := range keys {
		positions = append(positions, x.resources[resourceKey{id, of, key}]...)
	}
	slices.Sort(positions)
	for _, i := range slices.Compact(positions) {
		found = append(found, state.Resources[i])
	}
	return found, state.Unreadable
}

// profile returns the profile of a VM, or nil.
func (x index) profile(entry *lock.VM) *schema.Profile {
	if entry.Image != nil {
		return schema.TemplateProfile()
	}
	p := x.profiles[cmp.Or(entry.Profile, "default")]
	if p == nil {
		return nil
	}
	return p.For(entry.Kind)
}
