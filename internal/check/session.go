package check

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"stackgen/internal/cluster"
	"stackgen/internal/drift"
	"stackgen/internal/effect"
	"stackgen/internal/engine"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// Sources say where a session reads the cluster, states and plans.
type Sources struct {
	Inventory string            // a snapshot; empty for the cluster itself
	States    []string          // STACK/UNIT=FILE or a folder; the backends have the rest
	Plans     []string          // the same for plans
	Progress  func(text string) // may be nil

	Further func(*cluster.Guest) bool // VMs in no spec whose configuration is read, too; nil for none
}

func (f Sources) say(format string, args ...any) {
	if f.Progress != nil {
		f.Progress(fmt.Sprintf(format, args...))
	}
}

// A Session is everything that one command reads.
type Session struct {
	Project   *project.Project
	Inventory *cluster.Inventory
	State     tf.States

	NewClusters, NewStates []string // of guard.Input
	Splits                 bool     // of guard.Input

	sources Sources
	imports map[tf.Unit]guard.Imports // nil if they are not judged
	plans   map[tf.Unit]*tf.Plan
	tools   *engine.Tools // of the Terragrunt run; nil outside of one
}

// New begins a session for a project whose decisions are made.
func New(p *project.Project, from Sources) *Session {
	return &Session{Project: p, State: tf.States{}, sources: from, plans: map[tf.Unit]*tf.Plan{}}
}

// Look reads the cluster and the states.
func (s *Session) Look(ctx context.Context) error {
	var err error
	if s.Inventory, err = ReadCluster(ctx, s.Project, s.sources); err != nil {
		return err
	}
	return s.readStates(ctx)
}

// Preflight reads everything and judges what an apply would meet, or a destroy of
// whole stacks.
func (s *Session) Preflight(ctx context.Context, destroy bool) ([]finding.Finding, error) {
	if err := s.readPlans(); err != nil {
		return nil, err
	}
	if err := s.Look(ctx); err != nil {
		return nil, err
	}
	if err := s.readImports(); err != nil {
		return nil, err
	}
	in := s.input()
	in.Destroy, in.NoDNSKey = destroy, s.noDNSKey()
	found, updates, err := s.judgePlans(in)
	if err != nil {
		return nil, err
	}
	if len(s.plans) > 0 && !destroy {
		found = guard.Merge(found, drift.Stale(drift.Input{
			Input: in, Plans: s.plans, Units: s.Units(), Found: found, Updates: updates, Without: guard.Judge(in),
		}))
	}
	if used, err := s.inUse(ctx, found, time.Time{}); err != nil || used != nil {
		return used, err
	}
	unrendered, err := s.unrendered(finding.Outdated)
	return append(unrendered, found...), err
}

// Rejudge judges again what was read, with the import files as they are now and with the
// plans that were added.
func (s *Session) Rejudge() ([]finding.Finding, error) { return s.rejudge(false) }

// RejudgeDestroy is Rejudge for a destroy of whole stacks.
func (s *Session) RejudgeDestroy() ([]finding.Finding, error) { return s.rejudge(true) }

func (s *Session) rejudge(destroy bool) ([]finding.Finding, error) {
	if err := s.readImports(); err != nil {
		return nil, err
	}
	in := s.input()
	in.Destroy, in.NoDNSKey = destroy, s.noDNSKey()
	return s.judge(in)
}

// Judge judges what was read, without import files and plans.
func (s *Session) Judge() []finding.Finding { return guard.Judge(s.input()) }

// An Observation is what was read of the cluster and the states for the lock.
type Observation struct {
	Seen []lock.Observed
	Left []finding.Finding // about the VMs of which the lock records nothing
	Kept []finding.Finding // about the VMs of again that may exist
}

// Observe reads the cluster and the states. again are VMs that were never seen, as the
// user says, each as STACK/KEY.
func (s *Session) Observe(ctx context.Context, again []string) (*Observation, error) {
	if err := s.Look(ctx); err != nil {
		return nil, err
	}
	return s.Observation(again), nil
}

// Observation is Observe for what was read already.
func (s *Session) Observation(again []string) *Observation {
	in := s.input()
	found := guard.Judge(in)
	o := &Observation{Kept: guard.Again(in, found, again)}
	o.Seen, o.Left = guard.Observe(in, found)
	return o
}

// Later are the disks that a second apply of a stack adds, by the keys of their VMs.
func (s *Session) Later(stack string) map[string][]string { return guard.Later(s.input(), stack) }

// Matches says which guest each VM of the project is.
func (s *Session) Matches() []cluster.Match { return guard.Matches(s.input()) }

// noDNSKey reports whether an apply from here would have no secret to sign updates of
// records with. With a snapshot, the apply runs elsewhere.
func (s *Session) noDNSKey() bool {
	return s.sources.Inventory == "" && os.Getenv(dnsKeySecret) == ""
}

