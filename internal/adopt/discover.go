package adopt

import (
	"context"
	"maps"
	"path/filepath"
	"slices"

	"stackgen/internal/check"
	"stackgen/internal/cluster"
	"stackgen/internal/discover"
	"stackgen/internal/files"
	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/schema"
)

// A Discovery is what specs the VMs of a cluster need that are in none.
type Discovery struct {
	*discover.Proposal
	Inventory *cluster.Inventory
	Changes   []files.Change // of specs, by their paths as shown
	Start     []string       // further files of a project that begins here, by their paths as shown

	project *project.Project
}

// Discover reads the cluster and proposes specs for the VMs that are in none. It writes
// nothing.
func Discover(ctx context.Context, r discover.Request, from check.Sources) (*Discovery, error) {
	p, err := project.Load(nil, "")
	if err != nil {
		return nil, err
	}
	if p.Stacks == nil {
		return nil, &project.BlockedError{Project: p}
	}
	from.Further, from.Others = r.Selects, true
	inv, err := check.ReadCluster(ctx, p, from)
	if err != nil {
		return nil, err
	}
	proposal, err := discover.Propose(discover.Input{
		Request: r, Inventory: inv, Lock: p.Lock, Others: p.Others(), Project: p.Stacks, Sources: slashed(p.Sources),
		Folder: filepath.ToSlash(project.Canonical(filepath.Join(p.Root, "specs"))), Join: joinWith,
	})
	if err != nil {
		return nil, err
	}
	d := &Discovery{Proposal: proposal, Inventory: inv, project: p}
	for _, file := range slices.Sorted(maps.Keys(proposal.Files)) {
		c := files.Change{Path: file, Kind: files.Created, New: proposal.Files[file], Sync: true}
		if old, exists := p.Sources[filepath.FromSlash(file)]; exists {
			c.Kind, c.Old = files.Changed, old
		}
		d.Changes = append(d.Changes, c)
	}
	if p.New() && len(d.Changes) > 0 {
		if d.Start, err = project.Missing(p.Root); err != nil {
			return nil, err
		}
	}
	return d, d.decide()
}

// Write makes the changes, and the files of a project that begins here.
func (d *Discovery) Write() error {
	if err := write(d.Changes); err != nil || len(d.Start) == 0 {
		return err
	}
	_, err := project.StartSettings(d.project.Root)
	return err
}

// Defaults are what can be written into the configurations of the VMs of the specs.
func (d *Discovery) Defaults() []cluster.Defaults {
	var out []cluster.Defaults
	for _, s := range d.Stacks {
		for _, v := range s.VMs {
			if len(v.Defaults) > 0 {
				out = append(out, cluster.Defaults{Guest: d.Inventory.Guest(v.VMID), Settings: v.Defaults})
			}
		}
	}
	slices.SortFunc(out, func(a, b cluster.Defaults) int { return a.Guest.VMID - b.Guest.VMID })
	return out
}

// WriteDefaults writes them, and reports each VM. The error is why VMs were not tried.
func (d *Discovery) WriteDefaults(ctx context.Context, report func(cluster.Written)) error {
	return check.WriteDefaults(ctx, d.project, d.Defaults(), report)
}

// decide checks that the specs can be rendered. What the lock refuses is for render to say.
func (d *Discovery) decide() error {
	if len(d.Files) == 0 {
		return nil
	}
	after, err := project.LoadEdited(nil, "", native(d.Files))
	if err != nil {
		return err
	}
	if err := after.Decide(lock.Options{}); err != nil {
		blocked := &project.BlockedError{Project: after, Then: "the specs would not be valid; nothing was written"}
		if blocked.Invalid() {
			return blocked
		}
	}
	return nil
}

// joinWith is the project with other contents for some specs.
func joinWith(specs map[string][]byte) (*schema.Project, []schema.Problem, error) {
	p, err := project.LoadEdited(nil, "", native(specs))
	if err != nil {
		return nil, nil, err
	}
	return p.Joined, p.Problems, nil
}

// native are files by the paths of the machine, and slashed are files by paths with slashes.
func native(files map[string][]byte) map[string][]byte { return byPath(files, filepath.FromSlash) }

func slashed(files map[string][]byte) map[string][]byte { return byPath(files, filepath.ToSlash) }

func byPath(files map[string][]byte, form func(string) string) map[string][]byte {
	out := map[string][]byte{}
	for file, body := range files {
		out[form(file)] = body
	}
	return out
}
