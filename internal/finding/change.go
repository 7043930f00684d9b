package finding

import (
	"fmt"

	"stackgen/internal/pve"
)

// A Change is one attribute, block or device of a resource that a plan changes, or that
// differs from what the last apply left. Values are empty where there is none.
type Change struct {
	Attribute string `json:"attribute"`           // in HCL, with its device: disk.scsi0.size; empty for the whole resource
	Property  string `json:"property,omitempty"`  // in the words of the spec: size of scsi0
	Unit      string `json:"unit,omitempty"`      // of the values: MiB, GiB
	Applied   string `json:"applied,omitempty"`   // what the last apply left
	Real      string `json:"real,omitempty"`      // what Proxmox VE or the DNS server has
	Spec      string `json:"spec,omitempty"`      // what an apply would set
	Sensitive bool   `json:"sensitive,omitempty"` // the values are not shown
	Effect    string `json:"effect,omitempty"`    // of the table of effects
	Does      string `json:"does,omitempty"`      // in words: after a restart
	Cause     Cause  `json:"cause"`
	At        *Place `json:"at,omitempty"`        // of the property in the spec, or of the VM if the value is a default
	By        []Act  `json:"by,omitempty"`        // who may have changed it by hand, the last first
	Accept    string `json:"accept,omitempty"`    // the line of a spec that says what is real; empty if none does
	NoAccept  string `json:"no_accept,omitempty"` // why there is no such line
	Known     *Known `json:"known,omitempty"`     // the entry of the baseline that allows it
	Unplanned bool   `json:"-"`                   // no plan shows it, and neither spec nor template says it
	Undo      string `json:"-"`                   // of what is Unplanned: the command that changes it back, or empty
}

// A Cause is what made a plan differ from what is real.
type Cause string

// The causes. A Change of both was made by hand, and its spec was changed, too.
const (
	BySpec   Cause = "spec"    // the spec was changed, and not applied
	ByHand   Cause = "hand"    // something other than an apply changed it
	ByBoth   Cause = "both"    // both
	ByNobody Cause = "nobody"  // it is only read, or only in the state
	NotKnown Cause = "unknown" // what the last apply left is not known
)

// A Place is where a spec says something.
type Place struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

func (p Place) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// An Act is one task that changed a guest, by the log of the cluster.
type Act struct {
	Time string `json:"time"` // RFC 3339, UTC
	User string `json:"user"`
	Task string `json:"task"` // qmconfig, resize, qmigrate
	Node string `json:"node"`
}

// String says who did it, and when. A rollback to a snapshot is what `stackgen reset` does.
func (a Act) String() string {
	what := a.Task
	if pve.OperationOf(what) == pve.Rollback {
		what = "a reset to a snapshot (" + what + ")"
	}
	return fmt.Sprintf("%s by %s, %s", what, a.User, a.Time)
}

// A Known is the entry of a baseline about a difference.
type Known struct {
	Reason  string `json:"reason"`
	Expires string `json:"expires"` // the last day: 2026-12-31
	Expired bool   `json:"expired,omitempty"`
}
