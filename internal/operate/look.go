package operate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stackgen/internal/check"
	"stackgen/internal/cluster"
	"stackgen/internal/lock"
	"stackgen/internal/power"
	"stackgen/internal/project"
	"stackgen/internal/proxmox"
	"stackgen/internal/selection"
	"stackgen/internal/shell"
)

// A Choice is what a command line says about which VMs it means.
type Choice struct {
	Paths   []string // specs and folders
	Words   []string // STACK, STACK/KEY, STACK/GROUP, or a KEY that only one stack has
	Members []string // of rosters
}

// Choose tells paths from other words: what exists as a file is a path.
func Choose(args, members []string) (Choice, error) {
	c := Choice{Members: members}
	for _, a := range args {
		if _, err := os.Stat(a); err == nil {
			c.Paths = append(c.Paths, a)
		} else {
			c.Words = append(c.Words, a)
		}
	}
	if len(c.Paths) > 0 && len(c.Words) > 0 {
		return c, fmt.Errorf("%s is a path, and %s is none: give either paths, or stacks and VMs of the project here", c.Paths[0], c.Words[0])
	}
	return c, nil
}

// A View is the VMs that a command means, and the cluster as it was read.
type View struct {
	Project   *project.Project
	VMs       []selection.VM
	Inventory *cluster.Inventory // nil if no cluster is configured

	connect func() (proxmox.Config, error) // to the cluster of the project; for tests
}

// Look reads the cluster and selects the VMs. It refuses a cluster that is certainly not
// the recorded one. Without a configured cluster or credentials, and if offline is set, the
// inventory is nil, and no VM has a guest.
func Look(ctx context.Context, p *project.Project, c Choice, from check.Sources, offline bool) (*View, error) {
	words, err := selection.Qualify(p.Stacks.Stacks, c.Words)
	if err != nil {
		return nil, err
	}
	if stacks := selection.Stacks(words); len(stacks) > 0 {
		p.Selected = func(stack string) bool { return slices.Contains(stacks, stack) }
	}
	v := &View{Project: p}
	_, err = check.ClusterConfig(p)
	without := errors.Is(err, proxmox.ErrNoEndpoint) || errors.Is(err, proxmox.ErrNoCredentials)
	if !offline || from.Inventory != "" || !without {
		if v.Inventory, err = check.ReadCluster(ctx, p, from); err != nil {
			return nil, err
		}
		if err := sameCluster(p, v.Inventory); err != nil {
			return nil, err
		}
	}
	all := selection.Of(p.Stacks.Stacks, p.Lock, v.Inventory, p.Selected)
	if v.VMs, err = selection.Select(all, words, c.Members); err != nil {
		return nil, err
	}
	if v.Inventory != nil && from.Inventory == "" {
		err = v.Refresh(ctx)
	}
	return v, err
}

// Wanted are the VMs of a project whose specs want a checkpoint, in a cluster that was read.
func Wanted(p *project.Project, inv *cluster.Inventory) *View {
	all := selection.Of(p.Stacks.Stacks, p.Lock, inv, p.Selected)
	all = slices.DeleteFunc(all, func(vm selection.VM) bool { return !vm.Spec.WantsCheckpoint() })
	return &View{Project: p, VMs: all, Inventory: inv}
}

// sameCluster refuses a cluster other than the one that the lock records.
func sameCluster(p *project.Project, inv *cluster.Inventory) error {
	for _, s := range p.SelectedStacks() {
		recorded := p.Lock.Stacks.Get(s.Name)
		if recorded == nil || recorded.Cluster == nil {
			continue
		}
		if is := inv.Compare(recorded.Cluster); is == cluster.OtherCluster || is == cluster.CopiedCluster {
			return fmt.Errorf("%s records the stack %s in another cluster, %s, and %s is %s: `stackgen preflight` says more",
				lock.File, s.Name, cluster.DescribeCluster(recorded.Cluster), inv.Endpoint, cluster.DescribeCluster(inv.Identity()))
		}
	}
	return nil
}

