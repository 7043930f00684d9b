package operate

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"stackgen/internal/check"
	"stackgen/internal/cluster"
	"stackgen/internal/hardware"
	"stackgen/internal/power"
	"stackgen/internal/proxmox"
	"stackgen/internal/pve"
	"stackgen/internal/selection"
)

// Baseline is the name of a checkpoint that was given none.
const Baseline = "baseline"

// pointName is how Proxmox VE names snapshots (its format pve-configid), without the name of
// the present state. The last two are of hibernated VMs and of backups.
var pointName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{1,39}$`)

// CheckName refuses what cannot be the name of a checkpoint.
func CheckName(name string) error {
	reserved := slices.Contains([]string{"current", "pending", "vzdump"}, strings.ToLower(name))
	if !pointName.MatchString(name) || reserved {
		return fmt.Errorf("%q cannot be the name of a checkpoint: it needs 2 to 40 letters, digits, - and _, and begins with a letter", name)
	}
	return nil
}

// A Checkpoint is a snapshot of a VM that a reset goes back to.
type Checkpoint struct {
	Name     string
	Time     time.Time
	Memory   bool     // it has the memory of the VM, too
	Repairs  []string // properties that the next apply changes after a reset
	Leaves   []string // properties that a reset changes, and that an apply leaves
	Detaches []string // interfaces of disks of the spec that a reset detaches: they were added since
	Returns  []string // interfaces of disks that were replaced since: a reset puts the former ones back

	config *cluster.Config
	was    map[string]string // the configuration of the VM that a reset replaces
}

// When is the time of the checkpoint, as messages have it.
func (c *Checkpoint) When() string { return c.Time.Format("2006-01-02 15:04 UTC") }

// String is its name with its time.
func (c *Checkpoint) String() string { return c.Name + " of " + c.When() }

func pointOf(s *proxmox.Snapshot) *Checkpoint {
	return &Checkpoint{Name: s.Name, Time: time.Unix(s.Time, 0).UTC(), Memory: s.Memory, config: s.Config}
}

// PlanApplied is Plan for checkpoints of VMs of which an apply has just left nothing to do.
func (v *View) PlanApplied(ctx context.Context, r Request) ([]One, error) {
	planned := v.Plan(r)
	return planned, v.each(ctx, planned, func(ctx context.Context, api *proxmox.Power, o *One) { v.planCheckpoint(ctx, api, r.Name, o) })
}

// PlanCheckpoints is Plan for checkpoints. It plans the stacks, because only a VM whose plan
// is empty gets a checkpoint: a reset to it then leaves nothing to apply.
func (v *View) PlanCheckpoints(ctx context.Context, r Request, from check.Sources) ([]One, error) {
	planned, err := v.PlanApplied(ctx, r)
	if err != nil || Count(planned, power.Planned) == 0 {
		return planned, err
	}
	plans, err := check.New(v.Project, from).EmptyPlans(ctx)
	if err != nil {
		return nil, err
	}
	for i := range planned {
		o := &planned[i]
		if why, fix := plans.WhyNot(o.Stack, o.Key); o.Result == power.Planned && why != "" {
			o.Result, o.Text, o.Fix = power.Refused, why, lines(fix)
		}
	}
	return planned, nil
}

// planCheckpoint says whether a VM gets a checkpoint, as far as no plan is needed for that.
func (v *View) planCheckpoint(ctx context.Context, api *proxmox.Power, name string, o *One) {
	refuse := func(fix, format string, args ...any) {
		o.Result, o.Text, o.Fix = power.Refused, fmt.Sprintf(format, args...), lines(fix)
	}
	g := o.Guest
	if without := v.Inventory.WithoutSnapshots(g, nil, nil); without != "" {
		refuse("", "%s", without)
		return
	}
	switch s, err := api.Snapshot(ctx, g, name); {
	case err == nil && s.Incomplete != "":
		fix, text := incomplete(g, s)
		refuse(fix, "%s", text)
	case err == nil:
		o.Result, o.Text = power.InState, "it has "+pointOf(s).String()
	case !errors.Is(err, proxmox.ErrNoSnapshot):
		o.Result, o.Text = power.Failed, fmt.Sprintf("its snapshots cannot be read, and nothing was sent: %v", err)
	case len(Waits(g)) > 0:
		waits := strings.Join(Waits(g), ", ")
		refuse("stackgen restart --pending "+o.String(), "%s waits for a restart, and a checkpoint would not have it", waits)
	default:
		o.Text = "would be given the checkpoint " + name
	}
}

// incomplete says why a snapshot that is not complete is no checkpoint, and what comes next: Proxmox VE removes no
// snapshot of a guest that is locked, also with force.
func incomplete(g *cluster.Guest, s *proxmox.Snapshot) (fix, text string) {
	text = fmt.Sprintf("its snapshot %s is not complete (%s)", s.Name, s.Incomplete)
	if g.Lock == "" {
		return pve.Pvesh("delete", g.Path("snapshot", s.Name), "--force", "1"), text
	}
	return "stackgen preflight", text + ": the lock " + g.Lock + " says that a task works on it, or was killed; " +
		"preflight says how to find out, and this command, once the lock is gone, how to remove the snapshot"
}

// Waits are the entries of a guest whose pending changes wait for a restart, as far as it was read.
func Waits(g *cluster.Guest) []string {
	if g.Config == nil {
		return nil
	}
	return cluster.PendingKeys(hardware.Waiting(g.Kind, g.Config.Pending))
}

// each completes the plan of each VM that is planned, several at the same time.
func (v *View) each(ctx context.Context, planned []One, complete func(context.Context, *proxmox.Power, *One)) error {
	if Count(planned, power.Planned) == 0 {
		return nil
	}
	config, err := v.cluster()
	if err != nil {
		return err
	}
	api, err := proxmox.OpenPower(ctx, config)
	if err != nil {
		return err
	}
	defer api.Close()
	var all errgroup.Group
	all.SetLimit(readsAtOnce)
	for i := range planned {
		if planned[i].Result == power.Planned {
			all.Go(func() error { complete(ctx, api, &planned[i]); return ctx.Err() })
		}
	}
	return all.Wait()
}

// points are the names of the complete snapshots of a VM, or none.
func points(ctx context.Context, api *proxmox.Power, vm *selection.VM) (names []string) {
	all, err := api.Snapshots(ctx, vm.Guest)
	if err != nil {
		return nil
	}
	for _, s := range all {
		if s.Incomplete == "" {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Points are the checkpoints of VMs, by STACK/KEY: the snapshot that was taken of the VM, or that it
// was reset to, last. Of an inventory that is a file, the time is not
// known. What cannot be read is left out.
func (v *View) Points(ctx context.Context, file bool) map[string]Checkpoint {
	out := map[string]Checkpoint{}
	var with []One
	for i := range v.VMs {
		vm := &v.VMs[i]
		if vm.Guest == nil || vm.Guest.Config == nil || vm.Guest.Config.Raw["parent"] == "" {
			continue
		}
		out[vm.String()] = Checkpoint{Name: vm.Guest.Config.Raw["parent"]}
		with = append(with, One{VM: vm, Result: power.Planned})
	}
	if file {
		return out
	}
	var mu sync.Mutex // guards out
	_ = v.each(ctx, with, func(ctx context.Context, api *proxmox.Power, o *One) {
		all, err := api.Snapshots(ctx, o.Guest)
		mu.Lock()
		defer mu.Unlock()
		for i := range all {
			switch s := &all[i]; {
			case err != nil || s.Name != out[o.String()].Name:
			case s.Incomplete != "":
				delete(out, o.String())
			default:
				out[o.String()] = *pointOf(s)
			}
		}
	})
	return out
}
