package operate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/hardware"
	"stackgen/internal/power"
	"stackgen/internal/proxmox"
	"stackgen/internal/pve"
	"stackgen/internal/selection"
)

// PlanResets is Plan for resets. It reads the checkpoint of each VM, refuses one that would
// make the VM another guest, and names what the next apply has to change afterwards.
func (v *View) PlanResets(ctx context.Context, r Request) ([]One, error) {
	planned := v.Plan(r)
	err := v.each(ctx, planned, func(ctx context.Context, api *proxmox.Power, o *One) { v.planReset(ctx, api, r.Name, o) })
	return planned, err
}

func (v *View) planReset(ctx context.Context, api *proxmox.Power, name string, o *One) {
	refuse := func(fix, format string, args ...any) {
		o.Result, o.Text, o.Fix = power.Refused, fmt.Sprintf(format, args...), lines(fix)
	}
	s, err := api.Snapshot(ctx, o.Guest, name)
	if errors.Is(err, proxmox.ErrNoSnapshot) {
		if others := points(ctx, api, o.VM); len(others) > 0 {
			fix := ""
			if CheckName(others[0]) == nil {
				fix = "stackgen reset --to " + others[0] + " " + o.String()
			}
			refuse(fix, "it has no checkpoint %s; its snapshots are %s", name, strings.Join(others, ", "))
			return
		}
		refuse("stackgen checkpoint "+name+" "+o.String(), "it has no checkpoint %s", name)
		return
	}
	if err != nil {
		o.Result, o.Text = power.Failed, fmt.Sprintf("its checkpoint cannot be read, and nothing was sent: %v", err)
		return
	}
	if s.Incomplete != "" {
		fix, text := incomplete(o.Guest, s)
		refuse(fix, "%s", text)
		return
	}
	o.Point = pointOf(s)
	if o.Point.was, err = api.Same(ctx, o.Guest); err != nil {
		refuse("", "%v", err)
		return
	}
	off := v.staysOffAt(o)
	switch newest, other := o.Guest.Config.Raw["parent"], otherGuest(o.VM, o.Point.config); {
	case other != "":
		refuse("", "%s has %s: a reset would make it another guest", o.Point, other)
	case s.Memory && (o.Was == power.Stopped || o.Was == power.Hibernated):
		refuse("stackgen power start "+o.String(), "%s has its memory, so a reset would start it, and it is %s", o.Point, o.Was)
	case newest != name && v.Inventory.OnlyNewest(o.Guest):
		refuse("", "its storage goes back to its newest snapshot only, which is %s, and not to %s", newest, name)
	case off != "":
		refuse("", "it would not start again as it was at %s: %s", o.Point, off)
	default:
		if o.Spec != nil && o.Entry != nil {
			profile := v.Project.Stacks.Profile(o.Entry.Profile)
			o.Point.Repairs, o.Point.Leaves = hardware.Rollback(o.Guest, o.Point.config, o.Spec, profile)
			if slices.Contains(o.Point.Repairs, guest.Disks) {
				o.Point.Detaches = detached(o)
			}
		}
		o.Point.Returns = returned(o)
		o.Text = o.Point.plan()
	}
}

// staysOffAt is what makes the start fail that a reset of a VM ends with, which gives it the configuration of its checkpoint; ""
// for one that is not started.
func (v *View) staysOffAt(o *One) string {
	if o.Was != power.Running && o.Was != power.Paused {
		return ""
	}
	g := *o.Guest
	g.Config = o.Point.config
	return v.startFails(&g)
}

// plan says what a reset would do.
func (c *Checkpoint) plan() string {
	text := "would be reset to " + c.String()
	if c.Memory {
		text += ", with its memory of that time"
	}
	return text + ", and what it has written since then is lost" + c.after()
}

// after says what a reset leaves to do.
func (c *Checkpoint) after() (text string) {
	if len(c.Detaches) > 0 {
		text += "; it detaches " + strings.Join(c.Detaches, ", ") + ", which `stackgen preflight` says how to attach again"
	}
	if len(c.Returns) > 0 {
		text += "; it puts back the former disk of " + strings.Join(c.Returns, ", ") + ", and what is there now becomes an unused disk"
	}
	if len(c.Repairs) > 0 {
		text += "; the next apply changes " + strings.Join(c.Repairs, ", ")
	}
	if len(c.Leaves) > 0 {
		text += "; no apply changes back " + strings.Join(c.Leaves, ", ")
	}
	return text
}

// detached are the interfaces of the disks of a spec that a VM has and its checkpoint does not have, also at another interface.
func detached(o *One) []string {
	now, then := o.Guest.Config.Raw, o.Point.config.Raw
	kept := map[string]bool{}
	for _, d := range pve.Drives(then) {
		kept[d.File] = true
	}
	return slices.DeleteFunc(o.Spec.Interfaces(), func(at string) bool {
		return now[at] == "" || then[at] != "" || kept[pve.ParseDrive(at, now[at]).File]
	})
}

// returned are the interfaces of the disks that a VM had then, and of which it has others now.
func returned(o *One) (out []string) {
	then := o.Point.config.Raw
	kept := map[string]bool{}
	for _, d := range pve.Drives(then) {
		kept[d.File] = true
	}
	for _, d := range pve.Drives(o.Guest.Config.Raw) {
		if then[d.Key] != "" && !d.CDROM() && !d.IsUnused() && !kept[d.File] {
			out = append(out, d.Key)
		}
	}
	return out
}

// otherGuest says what identity a configuration has that is not that of the VM, as it is now
// and as the lock records it; empty if there is none.
func otherGuest(vm *selection.VM, c *cluster.Config) string {
	now := vm.Guest.Config
	known := slices.Clone(now.MACs)
	if vm.Entry != nil {
		known = append(known, vm.Entry.DecidedMACs()...)
		if f := vm.Entry.Fingerprint; f != nil {
			known = append(known, f.MACs...)
		}
	}
	if !strings.EqualFold(c.UUID, now.UUID) {
		return "the smbios1 uuid " + cmp.Or(c.UUID, "none")
	}
	for _, mac := range c.MACs {
		if !slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, mac) }) {
			return "the MAC address " + mac + ", which the lock does not record"
		}
	}
	if vm.Guest.Kind == guest.Container && len(c.MACs) == 0 && len(known) > 0 {
		return "no MAC address, by which a container is known"
	}
	return ""
}

// changed are the entries of the configuration of a VM that a reset would take back although
// nobody has seen them: they were changed after the reset was shown.
func (r *runner) changed(now map[string]string) (keys []string) {
	if r.Action.Name != power.Rollback || r.point == nil {
		return nil
	}
	for _, entries := range []map[string]string{r.point.was, now} {
		for key := range entries {
			if r.point.was[key] != now[key] && !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	slices.Sort(keys)
	return keys
}

// errOtherPoint is a checkpoint that is not the one that was confirmed.
var errOtherPoint = errors.New("its checkpoint is another one now: nothing was sent")

// samePoint reads the checkpoint again. The error says that it is another one, or that it
// cannot be read.
func (r *runner) samePoint(ctx context.Context) error {
	s, err := r.api.Snapshot(ctx, r.vm.Guest, r.Name)
	switch {
	case err != nil:
		return fmt.Errorf("its checkpoint cannot be read, and nothing was sent: %w", err)
	case r.point == nil || s.Time != r.point.Time.Unix() || !maps.Equal(s.Config.Raw, r.point.config.Raw):
		return errOtherPoint
	}
	return nil
}
