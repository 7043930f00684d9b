package guard

import (
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/shell"
	"stackgen/internal/tf"
)

// A Use is the lock that a run holds on the state of a unit.
type Use struct {
	Unit      tf.Unit
	Operation string // as OpenTofu names it
	Who       string
	Since     string // empty if it is not known
	ID        string
	Released  bool // the lock ends with the process that holds it
}

// Finding says that the state is in use.
func (u Use) Finding() finding.Finding {
	f := finding.Finding{Address: unitAddress(u.Unit)}
	f.Is(finding.Busy, finding.Why("state-in-use"))
	if u.Operation == "OperationTypeApply" {
		f.Reason = finding.Why("apply-running")
	}
	since := ""
	if u.Since != "" {
		since = " since " + u.Since
	}
	f.Because("%s holds the lock of the state%s: %s", u.Who, since, u.Operation)
	f.Next("wait until it has ended, then run the same command again")
	if !u.Released && u.ID != "" {
		f.Next("or, if that run was killed and its lock is left behind, remove the lock",
			lock.InUnit(u.Unit.Stack, u.Unit.Unit, "terragrunt run -- force-unlock -force "+shell.Word(u.ID)))
	}
	return f
}
