package guard

import (
	"fmt"
	"slices"

	"stackgen/guest"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// One apply removes disks of a VM or adds some: with both, the provider gives a new disk the
// volume of a removed one. `stackgen apply` makes two applies of an update with both.

// later are the interfaces of the disks of a VM that a second apply adds, because the first
// one removes some. There are none unless the command makes two applies of it, or if no disk
// remains in between: without disks in its spec, the provider keeps all.
func (in *Input) later(state *tf.Resource, v *schema.VM) []string {
	if !in.Splits || v == nil {
		return nil
	}
	had, is := state.Values.Devices("disk"), v.Interfaces()
	if removed := without(had, is); len(removed) == 0 || len(removed) == len(had) {
		return nil
	}
	return without(is, had)
}

// Later are the disks that a second apply of a stack adds, by the keys of their VMs.
func Later(in Input, stack string) map[string][]string {
	out, x := map[string][]string{}, newIndex(in)
	state := in.State[tf.VMUnit(stack)].Resources
	for _, e := range in.Lock.Stacks.Get(stack).VMs {
		addresses := []string{e.Value.Resource(e.Value.Address(e.Key))}
		for _, former := range e.Value.Former {
			addresses = append(addresses, e.Value.Resource(former))
		}
		at := slices.IndexFunc(state, func(r tf.Resource) bool { return slices.Contains(addresses, r.Address) })
		if p := x.profile(&e.Value); at < 0 || p == nil || p.Ignores("disk") {
			continue
		}
		if later := in.later(&state[at], in.spec(stack, e.Key)); len(later) > 0 {
			out[e.Key] = later
		}
	}
	return out
}

// stack is a stack as its spec has it. It is empty if only the lock has it.
func (in *Input) stack(name string) *schema.Stack {
	for _, s := range in.Project.Stacks {
		if s.Name == name {
			return s
		}
	}
	return &schema.Stack{}
}

// spec is a VM of a stack in its spec, or nil.
func (in *Input) spec(stack, key string) *schema.VM {
	for _, s := range in.Project.Stacks {
		if i := slices.IndexFunc(s.VMs, func(v *schema.VM) bool { return v.Key == key }); i >= 0 && s.Name == stack {
			return s.VMs[i]
		}
	}
	return nil
}

// laterChanges are the additions of disks which a second apply makes after a plan.
func laterChanges(v *schema.VM, later []string) []tf.Change {
	out := additions(v, func(at string) bool { return slices.Contains(later, at) })
	for i := range out {
		out[i].Later = true
	}
	return out
}

// additions are the additions of some disks of a spec, by their interfaces.
func additions(v *schema.VM, adds func(at string) bool) []tf.Change {
	var out []tf.Change
	for _, d := range v.Values.Get(guest.Disks).List() {
		if at := d.Get(guest.Interface).Str(); adds(at) {
			is := fmt.Sprintf("datastore_id=%s size=%s", d.Get(guest.Datastore).Str(), d.Get(guest.Size).Str())
			out = append(out, tf.Change{Path: "disk", Device: at, Is: is, Whole: true})
		}
	}
	return out
}
