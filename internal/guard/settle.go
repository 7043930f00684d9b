package guard

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/effect"
	"stackgen/internal/finding"
	"stackgen/internal/hardware"
	"stackgen/internal/lock"
	"stackgen/internal/natural"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// settles reports what the next apply sets although the VM has it: what an import
// cannot read. While the import file has the VM, the module leaves that out.
func (s *subject) settles() {
	if s.Kind != finding.Managed && s.Kind != finding.Moved || s.Destroy || s.entry.Status != lock.Live ||
		len(s.states) != 1 || s.match.VM == nil || s.profile == nil {
		return
	}
	all, left := s.unreadable(&s.states[0])
	if len(left) == 0 {
		s.settled[s.Address] = all
		return
	}
	vm := vmEffects(s.guest, permitsRestart(s.match.VM))

	// An import leaves reboot_after_update out.
	vm.Restarts = vm.Permits || s.importing()

	asked := s.states[0].Cloned && slices.ContainsFunc(vm.Updates(changesOf(left)), effect.Update.Interrupts) // the spec asks for a restart
	if s.Kind == finding.Managed && !asked {
		s.Is(finding.Settling, finding.Why("settles"))
	}
	for _, l := range left {
		block, _, _ := strings.Cut(l.attribute, ".")
		s.Settles = append(s.Settles, block)
		s.Because("%s", l.text)
	}
	if s.importing() {
		s.Reason = s.Reason.And(finding.Why("after-import-file"))
		s.Next("remove the import file", "stackgen import-blocks")
	}
	if vm.Permits && vm.Running && s.importing() { // the apply before that one changes nothing
		if harms := harmsOf(effect.RefuseNeedless(vm.Updates(changesOf(left)), s.unread())); slices.Contains(harms, effect.Needless) {
			s.Reason = s.Reason.And(finding.Why("settling-refused"))
			s.Add(s.keeper().withoutRestart(nil))
		}
	}
}

// unread is what the next apply sets because an import could not read it. What the state
// of a VM that was created lacks, its spec did not have before.
func (s *subject) unread() []string {
	if len(s.states) == 0 || s.states[0].Cloned {
		return nil
	}
	return s.Settles
}

// importing reports whether the import file still has a VM that is in state. import-blocks,
// which does not judge these files, removes it.
func (s *subject) importing() bool {
	_, found := s.Imports[tf.Unit{Stack: s.Stack, Unit: s.Unit}][s.states[0].Address]
	return found
}

// An unset is an attribute that the state does not have as the spec says.
type unset struct {
	attribute, text string
	changes         []tf.Change // that a plan has for it, where the provider may restart the VM
}

// unreadable is what the spec says of a VM and an import cannot read: all of it, and
// what the state does not have yet.
func (s *subject) unreadable(state *tf.Resource) (all []string, left []unset) {
	vm := s.match.VM
	for _, row := range schema.SettledRows() {
		v := row.In(vm.Values)
		block, _, _ := strings.Cut(row.Attribute(), ".")
		is, known := state.Settled[row.Attribute()]
		if v == nil || !known || s.profile.Ignores(block) {
			continue
		}
		if v.Text != row.Unset {
			all = append(all, row.Attribute())
		}
		if is != v.Text {
			left = append(left, unset{row.Attribute(), fmt.Sprintf("%s is %s in state and %s in the spec", row.Attribute(), is, v.Text),
				[]tf.Change{{Path: row.Attribute(), Was: is, Is: v.Text, Present: true}}})
		}
	}
	if is, known := state.Settled[tf.MigrateAttribute]; known && !s.profile.Ignores("node_name") {
		all = append(all, tf.MigrateAttribute)
		if is != "true" {
			left = append(left, unset{tf.MigrateAttribute, fmt.Sprintf("%s is %s in state and true in the module", tf.MigrateAttribute, is), nil})
		}
	}
	blocks, absent := s.defaultBlocks(state)
	return append(all, blocks...), slices.Concat(left, absent, s.otherOrder(state))
}

// defaultBlocks are the blocks that have the provider's defaults in the spec of a VM: all of
// them, and what the state does not have yet.
func (s *subject) defaultBlocks(state *tf.Resource) (all []string, left []unset) {
	vm := s.match.VM
	for _, b := range schema.DefaultBlocks() {
		said, more := b.Says(vm.Values)
		if !said || more || vm.Adopt && !b.Keeps || s.profile.Ignores(b.Name) {
			continue
		}
		all = append(all, b.Name)
		if slices.Contains(state.Absent, b.Name) && s.has(&b) {
			left = append(left, unset{b.Name, b.Name + " has the provider's defaults in the spec, and is not in state", addedBlock(&b, vm.Values)})
		}
	}
	return all, left
}

// otherOrder are the disks of a VM that an import read in the order of their interfaces, if
// the lock has another order. An apply sets that in the state only.
func (s *subject) otherOrder(state *tf.Resource) []unset {
	block, read := schema.VMField(guest.Disks).HCL, slices.Clone(state.Disks)
	slices.SortFunc(read, natural.Compare)
	order := schema.Interfaces(s.entry.OrderedDisks(s.match.VM))
	if s.profile.Ignores(block) || !slices.Equal(read, state.Disks) || slices.Equal(order, state.Disks) ||
		!slices.Equal(slices.SortedFunc(slices.Values(order), natural.Compare), read) {
		return nil
	}
	is, want := strings.Join(state.Disks, ", "), strings.Join(order, ", ")
	return []unset{{block, fmt.Sprintf("its disks are in the order %s in state and %s in the lock", is, want), nil}}
}

// addedBlock are the changes of a plan that adds a block which the VM has already.
func addedBlock(b *schema.DefaultBlock, values *schema.Node) []tf.Change {
	if row := schema.ResourceAttribute(guest.VMResource, b.Name); row != nil && !row.Group {
		return []tf.Change{{Path: b.Name, Is: "as it is", Whole: true, Present: true}}
	}
	var out []tf.Change
	for _, row := range b.Rows {
		if v := row.In(values); v != nil {
			out = append(out, tf.Change{Path: row.Attribute(), Is: v.Text, Present: true})
		}
	}
	return out
}

// changesOf are the changes of all that the state does not have.
func changesOf(left []unset) []tf.Change {
	var out []tf.Change
	for _, l := range left {
		out = append(out, l.changes...)
	}
	return out
}

// has reports whether the configuration of the VM has what the spec says of a block.
// Otherwise the apply changes the VM.
func (s *subject) has(b *schema.DefaultBlock) bool {
	if s.guest.Config == nil || b.Name == "cpu" && s.guest.Config.Raw["cpu"] == "" { // the default of Proxmox VE is not the provider's
		return false
	}
	return len(hardware.Read(s.guest).Differences(s.match.VM, func(attribute string) bool { return attribute != b.Name })) == 0
}
