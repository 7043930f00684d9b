package adopt

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/check"
	"stackgen/internal/edit"
	"stackgen/internal/finding"
	"stackgen/internal/hardware"
	"stackgen/internal/project"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// nodeName is the attribute that no entry of a configuration has.
const nodeName = "node_name"

// changeBack is what to do about a value that no property of a spec says.
const changeBack = "; change it back, by hand or by an apply"

// An AcceptRequest is what a person asks to be written into the specs: what is real.
type AcceptRequest struct {
	Paths     []string
	Addresses []string // STACK/KEY, KEY, either with :PROPERTY, or a resource address; empty for every VM that differs
	Session   *check.Session
	Found     []finding.Finding // of drift
}

// Accept plans to write into the specs what the cluster has, where drift found that it
// differs. What a spec cannot say is a finding with a way out. It writes nothing.
func Accept(r AcceptRequest) (*Plan, error) {
	specs, err := project.Load(r.Paths, "")
	if err != nil {
		return nil, err
	}
	p := &planner{Request: Request{Paths: r.Paths}, Plan: Plan{project: specs}, edited: map[string][]byte{}, inventory: r.Session.Inventory}
	if specs.Stacks == nil {
		return nil, &project.BlockedError{Project: specs}
	}
	chosen, err := chooseDifferences(r)
	if err != nil {
		return nil, err
	}
	p.acceptTargets(chosen)
	p.findGuests(r.Session)
	for _, t := range p.targets {
		t.accept(chosen, r.Session.State[t.unit()])
	}
	p.tryAll()
	for _, t := range p.targets {
		if t.refusal != nil {
			p.Unmatched = append(p.Unmatched, *t.refusal)
		}
		if len(t.lines)+len(t.shared) > 0 {
			p.Accepted = append(p.Accepted, Accepted{t.VM, t.properties()})
		}
	}
	p.Unmatched = append(p.Unmatched, chosen.left...)
	finding.Sort(p.Unmatched)
	if err := p.check(); err != nil {
		return nil, err
	}
	p.collect()
	return &p.Plan, nil
}

// acceptTargets makes a target of each VM and container whose spec must change.
func (p *planner) acceptTargets(chosen *choice) {
	for _, s := range p.project.Stacks.Stacks {
		for _, v := range s.VMs {
			if vm := (VM{s.Name, v.Key}); len(chosen.attributes[vm]) > 0 {
				p.targets = append(p.targets, &target{VM: vm, vm: v, attributes: slices.Clone(chosen.attributes[vm])})
			}
		}
	}
	slices.SortFunc(p.targets, func(a, b *target) int { return compareVMs(a.VM, b.VM) })
}

// accept determines the lines that say what the VM has, of the attributes that differ.
func (t *target) accept(chosen *choice, state tf.State) {
	if why := t.unread(); why != "" {
		t.refuse(finding.Do(why))
		return
	}
	t.reading = hardware.Read(t.guest)
	attributes := t.attributes
	if slices.Contains(attributes, nodeName) {
		node := &schema.Node{Shape: schema.ShapeString, Text: t.guest.Node}
		t.lines = append(t.lines, edit.Setting{Key: guest.Node, Line: hardware.Assignment(guest.VM, guest.Node, node)})
		attributes = slices.DeleteFunc(slices.Clone(attributes), func(a string) bool { return a == nodeName })
	}
	attributes, steps := t.withoutStale(attributes, state)
	accepted, refused := t.reading.Accept(t.vm, attributes)
	for _, a := range accepted {
		if a.Reason != "" {
			t.unsaid = append(t.unsaid, a.Config)
			if a.Key == "" && len(a.Commands) == 0 {
				a.Reason += changeBack
			}
			steps = append(steps, finding.Do(a.Config+": "+a.Reason, a.Commands...))
			continue
		}
		t.lines = append(t.lines, a.Setting)
		if a.Key == guest.Name && len(t.vm.Records) > 0 && t.vm.Values.Get(guest.DNS, guest.Records) == nil {
			t.lines = append(t.lines, t.records()) // the default record follows the name
		}
	}
	for _, a := range refused {
		if t.reading.AtDefault(a) {
			continue
		}
		why := ": no property of a spec says it" + changeBack
		if hardware.Says(t.vm.Kind, a) {
			why = ": the spec says already what it has; render, and plan again"
		}
		steps = append(steps, finding.Do(chosen.names[a]+why))
	}
	if len(steps) > 0 {
		lines := t.lines
		t.refuse(steps...)
		t.refusal.Reason = finding.Why("spec-cannot-say")
		t.lines = lines // the other properties are written
	}
	t.asked = attributes
}

