package selection

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/cluster"
	"stackgen/internal/lock"
	"stackgen/schema"
)

// A VM is a VM or a container of the project that was selected.
type VM struct {
	Stack  string
	Key    string
	Group  string // of the spec, or empty
	Member string // of the roster, or empty
	Name   string
	Spec   *schema.VM
	Entry  *lock.VM
	Guest  *cluster.Guest // nil unless it certainly is the VM
	Why    cluster.Why    // why there is or is not a Guest
	Holder *cluster.Guest // the guest that has the VMID, and is not certainly the VM
	Gaps   []cluster.Gap  // what could not be read about the VMID
}

// IsContainer reports whether it is a container, by its spec.
func (v *VM) IsContainer() bool { return v.Spec != nil && v.Spec.IsContainer() }

// String is STACK/KEY.
func (v *VM) String() string { return v.Stack + "/" + v.Key }

// Of are the VMs of stacks, in the order of the specs, with their guests. Without an
// inventory, no VM has a guest. VMs that only the lock has are not among them: an apply
// destroys or has destroyed them.
func Of(stacks []*schema.Stack, l *lock.Lock, inv *cluster.Inventory, selected func(stack string) bool) []VM {
	matches := map[string]*cluster.Match{}
	if inv != nil {
		all := cluster.Matches(stacks, l, nil, inv)
		for i := range all {
			matches[all[i].Stack+"/"+all[i].Key] = &all[i]
		}
	}
	var out []VM
	for _, s := range stacks {
		recorded := l.Stacks.Get(s.Name)
		if !selected(s.Name) || recorded == nil || s.IsTemplate() {
			continue
		}
		entries := recorded.VMs.ByKey()
		for _, v := range s.VMs {
			vm := VM{Stack: s.Name, Key: v.Key, Group: group(v), Member: v.Member, Name: v.Name, Spec: v, Entry: entries[v.Key]}
			if m := matches[vm.String()]; m != nil {
				vm.Guest, vm.Holder, vm.Why = m.Guest, m.Holder, m.Why
				vm.Gaps = inv.GapsForVM(m.VMID)
			}
			out = append(out, vm)
		}
	}
	return out
}

// group is the group that a VM belongs to, or empty.
func group(v *schema.VM) string {
	if list, rest, _ := strings.Cut(v.Path, "."); list == "groups" {
		name, _, _ := strings.Cut(rest, ".")
		return name
	}
	return ""
}

// Qualify makes each word STACK, STACK/KEY or STACK/GROUP: a key that only one stack has may
// be given without it. The error says what does not exist, or which stacks have the key.
func Qualify(stacks []*schema.Stack, words []string) ([]string, error) {
	var known []string
	for _, s := range stacks {
		known = append(known, s.Name)
	}
	out := make([]string, len(words))
	for i, w := range words {
		name, _, qualified := strings.Cut(w, "/")
		isStack, with := slices.Contains(known, name), withKey(stacks, w)
		switch {
		case qualified && !isStack:
			return nil, fmt.Errorf("%q is no path, and there is no stack %q%s; stacks: %s", w, name, near(name, known), some(known))
		case isStack && len(with) > 0:
			return nil, fmt.Errorf("%q is a stack and the key of a guest: give the path of the spec for the stack, or %s for the guest",
				w, strings.Join(with, ", "))
		case isStack:
			out[i] = w
		case len(with) == 0:
			return nil, fmt.Errorf("%q is no path, no stack and no key of a VM or container%s; stacks: %s", w, near(w, known), some(known))
		case len(with) == 1:
			out[i] = with[0]
		default:
			return nil, fmt.Errorf("several stacks have a VM or container %q: name one of %s", w, strings.Join(with, ", "))
		}
	}
	return out, nil
}

// withKey are the VMs with a key, each as STACK/KEY.
func withKey(stacks []*schema.Stack, key string) []string {
	var out []string
	for _, s := range stacks {
		if slices.ContainsFunc(s.VMs, func(v *schema.VM) bool { return v.Key == key }) {
			out = append(out, s.Name+"/"+key)
		}
	}
	return out
}

// Stacks are the stacks of qualified words.
func Stacks(words []string) []string {
	var out []string
	for _, w := range words {
		name, _, _ := strings.Cut(w, "/")
		out = append(out, name)
	}
	return out
}

// Whole are the stacks that words name, for a command that works on whole stacks.
func Whole(command string, stacks []*schema.Stack, words []string) ([]string, error) {
	words, err := Qualify(stacks, words)
	if err != nil {
		return nil, err
	}
	names := slices.Compact(slices.Sorted(slices.Values(Stacks(words))))
	if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, "/") }) {
		return nil, fmt.Errorf("%s works on whole stacks: `stackgen %s %s`", command, command, strings.Join(names, " "))
	}
	return names, nil
}

// Select are the VMs that words and members name; all of them if there are neither. A word
// is STACK, STACK/KEY or STACK/GROUP; a member is a name or an e-mail address of a roster,
// in any case. With members, STACK says where they are, and chooses nothing. The error says
// what does not exist, or which VMs one member has.
func Select(all []VM, words, members []string) ([]VM, error) {
	if len(words)+len(members) == 0 {
		return all, nil
	}
	chosen := make([]bool, len(all))
	for _, w := range words {
		if len(members) > 0 && isStack(w) {
			continue
		}
		is := func(v *VM) bool { return v.String() == w } // a group may have the same name
		if !choose(all, chosen, is) && !choose(all, chosen, func(v *VM) bool { return v.named(w) }) {
			stack, name, _ := strings.Cut(w, "/")
			return nil, fmt.Errorf("stack %s has no VM, container or group %q%s", stack, name, near(name, keysOf(all, stack)))
		}
	}
	stacks := Stacks(words)
	of := func(v *VM) bool { return v.Member != "" && (len(stacks) == 0 || slices.Contains(stacks, v.Stack)) }
	for _, m := range members {
		is := func(v *VM) bool { return of(v) && v.hasMember(m) }
		switch with := keys(all, is); {
		case len(with) == 0:
			return nil, fmt.Errorf("no roster of the selected stacks has the member %q%s", m, near(m, names(all, of)))
		case len(with) > 1:
			return nil, fmt.Errorf("several VMs have the member %q: name one of %s", m, strings.Join(with, ", "))
		}
		choose(all, chosen, is)
	}
	var out []VM
	for i := range all {
		if chosen[i] {
			out = append(out, all[i])
		}
	}
	return out, nil
}

