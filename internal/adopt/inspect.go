package adopt

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"stackgen/internal/cluster"
	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/internal/session"
)

// inspect reads the VMs that are adopted, checks that they exist, and notes what the
// lock records of them. A cluster that cannot be read is an error only if something
// else needs it.
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
	for _, vm := range slices.SortedFunc(maps.Keys(p.vmids), compareVMs) {
		g := p.inventory.Guest(p.vmids[vm])
		o := lock.ObservedVM{Key: vm.Key, VMID: g.VMID, Fingerprint: g.Fingerprint(), Confirmed: p.told[vm] != 0}
		if g.Config != nil {
			o.Addresses = g.Config.Address
		}
		p.seen = append(p.seen, lock.Observed{Stack: vm.Stack, VMs: []lock.ObservedVM{o}})
	}
	return nil
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
	after, err := project.LoadEdited(p.Paths, "", p.edited)
	if err != nil {
		return err
	}
	if after.Stacks == nil && p.Sources.Inventory == "" {
		return nil // check says what is wrong with the specs
	}
	inventory, err := session.ReadCluster(ctx, after, p.Sources)
	switch {
	case err == nil:
		p.inventory = inventory
	case ctx.Err() != nil || p.Match || p.ByName || p.Sources.Inventory != "":
		return err
	default:
		p.Unread = err
	}
	return nil
}

// exist checks that the cluster has the VMs.
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
			errs = append(errs, fmt.Errorf("%s=%d: the cluster has no VM %d that can be seen", vm, vmid, vmid))
		case g.Template || g.Kind != cluster.KindVM:
			errs = append(errs, fmt.Errorf("%s=%d: %d is no VM but a template or container", vm, vmid, vmid))
		}
	}
	return errors.Join(errs...)
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
