package adopt

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/finding"
	"stackgen/internal/hardware"
	"stackgen/schema"
)

// A choice is what of the differences that drift found is written, and what is not.
type choice struct {
	attributes map[VM][]string
	names      map[string]string // attribute -> property
	left       []finding.Finding
}

// A selector is an address that a person gave.
type selector struct {
	text, stack, key, property string
	used                       bool
}

// chooseDifferences finds the attributes to write.
func chooseDifferences(r AcceptRequest) (*choice, error) {
	out := &choice{attributes: map[VM][]string{}, names: map[string]string{}}
	selectors := parseSelectors(r.Addresses)
	if err := resolve(selectors, r); err != nil {
		return nil, err
	}
	for i := range r.Found {
		f := &r.Found[i]
		if f.Change == nil {
			continue
		}
		asked := len(selectors) == 0
		for _, s := range selectors {
			if s.matches(f) {
				s.used, asked = true, true
			}
		}
		if !asked {
			continue
		}
		out.add(f, len(selectors) > 0)
	}
	for _, s := range selectors {
		if !s.used {
			what := "it has no difference that the spec could say"
			if s.property != "" {
				what = s.property + " does not differ, or is no property: `stackgen drift` lists the differences"
			}
			out.left = append(out.left, left(finding.Address{Stack: s.stack, Type: finding.VM, Key: s.key}, what))
		}
	}
	return out, nil
}

// add notes what to do about one difference. asked says that a person named it.
func (c *choice) add(f *finding.Finding, asked bool) {
	hand := f.Change.Cause == finding.ByHand || f.Change.Cause == finding.ByBoth
	disk := f.Kind == finding.Noise && f.Change.Cause == finding.NotKnown && f.Change.Effect == string(schema.Detach)
	switch {
	case f.Change.Known != nil && !f.Change.Known.Expired && !asked:
	case f.Type == finding.Record:
		if hand || asked {
			c.leave(f, "a spec does not say what a DNS server has: an apply publishes the address of the "+f.Word()+"; "+
				"for another one, change its address or `dns`")
		}
	case f.Type != finding.VM:
		if asked {
			c.leave(f, "a spec cannot say it: see `stackgen drift`")
		}
	case f.Kind == finding.Gone:
		c.gone(f)
	case disk:
		c.leave(f, f.Change.Property+": the state does not have this disk, so an apply of a spec that names it would attach another one: "+
			"remove the "+f.Word()+" from the state, and import it again",
			VM{f.Stack, f.Key}.importAgain(f.Unit, f.Resource)...)
	case f.Change.Unplanned && f.Change.NoAccept != "" && f.Change.Accept == "" && f.Change.Undo != "":
		c.leave(f, f.Change.Property+": "+f.Change.NoAccept+"; change it back, on any node", f.Change.Undo)
	case hand && ofMounts(f):
		c.take(f)
	case f.Kind == finding.ProviderOnly, f.Kind == finding.Noise && !unsaid(f), f.Kind == finding.Import, f.Kind == finding.Create,
		f.Change.Attribute == "", !hand && f.Change.Cause != finding.BySpec && !unsaid(f):
		if asked && f.Kind != finding.Noise && f.Kind != finding.ProviderOnly {
			c.leave(f, "there is nothing to write into the spec")
			c.left[len(c.left)-1].Steps[0].Why = &f.Reason
		}
	default:
		c.take(f)
	}
}

// take notes the attributes of a difference, to write what the guest has.
func (c *choice) take(f *finding.Finding) {
	for a := range strings.SplitSeq(f.Change.Attribute, ", ") {
		vm, a := VM{f.Stack, f.Key}, hardware.Named(f.GuestKind(), a)
		c.attributes[vm], c.names[a] = append(c.attributes[vm], a), f.Change.Property
	}
}

// ofMounts reports whether a difference is about the mount points of a container.
func ofMounts(f *finding.Finding) bool {
	return f.GuestKind() == guest.Container &&
		hardware.Overlap(schema.FieldOf(guest.Container, guest.Mounts).HCL, f.Change.Attribute)
}

// unsaid reports whether the VM has a value that no spec says and an apply leaves as it is.
func unsaid(f *finding.Finding) bool {
	c := f.Change
	leaves := c.Cause == finding.ByHand && f.Kind == finding.Noise || c.Unplanned && (f.Kind == finding.Noise || f.Kind == finding.Pending)
	return leaves && f.Severity == finding.Outdated && c.Attribute != "" && c.Real != "" && c.Real != c.Spec
}

// leave lists a difference that is not written.
func (c *choice) leave(f *finding.Finding, why string, lines ...string) {
	own := left(f.Address, why, lines...)
	own.VMID = f.VMID
	c.left = append(c.left, own)
}

// gone lists a VM that does not exist any more.
func (c *choice) gone(f *finding.Finding) {
	own := left(f.Address, "it is gone, and a spec has no line for what does not exist: an apply creates it again")
	own.Reason = finding.Why("gone-nothing-to-write")
	if len(f.Steps) > 0 {
		own.Steps = f.Steps
	}
	c.left = append(c.left, own)
}

// left is a finding about what is not written.
func left(at finding.Address, why string, lines ...string) finding.Finding {
	return finding.Finding{Address: at, Kind: finding.Unmatched, Severity: finding.Blocked,
		Reason: finding.Why("not-written"), Steps: []finding.Step{finding.Do(why, lines...)}}
}

// parseSelectors reads addresses.
func parseSelectors(addresses []string) []*selector {
	var out []*selector
	for _, text := range addresses {
		s := &selector{text: text}
		name, property, _ := strings.Cut(text, ":")
		s.property = property
		if strings.Contains(name, "[") {
			s.key = keyOf(name)
		} else {
			s.stack, s.key, _ = splitName(name)
		}
		out = append(out, s)
	}
	return out
}

// resolve finds the stack of each address.
func resolve(selectors []*selector, r AcceptRequest) error {
	var errs []error
	for _, s := range selectors {
		var found []VM
		add := func(stack, key string) {
			if vm := (VM{stack, key}); key == s.key && (s.stack == "" || s.stack == stack) && !slices.Contains(found, vm) {
				found = append(found, vm)
			}
		}
		for _, stack := range r.Session.Project.SelectedStacks() {
			for _, v := range stack.VMs {
				add(stack.Name, v.Key)
			}
		}
		for _, f := range r.Found {
			add(f.Stack, f.Key)
		}
		switch len(found) {
		case 0:
			errs = append(errs, fmt.Errorf("%s: no spec here has a VM or container %q, and there is no such file", s.text, s.text))
		case 1:
			s.stack = found[0].Stack
		default:
			errs = append(errs, fmt.Errorf("%s: several stacks have such a key: write %s or %s", s.text, found[0], found[1]))
		}
	}
	return errors.Join(errs...)
}

// matches reports whether a difference is at the address.
func (s *selector) matches(f *finding.Finding) bool {
	if f.Stack != s.stack || f.Key != s.key {
		return false
	}
	c := f.Change
	if s.property == "" || s.property == c.Property || s.property == c.Attribute || strings.HasPrefix(c.Property, s.property+".") {
		return true
	}
	kind := f.GuestKind()
	attribute := hardware.Named(kind, c.Attribute)
	// memory is a property, and also the block with the balloon
	if row := schema.FieldOf(kind, s.property); row != nil && row.HCL != "" {
		return hardware.Overlap(row.HCL, attribute)
	}
	return hardware.Overlap(s.property, attribute)
}
