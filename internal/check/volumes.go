package check

import (
	"context"

	"stackgen/internal/cluster"
	"stackgen/internal/effect"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/proxmox"
)

// rules judges the facts. Where an apply would delete volumes that it copies elsewhere, it first reads which other
// guests have them, and judges again. Proxmox VE has no list of them, so this costs one request for each guest: other
// applies do without.
func (s *Session) rules(ctx context.Context, r *Result) error {
	if err := r.rules(); err != nil || !s.asksForVolumes(r) {
		return err
	}
	now, err := s.readVolumes(ctx)
	if err != nil {
		return err
	}
	s.volumesRead = true
	s.Inventory = s.Inventory.Identified(now)
	s.judged.Inventory, r.Inventory = s.Inventory, s.Inventory
	return r.rules()
}

// asksForVolumes reports whether an apply would delete volumes, and it was not read yet which other guests have them.
func (s *Session) asksForVolumes(r *Result) bool {
	if s.volumesRead || s.sources.Inventory != "" || r.Destroy || s.Inventory.Unidentified() == 0 {
		return false
	}
	var updates []effect.Update
	for _, of := range r.Updates {
		for _, u := range of {
			updates = append(updates, u...)
		}
	}
	return guard.DeletesVolumes(r.Found, updates)
}

// readVolumes reads all guests, and the volumes that they have from others.
func (s *Session) readVolumes(ctx context.Context) (*cluster.Inventory, error) {
	config, err := ClusterConfig(s.Project)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, clusterTimeout)
	defer cancel()
	inv, err := proxmox.Read(ctx, config, proxmox.Wanted{Others: true, Progress: func(text string) { s.sources.say("%s", text) }})
	return &inv, err
}

// Lent are the findings about VMs of a stack that are about to lose disks, and of which other guests have volumes by now.
// No hook asks that where no tool runs.
func (s *Session) Lent(ctx context.Context, stack string, replaced []guard.Replacement) ([]finding.Finding, error) {
	now, err := s.readVolumes(ctx)
	if err != nil {
		return nil, err
	}
	return guard.LentNow(now, stack, replaced), nil
}
