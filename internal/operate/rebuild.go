package operate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"stackgen/internal/cluster"
	"stackgen/internal/power"
	"stackgen/internal/project"
	"stackgen/internal/proxmox"
	"stackgen/internal/pve"
	"stackgen/internal/selection"
)

// Named are VMs of a project by their names, each as STACK/KEY, in a cluster that was read.
func Named(p *project.Project, inv *cluster.Inventory, names []string) *View {
	all := selection.Of(p.Stacks.Stacks, p.Lock, inv, p.Selected)
	all = slices.DeleteFunc(all, func(vm selection.VM) bool { return !slices.Contains(names, vm.String()) })
	return &View{Project: p, VMs: all, Inventory: inv}
}

// Halt stops the VMs of a view that run: it asks each guest to shut down, and stops it after a
// time. It returns those that did not stop.
func (v *View) Halt(ctx context.Context, timeout time.Duration, report func(One)) ([]One, error) {
	var left []One
	if err := v.Refresh(ctx); err != nil {
		return nil, err
	}
	vms := slices.DeleteFunc(slices.Clone(v.VMs), func(vm selection.VM) bool {
		return vm.Guest == nil || vm.Guest.Status == string(power.Stopped)
	})
	for _, action := range []string{"shutdown", "stop"} { // a paused VM cannot shut down
		r := Request{Action: power.Find(action), VMs: vms, AtOnce: readsAtOnce / 2, Timeout: timeout, Force: action == "shutdown", Report: report}
		ended, err := v.Run(ctx, r, v.Plan(r))
		if err != nil {
			return nil, err
		}
		left = slices.DeleteFunc(ended, func(o One) bool { return o.Result == power.Done || o.Result == power.InState })
		if len(left) == 0 || ctx.Err() != nil { // a shutdown that goes on needs no other
			return left, nil
		}
		vms = nil
		for i := range left {
			vms = append(vms, *left[i].VM)
		}
	}
	return left, nil
}

// OtherDisks reads the VMs of a view again, and returns those that have other volumes than when they were read, or
// whose VMIDs other guests have.
func (v *View) OtherDisks(ctx context.Context) (others []string, err error) {
	config, err := v.cluster()
	if err != nil {
		return nil, err
	}
	api, err := proxmox.OpenPower(ctx, config)
	if err != nil {
		return nil, err
	}
	defer api.Close()
	for i := range v.VMs {
		vm := &v.VMs[i]
		now, err := api.Same(ctx, vm.Guest)
		switch {
		case errors.Is(err, proxmox.ErrOther), err == nil && !slices.Equal(cluster.Volumes(now), cluster.Volumes(vm.Guest.Config.Raw)):
			others = append(others, vm.String())
		case err != nil:
			return nil, fmt.Errorf("the disks of %s cannot be read again: %w", vm.String(), err)
		}
	}
	return others, nil
}

// longestBackup is how long the backup of a VM may take: Proxmox VE makes those of a node one after the
// other, and waits three hours for the one before.
const longestBackup = 24 * time.Hour

// Backup makes a backup of each VM of a view on a storage. It returns those that have none.
func (v *View) Backup(ctx context.Context, storage string, timeout time.Duration, report func(One)) ([]One, error) {
	r := Request{Action: &power.Dump, VMs: v.VMs, AtOnce: readsAtOnce / 2, Timeout: timeout, Name: storage, Report: report}
	ended, err := v.Run(ctx, r, v.Plan(r))
	return slices.DeleteFunc(ended, func(o One) bool { return o.Result == power.Done }), err
}

