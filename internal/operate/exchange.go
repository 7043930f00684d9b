package operate

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"stackgen/internal/cluster"
	"stackgen/internal/power"
	"stackgen/internal/proxmox"
	"stackgen/internal/pve"
)

// An Exchange gives a VM the disks of another one, the holder, which is cloned from a template for this and destroyed
// afterwards. The disks that stay are never named in a request. At its end, the VM gets another UUID. After a run that
// was killed before, all of it begins again: with the same holder if that has all its disks, else with a new one.
type Exchange struct {
	Template *cluster.Guest
	Holder   *cluster.Guest    // it need not exist
	Clone    map[string]string // the parameters of the clone, without its VMID and name
	Disks    []string          // the interfaces of the disks that are given
	Sizes    map[string]int64  // the least sizes of disks in bytes, by interface
	Volumes  []string          // that the VM loses
	Needs    []string          // the privileges on the holder
	Begun    bool              // an earlier run has made the holder, or was about to
}

// A Failure is a VM on which a step failed, and why.
type Failure struct {
	Name string // STACK/KEY
	Err  error
}

// CloneHolders makes the VMs whose disks those of a view get, by STACK/KEY. Nothing of the VMs of the view is
// changed.
func (v *View) CloneHolders(ctx context.Context, all map[string]*Exchange, timeout time.Duration) ([]Failure, error) {
	return v.exchanges(ctx, all, timeout, (*exchanger).clone)
}

// Exchange gives the VMs of a view, which are stopped, their new disks. Their snapshots are deleted, and they
// get another UUID.
func (v *View) Exchange(ctx context.Context, all map[string]*Exchange, timeout time.Duration) ([]Failure, error) {
	return v.exchanges(ctx, all, timeout, (*exchanger).exchange)
}

func (v *View) exchanges(ctx context.Context, all map[string]*Exchange, timeout time.Duration,
	do func(*exchanger, context.Context) error) ([]Failure, error) {
	var planned []One
	for i := range v.VMs {
		if v.VMs[i].Guest != nil && all[v.VMs[i].String()] != nil {
			planned = append(planned, One{VM: &v.VMs[i], Result: power.Planned})
		}
	}
	var mu sync.Mutex // guards out
	var out []Failure
	err := v.each(ctx, planned, func(ctx context.Context, api *proxmox.Power, o *One) {
		x := &exchanger{Exchange: all[o.String()], stepper: stepper{api, timeout}, guest: o.Guest}
		if err := do(x, ctx); err != nil {
			mu.Lock()
			defer mu.Unlock()
			out = append(out, Failure{o.String(), err})
		}
	})
	return out, err
}

// An exchanger exchanges disks of one VM.
type exchanger struct {
	*Exchange
	stepper
	guest *cluster.Guest
}

