package proxmox

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"stackgen/internal/cluster"
	"stackgen/internal/pve"
)

// identityTimeout limits the time for the configurations of guests that are not
// candidates. What was not read by then stays unknown.
const identityTimeout = 30 * time.Second

// A WantedVM is a VM of the project that should exist, or is about to be created.
type WantedVM struct {
	VMID int
	MACs []string // that lock and spec have for it, upper case
}

// readOtherMACs reads the UUIDs, MAC addresses and static addresses of all other guests, and which volumes of others
// they have, if that is wanted, or if a VM of the project or one of its MAC addresses was not found:
// another guest may have it.
// Proxmox VE has no list of them, so this costs one request for each guest.
func (r *reader) readOtherMACs(ctx context.Context) {
	if !r.wanted.Others && !slices.ContainsFunc(r.wanted.VMs, r.incomplete) {
		return
	}
	var others []*cluster.Guest
	for _, g := range r.guests {
		n := r.inv.Node(g.Node)
		if !g.Template && g.Config == nil && g.Status != cluster.StatusUnknown && n != nil && n.Online {
			others = append(others, g)
		}
	}
	if len(others) == 0 {
		return
	}
	slices.SortFunc(others, func(a, b *cluster.Guest) int { return a.VMID - b.VMID })
	r.wanted.Progress("reading the MAC addresses and disks of " + cluster.Count(len(others), "other guest"))
	limited, cancel := context.WithTimeout(context.WithValue(ctx, noRetry{}, true), identityTimeout)
	defer cancel()
	concurrently(others, func(g *cluster.Guest) { r.readMACs(limited, g) })
}

// incomplete reports whether a VM, or a MAC address of it, was not found where it
// should be.
func (r *reader) incomplete(v WantedVM) bool {
	g := r.guests[v.VMID]
	if g == nil {
		return true
	}
	return g.Config != nil && slices.ContainsFunc(v.MACs, func(mac string) bool { return !slices.Contains(g.Config.MACs, mac) })
}

// readMACs reads the identity of one guest. A guest that cannot be read, because
// it was removed meanwhile or the time is over, has none.
func (r *reader) readMACs(ctx context.Context, g *cluster.Guest) {
	var raw map[string]json.RawMessage
	if r.get(ctx, configPath(g), &raw) != nil {
		return
	}
	flat, texts := map[string]string{}, map[string]string{}
	for key, value := range raw {
		texts[key] = plain(value)
		if bus, _ := pve.SplitKey(key); bus == "net" || key == "smbios1" {
			flat[key] = plain(value)
		}
	}
	c := config(flat)
	g.Identity = &cluster.Identity{UUID: c.UUID, MACs: c.MACs, Volumes: pve.VolumesOfOthers(g.VMID, texts),
		Addresses: pve.StaticAddresses(texts)}
}

func configPath(g *cluster.Guest) string {
	return g.Path("config")
}
