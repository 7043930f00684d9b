package deploy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"stackgen/internal/check"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/progress"
	"stackgen/internal/tf"
)

// readBack shows what the cluster has of the VMs that a run could not create or change. The
// provider reports an error and not what Proxmox VE has taken before it: a request that
// fails leaves some of its entries in the configuration, pending.
func (r *run) readBack(p *plans) {
	changes := slices.DeleteFunc(p.changes(), func(c tf.Summary) bool {
		return c.Type != finding.VM || !slices.Contains([]tf.Action{tf.Create, tf.Update, tf.Replace}, c.Action)
	})
	if len(changes) == 0 {
		return
	}
	s := check.New(r.p, check.Sources{})
	now, err := s.Preflight(r.ctx, false, true)
	if err != nil {
		r.say("cannot read the cluster, so it is not known what was changed: %s", err)
		return
	}
	for _, c := range changes {
		is, was := guestOf(s.Inventory, c.VMID), guestOf(p.was, c.VMID)
		read := &progress.Reading{Exists: is != nil}
		switch {
		case is == nil || was == nil:
		case c.Action == tf.Replace: // the one of before is not halfway created, and says nothing of another one
			read.Exists = is.Config != nil && was.Config != nil && is.Config.UUID != was.Config.UUID
		default:
			read.Works = guard.Changing(s.Inventory, p.was, c.VMID)
			read.Taken, read.Off = taken(was.Config, is.Config), was.Status == "running" && is.Status == "stopped"
		}
		for i := range now.Findings {
			if f := &now.Findings[i]; f.Stack == c.Unit.Stack && f.Type == finding.VM && f.Key == c.Key {
				for _, u := range f.Updates {
					read.Left = append(read.Left, u.Name)
				}
			}
		}
		r.view.Event(progress.Event{Type: progress.Read, Target: targetOf(progress.VM, c), Reading: read})
	}
}

// guestOf is a guest of an inventory, or nil.
func guestOf(inv *cluster.Inventory, vmid int) *cluster.Guest {
	i := slices.IndexFunc(inv.Guests, func(g cluster.Guest) bool { return g.VMID == vmid })
	if i < 0 {
		return nil
	}
	return &inv.Guests[i]
}

// shortValue bounds a value that is shown.
const shortValue = 80

// taken are the entries that differ between two readings of a configuration.
func taken(was, is *cluster.Config) []string {
	if was == nil || is == nil {
		return nil
	}
	keys := slices.Compact(slices.Sorted(slices.Values(slices.Concat(slices.Collect(maps.Keys(was.Raw)), slices.Collect(maps.Keys(is.Raw))))))
	var out []string
	for _, key := range keys {
		before, had := was.Raw[key]
		now, has := is.Raw[key]
		if had == has && before == now {
			continue
		}
		text := key
		switch {
		case max(len(before), len(now)) > shortValue || strings.ContainsAny(before+now, "\r\n"):
			text += " changed"
		case !had:
			text += "=" + now
		case !has:
			text += " removed"
		default:
			text += fmt.Sprintf(" %s -> %s", before, now)
		}
		if slices.ContainsFunc(is.Pending, func(p cluster.Pending) bool { return p.Key == key }) {
			text += ", pending"
		}
		out = append(out, text)
	}
	return out
}
