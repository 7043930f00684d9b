package adopt

import (
	"fmt"
	"slices"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/edit"
	"stackgen/internal/finding"
	"stackgen/internal/hardware"
	"stackgen/internal/project"
	"stackgen/internal/shell"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// A target is one VM whose hardware is written.
type target struct {
	VM
	vm      *schema.VM
	guest   *cluster.Guest
	reading *hardware.Reading
	lines   []edit.Setting
	shared  []edit.Setting   // lines for the defaults, which all VMs of the stack get
	refusal *finding.Finding // why nothing is written

	attributes []string // that Accept writes, and what follows from them; nil for all of the hardware
	asked      []string // of those, what a person asked for and a configuration has
	unsaid     []string // the entries of the configuration that a spec cannot say, which the refusal names
}

// compare determines what to write of the VM, or refuses it.
func (t *target) compare(state tf.State) {
	if why := t.unreadable(state); why != "" {
		t.refuse(finding.Do(why))
		return
	}
	t.reading = hardware.Read(t.guest)
	if t.vm.Profile == "adopted" {
		t.lines = append(t.lines, edit.Setting{Key: guest.Profile, Line: "profile: default"})
	}
	var steps []finding.Step
	if blocks, step := t.staleBlocks(state); blocks != nil {
		steps = append(steps, step)
	}
	for _, d := range t.reading.Missing(t.vm) {
		if d.Reason != "" {
			steps = append(steps, finding.Do(d.Config+": "+d.Reason, d.Commands...))
			continue
		}
		t.lines = append(t.lines, edit.Setting{Key: d.Field, Line: d.Line})
		switch {
		case len(t.vm.Records) == 0:
		case d.Field == guest.Name && t.vm.Values.Get(guest.DNS, guest.Records) == nil:
			t.lines = append(t.lines, t.records()) // the default record follows the name
		case d.Field == guest.CloudInit && t.vm.Address.IsValid() && d.Differs("initialization.ip_config.ipv4.address"):
			steps = append(steps, finding.Do(fmt.Sprintf("DNS has the spec's address %s, which the VM's configuration does not have: "+
				"remove it from the spec first, and let the guest agent report the address", t.vm.Address)))
		}
	}
	if len(steps) > 0 {
		t.refuse(steps...)
	}
}

// unreadable is why the VM's hardware cannot be compared, or empty.
func (t *target) unreadable(state tf.State) string {
	if why := t.unread(); why != "" {
		return why
	}
	switch {
	case state.Unreadable != "":
		return "its state could not be read: " + state.Unreadable
	case slices.ContainsFunc(state.Resources, func(r tf.Resource) bool { return t.has(r) && r.Cloned }):
		return "OpenTofu cloned it, and its state has only what the spec says: the next plan would change all that is written now. " +
			"Its spec is complete as it is"
	}
	return ""
}

// has reports whether a resource is the VM's.
func (t *target) has(r tf.Resource) bool {
	return r.Type == t.vm.Kind.Resource() && r.VMID == t.guest.VMID
}

// staleBlocks are the blocks that the state has, from a time when the guest had other
// hardware, and the spec would leave out; and what to do about them.
func (t *target) staleBlocks(state tf.State) (blocks []string, step finding.Step) {
	for _, r := range state.Resources {
		if !t.has(r) {
			continue
		}
		for _, block := range t.reading.OmittedBlocks() {
			if slices.Contains(r.Blocks, block) {
				blocks = append(blocks, block)
			}
		}
		if blocks != nil {
			return blocks, finding.Do("its state has a block "+blocks[0]+" from an earlier time, which the next plan would remove: "+
				"remove it from the state, and import it again", t.importAgain(t.vm.Kind.Unit(), r.Address)...)
		}
	}
	return nil, finding.Step{}
}

// importAgain are the lines that remove a VM from its state, write its hardware into the
// spec, and import it: then the state has all that the provider reads.
func (v VM) importAgain(unit, address string) []string {
	stack := "stacks/" + v.Stack
	return []string{
		"(cd " + stack + " && terragrunt stack generate)",
		"(cd " + stack + "/.terragrunt-stack/" + unit + " && terragrunt state rm " + shell.Quote(address) + ")",
		"stackgen adopt --match " + v.String() + " && stackgen render && stackgen import-blocks",
	}
}

// refuse leaves the VM as it is.
func (t *target) refuse(steps ...finding.Step) {
	f := finding.Finding{
		Address: finding.Address{Stack: t.Stack, Unit: t.vm.Kind.Unit(), Type: finding.VM, Key: t.Key},
		Kind:    finding.Unmatched, Severity: finding.Blocked,
		Reason: finding.Why("hardware-not-written"), Steps: steps,
	}
	if t.vm.Profile == "adopted" {
		f.Reason = finding.Why("stays-adopted")
	}
	if t.attributes != nil {
		f.Reason = finding.Why("not-written")
	}
	if t.guest != nil {
		f.VMID = t.guest.VMID
	}
	t.refusal, t.lines = &f, nil
}

// addMissing adds the lines that a spec still lacks, and reports whether there
// were any.
func (t *target) addMissing(after *project.Project) (bool, error) {
	if t.refusal != nil && len(t.lines) == 0 {
		return false, nil
	}
	var missing []hardware.Difference
	for _, s := range after.Stacks.Stacks {
		for _, v := range s.VMs {
			switch {
			case s.Name != t.Stack || v.Key != t.Key:
			case t.attributes != nil:
				return t.addDerived(v)
			default:
				missing = t.reading.Missing(v)
			}
		}
	}
	for _, d := range missing {
		line := edit.Setting{Key: d.Field, Line: d.Line}
		if d.Reason != "" || slices.ContainsFunc(t.lines, func(l edit.Setting) bool { return l.Key == line.Key && l.Line == line.Line }) {
			return false, fmt.Errorf("it has %s, and the spec would say %s: "+
				"its own entry cannot undo what it inherits, so change that first", d.Config, d.Spec)
		}
		t.lines = slices.DeleteFunc(t.lines, func(l edit.Setting) bool { return l.Key == d.Field })
		t.lines = append(t.lines, line)
	}
	return len(missing) > 0, nil
}

// records keeps the default record of a VM whose name changes.
func (t *target) records() edit.Setting {
	line := fmt.Sprintf("dns: {records: [%q]", t.vm.Records[0].Name)
	if ttl := t.vm.Values.Get(guest.DNS, guest.TTL); ttl != nil {
		line += ", ttl: " + ttl.Text
	}
	return edit.Setting{Key: guest.DNS, Line: line + "}"}
}
