package progress

import (
	"fmt"

	"stackgen/guest"
	"stackgen/internal/power"
)

// A Kind is what a row is about.
type Kind string

// The kinds of rows, and a unit as a whole, which has no row.
const (
	VM     Kind = "vm"
	Pool   Kind = "pool"
	Record Kind = "record"
	Unit   Kind = "unit"
)

// An Action is what the run does with a row.
type Action string

// The actions on what OpenTofu manages. Those on VMs that exist have the names of package power.
const (
	Create  Action = "create"
	Change  Action = "change"
	Import  Action = "import"
	Destroy Action = "destroy"
	Move    Action = "move" // of a VM to another node

	Start Action = "start" // of a VM that exists
)

// Counted is what an action does with things that were counted: create 3 VMs.
func (a Action) Counted(things string) string {
	if of := power.Of(string(a)); of != nil {
		return fmt.Sprintf(of.Doing, things)
	}
	return string(a) + " " + things
}

// A Target is what an event or a row is about. Key is that of a VM, the id of a pool
// or the name of a record.
type Target struct {
	Kind  Kind
	Guest guest.Kind // guest.Container of a container, whose Kind is VM here
	Stack string
	Unit  string // folder of the unit in its stack, such as proxmox-vm
	Key   string
	VMID  int    // of a VM
	Node  string // of a VM
}

// An Item is one row of the plan that a run carries out.
type Item struct {
	Target
	Action   Action
	Clone    bool   // a VM that is created from a template
	Template int    // its VMID; 0 if it is not known
	From     string // the node that it is on
	Agent    bool   // the run waits for the VM's guest agent
	Rebuilt  bool   // a VM that exists, and is destroyed and created again
	Planned  bool   // an action of package power that OpenTofu does by a plan, so that its errors are those of the provider
}

// A Plan is what a run carries out.
type Plan struct {
	Command  string // apply or destroy
	Again    string // the command line that continues it, to be pasted from the project root
	Items    []Item
	Parallel int  // VMs at the same time at most; 0 if that is unknown
	Table    bool // the command prints how each row ended after the run
}

// A Type is the type of an event.
type Type string

// The types of events.
const (
	Began   Type = "began"   // OpenTofu works on the target
	Working Type = "working" // it still does
	Ended   Type = "ended"   // it is done with the target
	Failed  Type = "failed"  // it gave up; the text may come later, by Problem
	Problem Type = "problem" // the text of an error
	Worked  Type = "task"    // a task of the cluster runs, or has ended
	Summary Type = "summary" // a unit is done
	Read    Type = "read"    // the configuration of a VM was read after its failure

	Locked   Type = "locked"   // the action on a VM waits for a lock; the text says which
	Declined Type = "declined" // the action on a VM was not sent; the text says why
	GoesOn   Type = "goes on"  // the run is interrupted, and the cluster does the rest of the action

	NodeState Type = "node" // a node that VMs need is down, or answers again
)

// An Event is one thing that happened. The target of a task has only a VMID.
type Event struct {
	At float64 // seconds since the start of the run
	Target
	Type   Type
	Action Action // of Began, Working, Ended, Failed
	Text   string // of Problem: the message of the tool, as it is; of NodeState why a silent node does not answer; of Locked and Declined why
	Fix    string // of Problem and Declined for an action on a VM: commands, one a line
	Task   Task   // of Worked
	Counts Counts // of Summary
	State  State  // of NodeState; the target has only the node, or nothing for the whole cluster

	Reading *Reading // of Read
}

// A Reading is what a VM is after a run failed to create or change it.
type Reading struct {
	Exists bool
	Works  bool     // a task that has begun since then still changes it
	Off    bool     // it ran before the run, and is off now
	Taken  []string // entries that the run changed: memory 2048 -> 3072, pending
	Left   []string // what it did not change: scsi1
}

// Counts are what a unit did, in OpenTofu's count.
type Counts struct {
	Operation string `json:"operation"` // plan, apply or destroy
	Add       int    `json:"add"`
	Change    int    `json:"change"`
	Import    int    `json:"import"`
	Remove    int    `json:"remove"`
}

// A Phase is what happens to a row now.
type Phase string

// The phases. A VM that is created goes through the first six in this order.
const (
	Queued      Phase = "queued"
	Cloning     Phase = "cloning"
	Configuring Phase = "configuring"
	Starting    Phase = "starting"
	Waiting     Phase = "waiting for the agent"
	Ready       Phase = "ready"

	Creating   Phase = "creating"
	Changing   Phase = "changing"
	Importing  Phase = "importing"
	Moving     Phase = "moving"
	Stopping   Phase = "stopping"
	Destroying Phase = "destroying"
	AwaitsLock Phase = "waiting for its lock"
	Done       Phase = "done"
	Continues  Phase = "goes on" // in the cluster, after an interrupt of the run
	Broken     Phase = "failed"
	Skipped    Phase = "not done" // the run ended before it began, or before it was done
)

// Over reports whether nothing more happens to a row in this phase.
func (p Phase) Over() bool {
	return p == Ready || p == Done || p == Broken || p == Skipped || p == Continues
}

// step is the position of a phase in the creation of a VM.
func (p Phase) step() int {
	for i, q := range [...]Phase{Queued, Creating, Cloning, Configuring, Starting, Waiting, Ready} {
		if p == q {
			return i
		}
	}
	return 0
}
