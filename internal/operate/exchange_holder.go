package operate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/cluster"
	"stackgen/internal/proxmox"
	"stackgen/internal/pve"
)

// ErrStranger is a VM that has the VMID of a holder, and that was not made for this.
var ErrStranger = errors.New("another VM has the VMID of the clone with its new disks")

// owner begins the description of a holder, and tells it from every other VM. What follows says what it was made from.
func (x *exchanger) owner() string {
	return fmt.Sprintf("new disks for VM %d (%s)", x.guest.VMID, x.guest.Config.UUID)
}

func (x *exchanger) description() string {
	return fmt.Sprintf("%s from template %d (%s): stackgen rebuild destroys this VM", x.owner(), x.Template.VMID, x.Template.Config.UUID)
}

// ours is an error unless a configuration is that of the holder.
func (x *exchanger) ours(entries map[string]string) error {
	if !strings.HasPrefix(entries["description"], x.owner()+" ") {
		return ErrStranger
	}
	return nil
}

// clone makes the holder, unless an earlier run has made it. One that was made from something else, is on another node
// or has given a disk is destroyed before.
func (x *exchanger) clone(ctx context.Context) error {
	his, err := x.holder(ctx)
	if err != nil {
		return err
	}
	if x.fits(his) {
		return x.usable(ctx)
	}
	if his != nil {
		if err := x.destroyHolder(ctx); err != nil {
			return err
		}
	}
	x.Holder.Node = x.guest.Node
	body := map[string]string{"newid": fmt.Sprint(x.Holder.VMID), "name": x.Holder.Name, "description": x.description()}
	for key, value := range x.Clone {
		body[key] = value
	}
	err = x.step(ctx, func(ctx context.Context) (proxmox.RunningTask, error) { return x.api.Clone(ctx, x.Template, body) })
	switch {
	case err != nil && proxmox.Taken(err.Error()) && x.Begun:
		return fmt.Errorf("the token does not see VM %d, which an earlier run has made for it: it lacks %s there", x.Holder.VMID, cluster.VMAudit)
	case err != nil && proxmox.Taken(err.Error()):
		return ErrStranger
	case err != nil:
		return err
	}
	return x.usable(ctx)
}

// fits reports whether a holder is as it was made, by its configuration.
func (x *exchanger) fits(his map[string]string) bool {
	given := func(key string) bool { return his[key] == "" }
	return strings.TrimSpace(his["description"]) == x.description() && x.Holder.Node == x.guest.Node && !slices.ContainsFunc(x.Disks, given)
}

// usable is an error if the token may not do with the holder what follows: the VM still runs now.
func (x *exchanger) usable(ctx context.Context) error {
	missing, err := x.api.Lacks(ctx, x.Holder, x.Needs...)
	if len(missing) > 0 {
		return fmt.Errorf("the token may not use VM %d, which has its new disks: it lacks %s there", x.Holder.VMID, strings.Join(missing, ", "))
	}
	if err != nil {
		return err
	}
	entries, err := x.holder(ctx)
	if err != nil || !pve.True(entries["protection"]) { // a clone has that of its template
		return err
	}
	return x.step(ctx, func(ctx context.Context) (proxmox.RunningTask, error) {
		return x.api.Set(ctx, x.Holder, entries["digest"], map[string]string{"protection": "0"})
	})
}

// holder is the configuration of the holder, when it has no lock: until then, it has no description. It is nil
// if there is none, or none that the token sees.
func (x *exchanger) holder(ctx context.Context) (map[string]string, error) {
	err := x.free(ctx)
	if proxmox.Gone(err) && x.Holder.Node != x.guest.Node { // a clone to another node is moved there at its end
		x.Holder.Node = x.guest.Node
		err = x.free(ctx)
	}
	if err != nil {
		if proxmox.Gone(err) || proxmox.Forbidden(err) {
			err = nil
		}
		return nil, err
	}
	entries, err := x.api.Entries(ctx, x.Holder)
	if err == nil {
		err = x.ours(entries)
	}
	return entries, err
}

// free waits until the holder has no lock: its clone may still run.
func (x *exchanger) free(ctx context.Context) error {
	now, err := x.unlocked(ctx, x.Holder)
	if err == nil && now.Lock != "" {
		return fmt.Errorf("VM %d, where its new disks are made, is locked (%s)", x.Holder.VMID, now.Lock)
	}
	return err
}

// destroyHolder destroys the holder. Another VM that has its VMID is none of its business.
func (x *exchanger) destroyHolder(ctx context.Context) error {
	entries, err := x.holder(ctx)
	switch {
	case errors.Is(err, ErrStranger), err == nil && entries == nil:
		return nil
	case err != nil:
		return err
	}
	return x.step(ctx, func(ctx context.Context) (proxmox.RunningTask, error) { return x.api.Destroy(ctx, x.Holder) })
}