// cluster says how the cluster is reached.
func (v *View) cluster() (proxmox.Config, error) {
	if v.connect != nil {
		return v.connect()
	}
	return check.ClusterConfig(v.Project)
}

// Run does what was planned, and returns how it ended for each VM of the plan. A VM that was
// not planned is left as it is, whatever its state is by now: nobody has confirmed it.
func (v *View) Run(ctx context.Context, r Request, planned []One) ([]One, error) {
	config, err := v.cluster()
	if err != nil {
		return nil, err
	}
	out := slices.Clone(planned)
	var at []int
	r.VMs, r.Points = nil, map[string]*Checkpoint{}
	for i := range planned {
		if p := &planned[i]; p.Result == power.Planned {
			r.VMs, at, r.Points[p.String()] = append(r.VMs, *p.VM), append(at, i), p.Point
		}
	}
	if len(at) == 0 {
		return out, nil
	}
	ended, err := run(ctx, config, r)
	for i := range ended {
		out[at[i]] = ended[i]
	}
	return out, err
}

// Refresh reads what the selected guests do, where their nodes respond: lists do not tell a paused VM from a running
// one, are some seconds late, and say nothing of a container that is new.
func (v *View) Refresh(ctx context.Context) error {
	var guests []*cluster.Guest
	for i := range v.VMs {
		if g := v.VMs[i].Guest; g != nil && (g.Status != cluster.StatusUnknown || v.read(g)) {
			guests = append(guests, g)
		}
	}
	return v.refresh(ctx, guests)
}

// Refresh reads what guests of a cluster do that was read for a project.
func Refresh(ctx context.Context, p *project.Project, guests []*cluster.Guest) error {
	return (&View{Project: p}).refresh(ctx, guests)
}

func (v *View) refresh(ctx context.Context, guests []*cluster.Guest) error {
	if len(guests) == 0 {
		return nil
	}
	config, err := v.cluster()
	if err != nil {
		return err
	}
	return proxmox.ReadPower(ctx, config, guests)
}

// read reports whether the configuration of a guest was read, and its node responds.
func (v *View) read(g *cluster.Guest) bool {
	n := v.Inventory.Node(g.Node)
	return g.Config != nil && n != nil && n.Online
}

// ConsoleGrants are the lines that grant the credentials the console of a VM, if they lack it.
func (v *View) ConsoleGrants(vm *selection.VM) []string {
	a := v.Inventory.Access
	if a == nil || a.Rights.Has(aclPath(vm.Guest), cluster.VMConsole) {
		return nil
	}
	return a.Grants([]cluster.Missing{{Path: aclPath(vm.Guest), Privilege: cluster.VMConsole}})
}

// Step is a command that is right where the person is: STACK/KEY means a VM of the project of
// the working directory.
func (v *View) Step(command string) string {
	if !strings.HasPrefix(command, "stackgen ") || v.Project == nil {
		return command
	}
	here, err := filepath.Abs(".")
	if err != nil {
		return command
	}
	root, err := filepath.Abs(v.Project.Root)
	if err != nil {
		return command
	}
	if in, err := filepath.Rel(root, here); err == nil && filepath.IsLocal(in) {
		return command
	}
	return "cd " + shell.Path(v.Project.Root) + " && " + command
}

// readsAtOnce is how many VMs are read at the same time.
const readsAtOnce = 16

// Console is the address of Proxmox VE's own page with the console of a VM, on the server
// that was asked; the page forwards to the node. It needs a login there.
func (v *View) Console(vm *selection.VM) string {
	if vm.Guest == nil || v.Inventory == nil {
		return ""
	}
	g := vm.Guest
	return g.Kind.Console(v.Inventory.Endpoint, g.VMID, g.Name, g.Node)
}