// withoutStale are the attributes of a container that are in no block which its spec would leave out and its state has, and
// what to do about the others: a plan that removes the block of the memory restarts the container.
func (t *target) withoutStale(attributes []string, state tf.State) (kept []string, steps []finding.Step) {
	if !t.vm.IsContainer() {
		return attributes, nil
	}
	blocks, step := t.staleBlocks(state)
	kept = slices.DeleteFunc(slices.Clone(attributes), func(a string) bool {
		return slices.ContainsFunc(blocks, func(block string) bool { return hardware.Overlap(block, a) })
	})
	if len(kept) < len(attributes) {
		steps = append(steps, step)
	}
	return kept, steps
}

// properties are the properties that are written.
func (t *target) properties() []string {
	var out []string
	for _, l := range slices.Concat(t.lines, t.shared) {
		out = append(out, l.Key)
	}
	return out
}

// addDerived adds the lines that keep what follows from the accepted properties as it is,
// such as the datastore of the cloud-init drive from that of the first disk. It reports
// whether there are any. A spec that then does not say what was asked for is an error, except for what no spec can say.
func (t *target) addDerived(after *schema.VM) (bool, error) {
	var derived []string
	for _, a := range hardware.Changed(t.vm, after) {
		if !slices.ContainsFunc(t.attributes, func(asked string) bool { return hardware.Overlap(asked, a) }) {
			derived = append(derived, a)
		}
	}
	lines, _ := t.reading.Accept(after, derived)
	for _, l := range lines {
		if l.Reason != "" || slices.ContainsFunc(t.lines, func(has edit.Setting) bool { return has.Key == l.Key }) {
			return false, fmt.Errorf("it would change %s, too: write it by hand", l.Key)
		}
		t.lines = append(t.lines, l.Setting)
	}
	t.attributes = append(t.attributes, derived...)
	missing, _ := t.reading.Accept(after, t.asked)
	missing = slices.DeleteFunc(missing, func(a hardware.Acceptance) bool { return a.Reason != "" && slices.Contains(t.unsaid, a.Config) })
	if len(missing) > 0 {
		return false, fmt.Errorf("it has %s, and its own entry in the spec cannot undo what it inherits: change `%s` there first",
			missing[0].Config, missing[0].Key)
	}
	if slices.Contains(t.attributes, nodeName) && after.Node != t.guest.Node {
		return false, errors.New("its own entry in the spec cannot undo the node that it inherits")
	}
	return len(lines) > 0, nil
}

// unchanged checks that no other VM of the project changes: neither what a plan would set, nor its profile and
// what else its spec says of it.
func (p *planner) unchanged(after *schema.Project) error {
	if p.project.Stacks == nil {
		return nil // an adoption corrects the specs
	}
	old := map[VM]*schema.VM{}
	for _, s := range p.project.Stacks.Stacks {
		for _, v := range s.VMs {
			old[VM{s.Name, v.Key}] = v
		}
	}
	for _, s := range after.Stacks {
		for _, v := range s.VMs {
			vm := VM{s.Name, v.Key}
			if _, adopted := p.vmids[vm]; adopted || slices.ContainsFunc(p.targets, func(t *target) bool { return t.VM == vm }) {
				continue
			}
			if was := old[vm]; was == nil || was.Node != v.Node || was.VMID != v.VMID || was.Profile != v.Profile ||
				hardware.Flow(was.Values) != hardware.Flow(v.Values) {
				return fmt.Errorf("%s would change, too, because it shares a part of the spec: write the lines by hand", vm)
			}
		}
	}
	return nil
}

// unread is why the VM's configuration cannot be compared, or empty.
func (t *target) unread() string {
	const more = "; `stackgen preflight` says more"
	switch {
	case t.guest == nil:
		return "it is not certain which " + t.vm.Kind.Name() + " of the cluster it is" + more
	case t.guest.Config == nil || len(t.guest.Config.Raw) == 0:
		return "its configuration was not read" + more
	case t.guest.Lock != "":
		return "it is locked (" + t.guest.Lock + "), so its configuration is about to change" + more
	}
	return ""
}

// keyOf is the key in a resource address.
func keyOf(address string) string {
	_, index, _ := strings.Cut(address, "[")
	return strings.Trim(strings.TrimSuffix(index, "]"), `"`)
}