// NoBackup is why no backup of the VMs of a view can be made on a storage, as far as that was read, and the
// lines that grant what is missing. It is empty if nothing speaks against it.
func (v *View) NoBackup(storage string) (why string, grants []string) {
	inv, missing := v.Inventory, []cluster.Missing(nil)
	if a := inv.Access; a != nil && !a.Rights.Has("/storage/"+storage, cluster.AllocateSpace) {
		missing = append(missing, cluster.Missing{Path: "/storage/" + storage, Privilege: cluster.AllocateSpace})
	}
	for i := range v.VMs {
		g := v.VMs[i].Guest
		if g == nil {
			continue
		}
		s := inv.Storage(storage, g.Node)
		switch {
		case s == nil && inv.SeesStorage(storage):
			return fmt.Sprintf("%s has no storage %s", g.Node, storage), nil
		case s != nil && !slices.Contains(pve.List(s.Content), "backup"):
			return fmt.Sprintf("the storage %s takes no backups: its content is %s", storage, s.Content), nil
		case s != nil && !s.Active:
			return fmt.Sprintf("the storage %s is not active on %s", storage, g.Node), nil
		case leftOut(g) != "":
			return fmt.Sprintf("no backup of %s has %s: `backup` of that disk is off. Turn it on, or leave --backup out",
				v.VMs[i].String(), leftOut(g)), nil
		case len(v.lacks(&power.Dump, &v.VMs[i])) > 0:
			missing = append(missing, cluster.Missing{Path: aclPath(g), Privilege: cluster.VMBackup})
		}
	}
	if len(missing) == 0 {
		return "", nil
	}
	return fmt.Sprintf("the token lacks %s on %s", missing[0].Privilege, missing[0].Path), inv.Access.Grants(missing)
}

// leftOut is a disk of a guest that its backups do not have, or empty.
func leftOut(g *cluster.Guest) string {
	if g.Config == nil {
		return ""
	}
	for _, d := range pve.Drives(g.Config.Raw) {
		if off, ok := d.Options.Get("backup"); ok && !pve.True(off) && !d.CDROM() {
			return d.Key
		}
	}
	return ""
}

// Loses says, by STACK/KEY, what the VMs of a view lose with their disks: the disks with their
// sizes, the snapshots, and when the last backup was made, as far as the credentials see it.
func (v *View) Loses(ctx context.Context) (map[string]string, error) {
	out := map[string]string{}
	var planned []One
	for i := range v.VMs {
		if v.VMs[i].Guest != nil {
			planned = append(planned, One{VM: &v.VMs[i], Result: power.Planned})
		}
	}
	var mu sync.Mutex // guards out
	err := v.each(ctx, planned, func(ctx context.Context, api *proxmox.Power, o *One) {
		text := strings.Join([]string{disksOf(o.Guest), snapshotsOf(ctx, api, o.Guest), v.backupOf(ctx, api, o.Guest)}, "; ")
		mu.Lock()
		defer mu.Unlock()
		out[o.String()] = text
	})
	return out, err
}

// disksOf names the disks of a guest with their sizes.
func disksOf(g *cluster.Guest) string {
	var out []string
	if g.Config == nil {
		return "its disks cannot be read"
	}
	for _, d := range pve.Drives(g.Config.Raw) {
		if d.CDROM() || d.CloudInit() {
			continue
		}
		text := d.Key
		if size := d.Options.Option("size"); size != "" {
			text += " " + size
		}
		out = append(out, text+" on "+d.Storage)
	}
	if len(out) == 0 {
		return "no disks"
	}
	return strings.Join(out, ", ")
}

func snapshotsOf(ctx context.Context, api *proxmox.Power, g *cluster.Guest) string {
	all, err := api.Snapshots(ctx, g)
	if err != nil {
		return "its snapshots cannot be read"
	}
	if len(all) == 0 {
		return "no snapshots"
	}
	var out []string
	for _, s := range all {
		out = append(out, s.Name)
	}
	slices.Sort(out)
	return "snapshots: " + strings.Join(out, ", ")
}

// backupOf says when the last backup of a guest was made. A list leaves out what the credentials may
// not read, without an error.
func (v *View) backupOf(ctx context.Context, api *proxmox.Power, g *cluster.Guest) string {
	last := int64(0)
	for i := range v.Inventory.Storages {
		s := &v.Inventory.Storages[i]
		if s.Node != g.Node || !slices.Contains(pve.List(s.Content), "backup") {
			continue
		}
		at, err := api.LastBackup(ctx, g, s.ID)
		if err != nil {
			return "its backups cannot be read"
		}
		last = max(last, at)
	}
	if last == 0 {
		return "no backup that the token sees"
	}
	return "last backup " + time.Unix(last, 0).UTC().Format("2006-01-02 15:04 UTC")
}
