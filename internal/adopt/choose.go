package adopt

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"stackgen/guest"
	"stackgen/internal/check"
	"stackgen/internal/cluster"
	"stackgen/internal/edit"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/lock"
	"stackgen/schema"
)

// choose finds out which VM of the cluster each VM is.
func (p *planner) choose(ctx context.Context) error {
	if err := p.findIncomplete(); err != nil {
		return err
	}
	for _, text := range p.VMIDs {
		if err := p.parse(text); err != nil {
			return err
		}
	}
	p.told = maps.Clone(p.vmids)
	if p.ByName {
		return p.chooseByName(ctx)
	}
	return nil
}

// parse reads KEY=VMID or STACK/KEY=VMID.
func (p *planner) parse(text string) error {
	name, number, _ := strings.Cut(text, "=")
	vmid, err := strconv.Atoi(number)
	if err != nil || vmid < 100 || vmid > 999999999 {
		return fmt.Errorf("%s: %q is no VMID; VMIDs are numbers from 100", text, number)
	}
	found := p.find(name)
	switch {
	case len(found) == 0:
		return fmt.Errorf("%s: no spec here has a VM or container %q", text, name)
	case len(found) > 1 && found[0] == found[1]:
		return fmt.Errorf("%s: %s is in vms and in containers of its spec: give one of them another key", text, found[0])
	case len(found) > 1:
		return fmt.Errorf("%s: several stacks have such a key: write %s=%d or %s=%d", text, found[0], vmid, found[1], vmid)
	}
	if other, twice := p.vmids[found[0]]; twice && other != vmid {
		return fmt.Errorf("%s: %s=%d is given too", text, name, other)
	}
	p.vmids[found[0]] = vmid
	return nil
}

// find finds the VMs and containers with a name, KEY or STACK/KEY: those with an entry of their own
// in the specs as they are written, and those of groups and classes where the specs are valid.
func (p *planner) find(name string) []VM {
	stack, key, qualified := splitName(name)
	var out []VM
	for _, file := range slices.Sorted(maps.Keys(p.project.Sources)) {
		if base := filepath.Base(file); base == schema.SettingsFile || base == lock.File {
			continue
		}
		for _, kind := range guest.Kinds() {
			in, keys := edit.Keys(p.project.Sources[file], kind.List())
			if slices.Contains(keys, key) && (qualified && in == stack || !qualified && p.project.Selected(in)) {
				p.files[VM{in, key}], p.kinds[VM{in, key}] = file, kind
				out = append(out, VM{in, key})
			}
		}
	}
	if p.stacks == nil {
		return out
	}
	for _, v := range p.named(name) {
		if vm := (VM{v.stack, v.Key}); !slices.Contains(out, vm) {
			p.files[vm], p.kinds[vm], p.places[vm] = v.File, cmp.Or(v.Kind, guest.VM), v.OwnEntry()
			out = append(out, vm)
		}
	}
	return out
}

// A specGuest is a guest of a stack.
type specGuest struct {
	stack string
	*schema.VM
}

// named are the guests with a name, KEY or STACK/KEY, in specs that are valid.
func (p *planner) named(name string) (out []specGuest) {
	stack, key, qualified := splitName(name)
	for _, s := range p.stacks.Stacks {
		if qualified && s.Name != stack || !qualified && !p.project.Selected(s.Name) {
			continue
		}
		for _, v := range s.VMs {
			if v.Key == key {
				out = append(out, specGuest{s.Name, v})
			}
		}
	}
	return out
}

func splitName(name string) (stack, key string, qualified bool) {
	if stack, key, qualified = strings.Cut(name, "/"); qualified {
		return stack, key, true
	}
	return "", name, false
}

// chooseByName adopts the VMs whose name exactly one VM of the cluster has. A VM that no
// apply could create, because its entry is empty, may also have its key as its name.
func (p *planner) chooseByName(ctx context.Context) error {
	specs, err := p.open()
	if err != nil {
		return err
	}
	p.Warnings = specs
	s := check.New(specs, p.Sources)
	r, err := s.Run(ctx, check.Config{})
	if err != nil {
		return err
	}
	p.inventory = s.Inventory
	named := newNamed(s)
	for _, f := range r.Found {
		vm := VM{f.Stack, f.Key}
		_, chosen := p.vmids[vm]
		switch {
		case f.Type == finding.Stack && f.Stops():
			p.Left = append(p.Left, f)
		case f.Type != finding.VM || chosen:
		case p.incomplete[vm] != nil:
			p.chooseIncomplete(f, named)
		case f.Kind == finding.Create:
			p.Absent = append(p.Absent, named.absent(f))
		case !f.Stops():
		case f.Kind == finding.Ambiguous && len(f.Candidates) == 1 && len(p.find(vm.String())) == 1:
			p.chooseUnclaimed(f, f.Candidates[0])
		default:
			p.Left = append(p.Left, f)
		}
	}
	return nil
}

