package check

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"stackgen/internal/cluster"
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

	Destroys bool                      // VMs would be destroyed: who has volumes of them is read, and the rights to create them again
	Others   bool                      // the MAC addresses of all other guests are read, too
	Further  func(*cluster.Guest) bool // VMs in no spec whose configuration is read, too; nil for none
}

func (f Sources) say(format string, args ...any) {
	if f.Progress != nil {
		f.Progress(fmt.Sprintf(format, args...))
	}
}

// A Session is one check of a project: what one command has read, and what it judges of it.
type Session struct {
	Project   *project.Project
	Inventory *cluster.Inventory
	State     tf.States

	NewClusters, NewStates []string // of guard.Input
	Splits                 bool     // of guard.Input
	TemplatesLast          bool     // of guard.Input

	sources  Sources
	planTime time.Duration // that the plan of a unit may take
	plans    map[tf.Unit]*tf.Plan
	judged   guard.Input // what was judged last

	volumesRead bool          // it was read which guests have volumes of others, after a plan
	tools       *engine.Tools // of the Terragrunt run; nil outside of one
}

// New begins a session for a project whose decisions are made.
func New(p *project.Project, from Sources) *Session {
	return &Session{Project: p, State: tf.States{}, sources: from, planTime: planTime, plans: map[tf.Unit]*tf.Plan{}}
}

// An Observation is what was read of the cluster and the states for the lock.
type Observation struct {
	Seen []lock.Observed
	Left []finding.Finding // about the VMs of which the lock records nothing
	Kept []finding.Finding // about the VMs of again that may exist
}

// Observe reads the cluster and the states. again are VMs that were never seen, as the
// user says, each as STACK/KEY.
func (s *Session) Observe(ctx context.Context, again []string) (*Observation, error) {
	if err := s.read(ctx, Config{}); err != nil {
		return nil, err
	}
	return s.Observation(again)
}

// Observation is Observe for what was read already.
func (s *Session) Observation(again []string) (*Observation, error) {
	r, err := s.facts(Config{Imports: s.judged.Imports != nil})
	if err != nil {
		return nil, err
	}
	if err := r.rules(); err != nil { // nothing is applied by what this finds
		return nil, err
	}
	o := &Observation{Kept: guard.Again(s.judged, r.Found, again)}
	o.Seen, o.Left = guard.Observe(s.judged, r.Found)
	return o, nil
}

// Later are the disks that a second apply of a stack adds, by the keys of their VMs.
func (s *Session) Later(stack string) map[string][]string { return guard.Later(s.judged, stack) }

// Matches says which guest each VM of the project is.
func (s *Session) Matches() []cluster.Match { return guard.Matches(s.input()) }

// noDNSKey reports whether an apply from here would have no secret to sign updates of
// records with. With a snapshot, the apply runs elsewhere.
func (s *Session) noDNSKey() bool {
	return s.sources.Inventory == "" && os.Getenv(dnsKeySecret) == ""
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
	in := s.judged
	return slices.Concat(out, s.checkpointNotes(), guard.ClaimNotes(in, found, s.Project.Others()),
		guard.ClusterNotes(in), guard.StateNotes(in, found), guard.NewerNotes(in, found))
}

// CloneNotes say which linked clones a run destroys before their templates.
func (s *Session) CloneNotes() []string { return guard.CloneNotes(s.judged) }

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

// otherUnits are the units of guests of the stacks that are not selected: a VMID in their
// state is not free.
func (s *Session) otherUnits() []tf.Unit {
	var out []tf.Unit
	for _, stack := range s.Project.Stacks.Stacks {
		l := s.Project.Lock.Stacks.Get(stack.Name)
		for _, u := range tf.GuestUnits(stack.Name) {
			if l != nil && !s.Project.Selected(stack.Name) && l.Units.Get(u.Unit) != nil {
				out = append(out, u)
			}
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
