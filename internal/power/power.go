package power

import (
	"cmp"
	"fmt"
	"slices"
)

// A State is what a VM does, as Proxmox VE reports it.
type State string

// The states.
const (
	Running    State = "running"
	Paused     State = "paused"     // in memory, and its CPUs do not run
	Stopped    State = "stopped"    // also: shut down
	Hibernated State = "hibernated" // stopped, with its memory on disk: the lock is suspended
)

// An Action is one call of the API that changes the state of a VM.
type Action struct {
	Name  string  // of the call, and of the argument of `stackgen power`
	Doing string  // what a question says: shut down %s
	While string  // what a VM is while its task runs: shutting down
	Done  string  // what a report says: shut down
	From  []State // in which Proxmox VE takes it
	To    State   // afterwards; empty if the action leaves it
	Stops bool    // the VM does not answer its users any more, if only for a while

	OnlyVMs bool // Proxmox VE cannot do it to a container
}

// Actions are all actions, as `stackgen power` lists them. Proxmox VE has calls that pause a container; it
// calls them experimental, and no node has the program that they need (criu).
// Source: the recorded answers of a server to each call in each state.
var Actions = []Action{
	{Name: "start", Doing: "start %s", While: "starting", Done: "started", From: []State{Stopped, Hibernated}, To: Running},
	{Name: "shutdown", Doing: "shut down %s", While: "shutting down", Done: "shut down", From: []State{Running}, To: Stopped, Stops: true},
	{Name: "stop", Doing: "stop %s without a shutdown", While: "stopping", Done: "stopped",
		From: []State{Running, Paused}, To: Stopped, Stops: true},
	{Name: "reboot", Doing: "reboot %s", While: "rebooting", Done: "rebooted", From: []State{Running}, To: Running, Stops: true},
	{Name: "suspend", Doing: "pause %s", While: "pausing", Done: "paused", From: []State{Running}, To: Paused, Stops: true, OnlyVMs: true},
	{Name: "resume", Doing: "resume %s", While: "resuming", Done: "resumed", From: []State{Paused, Hibernated}, To: Running, OnlyVMs: true},
}

// Snapshots are the actions on the snapshots of a VM.
// Source: the recorded answers of a server; it refuses both of a hibernated VM in their task.
var Snapshots = []Action{
	{Name: Snapshot, Doing: "take a checkpoint of %s", While: "taking a checkpoint", Done: "given a checkpoint",
		From: []State{Running, Paused, Stopped}},
	{Name: Rollback, Doing: "reset %s", While: "resetting", Done: "reset", From: []State{Running, Paused, Stopped}, Stops: true},
}

// Dump is the action that makes a backup of a VM.
var Dump = Action{Name: Backup, Doing: "back up %s", While: "being backed up", Done: "backed up",
	From: []State{Running, Paused, Stopped, Hibernated}}

// The names of the actions on snapshots, as Proxmox VE has them, and of its backups.
const (
	Snapshot = "snapshot"
	Rollback = "rollback"
	Backup   = "vzdump"
)

// Names are the names of the actions that start and stop VMs.
func Names() []string {
	var out []string
	for _, a := range Actions {
		out = append(out, a.Name)
	}
	return out
}

// Find is the action of a name that starts or stops VMs, or nil.
func Find(name string) *Action { return find(Actions, name) }

// Of is the action of a name, or nil.
func Of(name string) *Action { return cmp.Or(find(Actions, name), find(Snapshots, name)) }

// OfSnapshots is the action of a name on snapshots, or nil.
func OfSnapshots(name string) *Action { return find(Snapshots, name) }

func find(actions []Action, name string) *Action {
	i := slices.IndexFunc(actions, func(a Action) bool { return a.Name == name })
	if i < 0 {
		return nil
	}
	return &actions[i]
}

// Reboots reports whether the VM runs before and after the action, so that its state does
// not tell whether it was done.
func (a *Action) Reboots() bool { return slices.Contains(a.From, a.To) }

// A Need says whether an action must be sent.
type Need int

// The needs.
const (
	Send     Need = iota
	Already       // the VM is in the state that the action leads to
	Unusable      // Proxmox VE refuses it in this state
)

// In says whether the action must be sent to a VM in a state, and why not.
func (a *Action) In(s State) (Need, string) {
	switch {
	case slices.Contains(a.From, s):
		return Send, ""
	case s == a.To, a.To == Stopped && s == Hibernated:
		return Already, string(s)
	case a.Name == "shutdown" && s == Paused:
		return Unusable, "it is paused, and a paused VM cannot shut down: resume it, or use stop"
	case a.Name == "start" && s == Paused:
		return Unusable, "it is paused: use resume"
	}
	return Unusable, fmt.Sprintf("it is %s", s)
}

// A Result is how the action on one VM ended.
type Result string

// The results, in the order in which they are reported.
const (
	Failed  Result = "failed"  // or it is not known
	Refused Result = "refused" // nothing was sent
	Done    Result = "done"
	Planned Result = "planned" // it would be done
	InState Result = "already" // nothing had to be done
	Left    Result = "left"    // nothing was sent, because the command ended before

	Waiting Result = "waiting" // for a lock: it goes on, and no report has it
	Sent    Result = "sent"    // the call is sent now: it goes on, and no report has it
)

// Results are all results of reports in their order.
var Results = []Result{Failed, Refused, Done, Planned, InState, Left}
