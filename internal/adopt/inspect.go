package adopt

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/check"
	"stackgen/internal/cluster"
	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/schema"
)

// inspect reads the VMs that are adopted, checks that they exist, and notes what the
// lock records of them.
func (p *planner) inspect(ctx context.Context) error {
	if len(p.vmids) == 0 && !p.Match {
		return nil
	}
	if p.inventory == nil || p.Sources.Inventory == "" && p.unread() {
		if err := p.readCluster(ctx); err != nil {
			return err
		}
	}
	if p.inventory == nil {
		return nil
	}
	if err := p.exist(); err != nil {
		return err
	}
	if err := p.setNodes(); err != nil {
		return err
	}
	if err := p.identify(); err != nil {
		return err
	}
	for _, vm := range slices.SortedFunc(maps.Keys(p.vmids), compareVMs) {
		g := p.inventory.Guest(p.vmids[vm])
		o := lock.ObservedVM{Key: vm.Key, VMID: g.VMID, Fingerprint: g.Fingerprint(), Confirmed: p.told[vm] != 0}
		if g.Config != nil {
			o.Addresses = g.Config.Address
		}
		p.claim(vm, g)
		p.seen = append(p.seen, lock.Observed{Stack: vm.Stack, VMs: []lock.ObservedVM{o}})
	}
	return nil
}

// claim notes that another project has or may have a VM that is adopted.
func (p *planner) claim(vm VM, g *cluster.Guest) {
	one := Claimed{Adoption: Adoption{vm, g.VMID, g.Kind}, Claim: p.inventory.Claimed(p.project.Others(), g), Stack: cluster.NamedFor(g)}
	if p.project.Specs[one.Stack] != "" {
		one.Stack = "" // a stack of this project
	}
	if one.Claim != nil || one.Stack != "" {
		p.Claimed = append(p.Claimed, one)
	}
}

// unread reports whether the cluster was read without the configuration of a VM.
func (p *planner) unread() bool {
	for _, vmid := range p.vmids {
		if g := p.inventory.Guest(vmid); g == nil || g.Config == nil {
			return true
		}
	}
	return false
}

// readCluster reads the cluster for the changed specs.
func (p *planner) readCluster(ctx context.Context) error {
	after, err := project.LoadEdited(p.Paths, "", p.complete(p.edited))
	if err != nil {
		return err
	}
	if after.Stacks == nil && p.Sources.Inventory == "" {
		return nil // check says what is wrong with the specs
	}
	from := p.Sources
	from.Others = after.Stacks != nil && slices.ContainsFunc(after.Stacks.Stacks, hasContainers)
	inventory, err := check.ReadCluster(ctx, after, from)
	if err != nil && len(p.told) > 0 && ctx.Err() == nil && p.Sources.Inventory == "" {
		return fmt.Errorf("%w\nnothing was written: adopt checks each VMID in the cluster. "+
			"Give access to it, or `--inventory FILE` of `stackgen snapshot`; "+
			"without either, write `adopt: {vmid: N}` into the spec by hand", err)
	}
	p.inventory = inventory
	return err
}

// hasContainers reports whether a stack has containers: they are known by MAC addresses that no other guest has.
func hasContainers(s *schema.Stack) bool {
	return slices.ContainsFunc(s.VMs, func(v *schema.VM) bool { return v.Kind == guest.Container })
}

// exist checks that the VMIDs are those of VMs and containers, as the specs say.
func (p *planner) exist() error {
	var errs []error
	for _, vm := range slices.SortedFunc(maps.Keys(p.vmids), compareVMs) {
		if err := p.recordedCluster(vm); err != nil {
			errs = append(errs, err)
			continue
		}
		vmid := p.vmids[vm]
		switch g := p.inventory.Guest(vmid); {
		case g == nil:
			errs = append(errs, fmt.Errorf("%s=%d: %s", vm, vmid, p.noGuest(vm, vmid)))
		case g.Kind != p.kinds[vm]:
			errs = append(errs, fmt.Errorf("%s=%d: %d is the %s %s on %s, and the spec has %s under %s: "+
				"choose another VMID, or write an entry with another key under %s", vm, vmid, vmid, g.Kind.Name(), g.Name, g.Node,
				vm, p.kinds[vm].List(), g.Kind.List()))
		case g.Template && g.Kind == guest.Container:
			errs = append(errs, fmt.Errorf("%s=%d: %d is the template %s of containers on %s: a spec does not manage it",
				vm, vmid, vmid, g.Name, g.Node))
		case g.Template:
			errs = append(errs, fmt.Errorf("%s=%d: %d is the template %s on %s, and no VM: "+
				"to make the VM a clone of it, write `template: %d` instead", vm, vmid, vmid, g.Name, g.Node, vmid))
		}
	}
	return errors.Join(errs...)
}

// noGuest says that no guest has a VMID, and which guests a person may have meant.
func (p *planner) noGuest(vm VM, vmid int) string {
	if gaps := p.inventory.GapsForVM(vmid); len(gaps) > 0 {
		gap := gaps[0]
		text := fmt.Sprintf("no %s %d can be seen, and it may exist: %s", p.kinds[vm].Name(), vmid, gap.Reason)
		if gap.Fix != "" {
			text += "; `" + gap.Fix + "` lets stackgen see it"
		}
		return text
	}
	text := fmt.Sprintf("the cluster has no %s %d", p.kinds[vm].Name(), vmid)
	for i := range p.inventory.Guests {
		g := &p.inventory.Guests[i]
		if g.Kind == p.kinds[vm] && !g.Template && slices.Contains([]string{vm.Key, vm.Stack + "-" + vm.Key}, strings.ToLower(g.Name)) {
			return text + fmt.Sprintf("; %s %d on %s has the name %s: stackgen adopt %s=%d", g.Kind.Name(), g.VMID, g.Node, g.Name, vm, g.VMID)
		}
	}
	return text + "; `stackgen adopt --by-name` finds guests by their names"
}

// recordedCluster refuses a cluster that may not be the one that the lock records.
func (p *planner) recordedCluster(vm VM) error {
	if l := p.project.Rendered.Stacks.Get(vm.Stack); l != nil && p.inventory.Compare(l.Cluster) != cluster.SameCluster {
		return fmt.Errorf("%s: %s may not be the cluster that the lock records; see `stackgen preflight`", vm, p.inventory.Endpoint)
	}
	return nil
}

// Record writes into the lock what identifies the VMs, and returns those that have
// another VMID in the lock, or none: a render decides first. Only what a person said
// replaces what is recorded.
func (p *Plan) Record(ctx context.Context, waiting func(text string)) (recorded []lock.Recording, undecided []Adoption, err error) {
	for _, a := range p.Adoptions {
		var s *lock.Stack
		if l := p.project.Rendered; l != nil {
			s = l.Stacks.Get(a.Stack)
		}
		if s == nil || s.VMs.Get(a.Key) == nil || s.VMs.Get(a.Key).VMID != a.VMID {
			undecided = append(undecided, a)
		}
	}
	if len(undecided) < len(p.Adoptions) && len(p.seen) > 0 {
		recorded, err = p.project.Record(ctx, p.seen, waiting)
	}
	return recorded, undecided, err
}