// exchange does the rest.
func (x *exchanger) exchange(ctx context.Context) error {
	snapshots, err := x.api.Snapshots(ctx, x.guest)
	if err != nil {
		return err
	}
	for _, s := range snapshots {
		if err := x.guestStep(ctx, func(ctx context.Context) (proxmox.RunningTask, error) {
			return x.api.DeleteSnapshot(ctx, x.guest, s.Name)
		}); err != nil {
			return err
		}
	}
	if err := x.drop(ctx, func(d pve.Drive) bool { return pve.Given(d.Key) }); err != nil { // of an earlier holder
		return err
	}
	for _, key := range x.Disks {
		if err := x.disk(ctx, key); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	if err := x.destroyHolder(ctx); err != nil {
		return err
	}
	return x.rename(ctx)
}

// disk gives the VM one disk of the holder, with the options of the one that it loses.
func (x *exchanger) disk(ctx context.Context, key string) error {
	his, err := x.holder(ctx)
	if err != nil {
		return err
	}
	if his[key] == "" {
		return fmt.Errorf("VM %d does not have it any more", x.Holder.VMID)
	}
	if err := x.guestStep(ctx, func(ctx context.Context) (proxmox.RunningTask, error) {
		return x.api.GiveDisk(ctx, x.Holder, key, x.guest, pve.GivenKey(key))
	}); err != nil {
		return err
	}
	own, err := x.api.Entries(ctx, x.guest)
	if err != nil {
		return err
	}
	lost, gets := pve.ParseDrive(key, own[key]), own[pve.GivenKey(key)]
	switch {
	case gets == "":
		return errors.New("it is not there any more")
	case !slices.Contains(x.Volumes, lost.File):
		return fmt.Errorf("the VM has another volume there than was confirmed: %q", lost.File)
	}
	line := gets
	if options := lost.Options.Without("size", "format"); len(options) > 0 {
		line += "," + options.String()
	}
	if err := x.set(ctx, own, map[string]string{key: line}); err != nil {
		return err
	}
	if own, err = x.api.Entries(ctx, x.guest); err != nil {
		return err
	}
	if pve.ParseDrive(key, own[key]).File != gets {
		return errors.New("the VM does not have it although Proxmox VE said so")
	}
	return x.grow(ctx, key, own)
}

// grow grows a disk to its least size.
func (x *exchanger) grow(ctx context.Context, key string, own map[string]string) error {
	d := pve.ParseDrive(key, own[key])
	size := x.Sizes[key]
	if size <= d.Size() {
		return nil
	}
	return x.guestStep(ctx, func(ctx context.Context) (proxmox.RunningTask, error) {
		return x.api.Grow(ctx, x.guest, key, fmt.Sprintf("%dK", size>>10))
	})
}

// drop removes unused volumes of the VM.
func (x *exchanger) drop(ctx context.Context, which func(pve.Drive) bool) error {
	own, err := x.api.Entries(ctx, x.guest)
	if err != nil {
		return err
	}
	if keys := unused(own, which); len(keys) > 0 {
		return x.set(ctx, own, map[string]string{"delete": strings.Join(keys, ",")})
	}
	return nil
}

// unused are the entries of unused volumes in a configuration.
func unused(own map[string]string, which func(pve.Drive) bool) (keys []string) {
	for _, d := range pve.Drives(own) {
		if d.IsUnused() && which(d) {
			keys = append(keys, d.Key)
		}
	}
	return keys
}

// rename removes the volumes that the VM has lost, and gives it another UUID: it is another guest now. That is one
// request, because nothing else tells whether all was done.
func (x *exchanger) rename(ctx context.Context) error {
	own, err := x.api.Entries(ctx, x.guest)
	if err != nil {
		return err
	}
	body := map[string]string{"smbios1": pve.Parse(own["smbios1"]).With("uuid", newUUID()).String()}
	if keys := unused(own, func(d pve.Drive) bool { return slices.Contains(x.Volumes, d.File) }); len(keys) > 0 {
		body["delete"] = strings.Join(keys, ",")
	}
	return x.set(ctx, own, body)
}

// newUUID is a random UUID.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it returns no error
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// guestStep is step for a call that changes the VM, which must be stopped: a change of one that runs would wait for
// its restart, or take a disk from a system that uses it.
func (x *exchanger) guestStep(ctx context.Context, send func(context.Context) (proxmox.RunningTask, error)) error {
	return x.step(ctx, func(ctx context.Context) (proxmox.RunningTask, error) {
		if _, err := x.api.Same(ctx, x.guest); err != nil {
			return proxmox.RunningTask{}, err
		}
		now, err := x.api.Now(ctx, x.guest)
		switch {
		case err != nil:
			return proxmox.RunningTask{}, err
		case now.State != power.Stopped:
			return proxmox.RunningTask{}, fmt.Errorf("somebody has started it: it is %s", now.State)
		case now.Lock != "":
			return proxmox.RunningTask{}, fmt.Errorf("it is locked (%s)", now.Lock)
		}
		return send(ctx)
	})
}

// set changes the configuration of the VM, if that is what was read.
func (x *exchanger) set(ctx context.Context, read, body map[string]string) error {
	return x.guestStep(ctx, func(ctx context.Context) (proxmox.RunningTask, error) {
		return x.api.Set(ctx, x.guest, read["digest"], body)
	})
}
