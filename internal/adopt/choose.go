package adopt

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"stackgen/internal/edit"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/internal/session"
	"stackgen/schema"
)

// choose finds out which VM of the cluster each VM is.
func (p *planner) choose(ctx context.Context) error {
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
		return fmt.Errorf("%s: no spec here has %q under vms; VMs of groups and classes have no entry of their own to write into", text, name)
	case len(found) > 1:
		return fmt.Errorf("%s: several stacks have such a VM: write %s=%d or %s=%d", text, found[0], vmid, found[1], vmid)
	}
	if other, twice := p.vmids[found[0]]; twice && other != vmid {
		return fmt.Errorf("%s: %s=%d is given too", text, name, other)
	}
	p.vmids[found[0]] = vmid
	return nil
}

// find finds the VMs with a name, KEY or STACK/KEY, in the specs as they are
// written.
func (p *planner) find(name string) []VM {
	stack, key, qualified := splitName(name)
	var out []VM
	for _, file := range slices.Sorted(maps.Keys(p.project.Sources)) {
		if base := filepath.Base(file); base == schema.SettingsFile || base == lock.File {
			continue
		}
		in, keys := edit.VMs(p.project.Sources[file])
		if slices.Contains(keys, key) && (qualified && in == stack || !qualified && p.project.Selected(in)) {
			p.files[VM{in, key}] = file
			out = append(out, VM{in, key})
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

// chooseByName adopts the VMs whose name exactly one VM of the cluster has.
func (p *planner) chooseByName(ctx context.Context) error {
	specs, err := project.Open(p.Paths)
	if err != nil {
		return err
	}
	p.Warnings = specs
	s := session.New(specs, p.Sources)
	if err := s.Look(ctx); err != nil {
		return err
	}
	p.inventory = s.Inventory
	for _, f := range s.Judge() {
		vm := VM{f.Stack, f.Key}
		_, chosen := p.vmids[vm]
		switch {
		case f.Type == finding.Stack && f.Stops():
			p.Left = append(p.Left, f)
		case f.Type != finding.VM || !f.Stops() || chosen:
		case f.Kind == finding.Ambiguous && len(f.Candidates) == 1 && len(p.find(vm.String())) == 1:
			p.vmids[vm] = f.Candidates[0]
		default:
			p.Left = append(p.Left, f)
		}
	}
	return nil
}