// WholeOf is the first word that names a whole stack, whose VMs Select chooses; empty if none does.
func WholeOf(words, members []string) string {
	i := slices.IndexFunc(words, isStack)
	if i < 0 || len(members) > 0 {
		return ""
	}
	return words[i]
}

// isStack reports whether a qualified word is STACK.
func isStack(word string) bool { return !strings.Contains(word, "/") }

// Single are the VMs that words and members name one by one, each as STACK/KEY. A word that names a
// whole stack needs all, and all needs such a word, unless no word is given.
func Single(chosen []VM, words, members []string, all bool) (out []string, err error) {
	whole := WholeOf(words, members)
	switch {
	case whole != "" && !all:
		return nil, fmt.Errorf("%s is a stack: give --all for all of its VMs, or name them: %[1]s/KEY or %[1]s/GROUP", whole)
	case whole == "" && all && len(words)+len(members) > 0:
		return nil, fmt.Errorf("--all is for all VMs of a stack, and no stack is named: %s", strings.Join(append(words, members...), ", "))
	}
	for i := range chosen {
		v := &chosen[i]
		if slices.Contains(words, v.String()) || slices.ContainsFunc(members, v.hasMember) {
			out = append(out, v.String())
		}
	}
	return out, nil
}

// choose marks the VMs that fit, and reports whether there is one.
func choose(all []VM, chosen []bool, fits func(*VM) bool) (found bool) {
	for i := range all {
		if fits(&all[i]) {
			chosen[i], found = true, true
		}
	}
	return found
}

// named reports whether a word names the VM: its stack, its key or its group.
func (v *VM) named(word string) bool {
	stack, name, single := strings.Cut(word, "/")
	return v.Stack == stack && (!single || v.Key == name || v.Group == name)
}

// hasMember reports whether the VM is of a member with a name or an e-mail address.
func (v *VM) hasMember(name string) bool {
	return strings.EqualFold(v.Member, name) || v.Entry != nil && v.Entry.Email != "" && strings.EqualFold(v.Entry.Email, name)
}

// names are the members of the VMs that fit.
func names(all []VM, fits func(*VM) bool) []string {
	var out []string
	for i := range all {
		if fits(&all[i]) {
			out = append(out, all[i].Member)
		}
	}
	return out
}

// keys are the VMs that fit, each as STACK/KEY.
func keys(all []VM, fits func(*VM) bool) []string {
	var out []string
	for i := range all {
		if fits(&all[i]) {
			out = append(out, all[i].String())
		}
	}
	return out
}

// keysOf are the keys of the VMs of a stack.
func keysOf(all []VM, stack string) []string {
	var out []string
	for i := range all {
		if all[i].Stack == stack {
			out = append(out, all[i].Key)
		}
	}
	return out
}

// near asks whether another name was meant.
func near(name string, known []string) string {
	if n := schema.Nearest(name, known); n != "" {
		return fmt.Sprintf("; did you mean %q?", n)
	}
	return ""
}

// some are the first names of a list.
func some(names []string) string {
	const few = 5
	if more := len(names) - few; more > 0 {
		return strings.Join(names[:few], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}

// VMID is the VMID of the VM; 0 if none was decided.
func (v *VM) VMID() int {
	if v.Entry == nil {
		return 0
	}
	return v.Entry.VMID
}

// Node is the node where the VM is, or where the lock has it.
func (v *VM) Node() string {
	switch {
	case v.Guest != nil:
		return v.Guest.Node
	case v.Entry != nil:
		return v.Entry.Node
	}
	return ""
}

// Unproven reports whether a guest has the name and VMID, and nothing else says that it is
// the VM.
func (v *VM) Unproven() bool { return v.Why == cluster.NameAlone || v.Why == cluster.NotItsMAC }

// Problem says why the VM has no guest, and what to do; it is empty if it has one.
func (v *VM) Problem() (text, fix string) {
	switch v.Why {
	case "":
		return "", ""
	case cluster.NoVMID:
		return "it has no VMID yet", "stackgen render"
	case cluster.Absent:
		if len(v.Gaps) > 0 {
			return "it was not found, and not everything could be read: " + v.Gaps[0].Reason, v.Gaps[0].Fix
		}
		return "it does not exist", "stackgen preflight"
	case cluster.Unseen:
		if len(v.Gaps) > 0 {
			return "it could not be read: " + v.Gaps[0].Reason, v.Gaps[0].Fix
		}
		return "its configuration could not be read", "stackgen preflight"
	case cluster.NameAlone, cluster.NotItsMAC:
		return fmt.Sprintf("VM %d has its name and VMID, and the lock records nothing that proves that it is this VM", v.VMID()),
			"stackgen resolve"
	}
	if v.Guest != nil {
		return "", ""
	}
	return fmt.Sprintf("its VMID %d belongs to another guest (%s)", v.VMID(), cmp.Or(v.Holder.Name, "without a name")), "stackgen preflight"
}
