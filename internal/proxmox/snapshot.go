package proxmox

import (
	"context"
	"errors"
	"strconv"

	"stackgen/internal/cluster"
)

// A Snapshot is a saved state of the disks and the configuration of a VM.
type Snapshot struct {
	Name       string
	Time       int64  // seconds since 1970
	Memory     bool   // it has the memory of the VM, which runs after a rollback
	Incomplete string // what a task has begun and not ended: prepare or delete; Proxmox VE refuses a rollback to it

	Config *cluster.Config // of that time; nil in a list
}

// Snapshots are the snapshots of a VM, in no order.
func (p *Power) Snapshots(ctx context.Context, g *cluster.Guest) ([]Snapshot, error) {
	return p.snapshots(ctx, g)
}

func (c *client) snapshots(ctx context.Context, g *cluster.Guest) ([]Snapshot, error) {
	var list []struct {
		Name   string `json:"name"`
		Time   number `json:"snaptime"`
		Memory number `json:"vmstate"`
		State  string `json:"snapstate"`
	}
	if err := c.get(ctx, g.Path("snapshot"), &list); err != nil {
		return nil, err
	}
	var out []Snapshot
	for _, s := range list {
		if s.Name != "current" { // the VM as it is now
			out = append(out, Snapshot{Name: s.Name, Time: int64(s.Time), Memory: s.Memory != 0, Incomplete: s.State})
		}
	}
	return out, nil
}

// ErrNoSnapshot is a VM without the snapshot that was asked for.
var ErrNoSnapshot = errors.New("it has no such snapshot")

// Snapshot reads one snapshot with its configuration. The comment of the snapshot, which
// Proxmox VE has as its description, is left out: a rollback keeps the description of the VM.
func (p *Power) Snapshot(ctx context.Context, g *cluster.Guest, name string) (*Snapshot, error) {
	raw, err := p.entries(ctx, g.Path("snapshot", name, "config"))
	if noSnapshot(err) {
		return nil, ErrNoSnapshot
	}
	if err != nil {
		return nil, err
	}
	time, err := strconv.ParseInt(raw["snaptime"], 10, 64)
	if err != nil {
		return nil, errors.New("the time of the snapshot is not in its configuration")
	}
	out := &Snapshot{Name: name, Time: time, Memory: raw["vmstate"] != "", Incomplete: raw["snapstate"]}
	for _, of := range []string{"description", "parent", "snaptime", "snapstate", "vmstate"} {
		delete(raw, of)
	}
	out.Config = safeConfig(raw)
	return out, nil
}