func (s *Session) input() guard.Input {
	p := s.Project
	imported, _ := s.importFiles() // who judges them reports what cannot be read
	return guard.Input{
		Project: p.Stacks, Lock: p.Lock, Selected: p.Selected, LostLocks: s.lostLocks(), Rendered: s.renderedProject(),
		State: s.State, Inventory: s.Inventory, Imports: s.imports, Imported: imported, Begun: s.begun(),
		NewClusters: s.NewClusters, NewStates: s.NewStates, Splits: s.Splits,
	}
}

// judge judges everything, plans included.
func (s *Session) judge(in guard.Input) ([]finding.Finding, error) {
	found, _, err := s.judgePlans(in)
	return found, err
}

// judgePlans is judge, with what each plan does to the VMs that it updates, by resource
// address.
func (s *Session) judgePlans(in guard.Input) ([]finding.Finding, map[tf.Unit]map[string][]effect.Update, error) {
	planned := map[tf.Unit]bool{}
	maps.Copy(planned, in.Planned)
	for u := range s.plans {
		planned[u] = true
	}
	in.Planned = planned
	verdicts := guard.Judge(in)
	updates := map[tf.Unit]map[string][]effect.Update{}
	var plans []finding.Finding
	for _, u := range s.Units() {
		if plan := s.plans[u]; plan != nil {
			found, does, err := guard.JudgePlan(in, verdicts, u, plan)
			if err != nil {
				return nil, nil, fmt.Errorf("cannot judge the plan: %w", err)
			}
			plans, updates[u] = append(plans, found...), does
		}
	}
	return guard.Merge(verdicts, plans), updates, nil
}

// Notes say what the findings do not.
func (s *Session) Notes(found []finding.Finding) []string {
	var out []string
	for _, stack := range s.Project.SelectedStacks() {
		if stack.Guard == "off" {
			file := stack.Spec
			if s.Project.Stacks.Guard == "off" {
				file = schema.SettingsFile
			}
			out = append(out, "guard: off in "+file+": the units' hooks do not stop an apply of "+stack.Name)
		}
	}
	in := s.input()
	return slices.Concat(out, guard.ClaimNotes(in, found, s.Project.Others()), guard.ClusterNotes(in), guard.StateNotes(in, found))
}

// Endpoint is where the cluster was read, or empty before that.
func (s *Session) Endpoint() string {
	if s.Inventory == nil {
		return ""
	}
	return s.Inventory.Endpoint
}

// Taken is when the cluster was read, RFC 3339; empty before that.
func (s *Session) Taken() string {
	if s.Inventory == nil {
		return ""
	}
	return s.Inventory.Taken
}

// Units are the units of the selected stacks that may have resources.
func (s *Session) Units() []tf.Unit {
	var out []tf.Unit
	for _, stack := range s.Project.SelectedStacks() {
		l := s.Project.Lock.Stacks.Get(stack.Name)
		if l == nil {
			continue
		}
		for _, u := range l.Units {
			if u.Value.Status != lock.Forgotten {
				out = append(out, tf.Unit{Stack: stack.Name, Unit: u.Key})
			}
		}
	}
	return out
}

// otherUnits are the VM units of the stacks that are not selected: a VMID in their
// state is not free.
func (s *Session) otherUnits() []tf.Unit {
	var out []tf.Unit
	for _, stack := range s.Project.Stacks.Stacks {
		l := s.Project.Lock.Stacks.Get(stack.Name)
		if l != nil && !s.Project.Selected(stack.Name) && l.Units.Get(lock.UnitVM) != nil {
			out = append(out, tf.VMUnit(stack.Name))
		}
	}
	return out
}

// noUnit is the error of a unit that does not exist.
func (s *Session) noUnit(id string) error {
	var names []string
	for _, u := range s.Units() {
		names = append(names, u.String())
	}
	return fmt.Errorf("there is no unit %q here; units: %s", id, strings.Join(names, ", "))
}

// engine returns the tools that read states and make plans.
func (s *Session) engine() (*engine.Tools, error) {
	if s.tools != nil {
		return s.tools, nil
	}
	return engine.Find(s.Project.Root, os.Environ())
}

// planner returns the tools that plan whole stacks for a command. The error says that the
// environment makes them plan something else.
func (s *Session) planner(command string) (*engine.Tools, error) {
	tools, err := s.engine()
	if err != nil {
		return nil, err
	}
	return tools, Misled(command, tools.Env)
}

// Cloning reports whether a guest is the target of a clone that still runs.
func (s *Session) Cloning(vmid int) bool { return guard.Cloning(s.Inventory, vmid) }

// Working reports whether a task is running on a guest.
func (s *Session) Working(vmid int) bool { return guard.Working(s.Inventory, vmid) }