// chooseUnclaimed adopts a VM by its name, unless the lock of another project has it.
func (p *planner) chooseUnclaimed(f finding.Finding, vmid int) {
	vm := VM{f.Stack, f.Key}
	g := p.inventory.Guest(vmid)
	claim := p.inventory.Claimed(p.project.Others(), g)
	own := finding.Finding{Address: f.Address}
	if p.kinds[vm] == guest.Container && claim == nil {
		if err := p.obstacle(vm, g); err != nil {
			own.Is(finding.Ambiguous, finding.Why("container-not-adopted", vmid, err))
			own.Next("correct that, and adopt it", fmt.Sprintf("stackgen adopt %s=%d", vm, vmid))
			p.Left = append(p.Left, own)
			return
		}
	}
	if claim == nil {
		p.vmids[vm] = vmid
		return
	}
	own.Is(finding.Conflict, finding.Why("name-in-other-project", p.kinds[vm].Name()))
	own.Because("%s %d is %s", p.kinds[vm].Name(), vmid, claim)
	own.Next("if another " + p.kinds[vm].Name() + " is meant here, give one of the two another name")
	own.Next("to move it here, forget it there first: `forgotten: ["+claim.Key+"]`; then run", fmt.Sprintf("stackgen adopt %s=%d", vm, vmid))
	p.Left = append(p.Left, own)
}

// hidden leaves a VM to a person if the cluster may have guests that are not seen: that one guest has its name, or
// none, is not certain then.
func (p *planner) hidden(own *finding.Finding, guests []*cluster.Guest) bool {
	i := slices.IndexFunc(p.inventory.GapsForNames(), cluster.Gap.AnyGuest)
	if i < 0 || len(guests) > 1 {
		return false
	}
	vm, gap := VM{own.Stack, own.Key}, p.inventory.GapsForNames()[i]
	own.Is(finding.Unknown, finding.Why("gap", gap.Reason))
	if gap.Fix != "" {
		own.Next("grant this permission, then run the same command again", gap.Fix)
	}
	if len(guests) == 0 {
		own.Because("so a %s that is not seen may have its name", p.kinds[vm].Name())
		return true
	}
	own.Because("%s", guard.Describe(guests[0]))
	own.Because("so another %s may have its name, too", p.kinds[vm].Name())
	own.Next("or, if that is the right one, say so", fmt.Sprintf("stackgen adopt %s=%d", vm, guests[0].VMID))
	return true
}

// chooseIncomplete adopts a VM without a template if exactly one VM of the cluster has its
// name or its key as a name.
func (p *planner) chooseIncomplete(f finding.Finding, named *named) {
	vm := VM{f.Stack, f.Key}
	own := finding.Finding{Address: f.Address}
	guests := named.find(vm)
	if p.hidden(&own, guests) {
		p.Left = append(p.Left, own)
		return
	}
	switch len(guests) {
	case 1:
		if len(p.find(vm.String())) == 1 {
			p.chooseUnclaimed(f, guests[0].VMID)
			return
		}
	case 0:
		own.Is(finding.NotFound, finding.Why("no-guest-incomplete", p.kinds[vm].Name()))
		own.Because("no %s is called %s", p.kinds[vm].Name(), strings.Join(named.names(vm), " or "))
		own.Next("if it exists under another name, say which one it is", "stackgen adopt "+vm.String()+"=VMID")
		at, template := "  # "+strings.Join(p.entry(vm), "."), "template: VMID"
		if p.kinds[vm] == guest.Container {
			template = "template: STORAGE:vztmpl/ARCHIVE"
		}
		own.Next("or let an apply create it: write its node and a template into "+p.files[vm], "node: NODE"+at, template+at)
		p.Left = append(p.Left, own)
		return
	default:
		own.Is(finding.Ambiguous, finding.Why("name-of-several", p.kinds[vm].Name()))
		for _, g := range guests {
			own.Candidates = append(own.Candidates, g.VMID)
			own.Because("%s", guard.Describe(g))
			own.Next("choose one", fmt.Sprintf("stackgen adopt %s=%d", vm, g.VMID))
		}
	}
	p.Left = append(p.Left, own)
}
