package lock

import "stackgen/internal/finding"

// Restore is the command that restores the committed lock. What the lock on disk has stays in a stash: decisions that
// were not committed are nowhere else.
const Restore = "git stash push -- " + File

// An Other is the lock of another project.
type Other struct {
	File string // as shown
	*Lock
}

// OtherProject refuses the lock for a stack if it is that of another project than the one with the id
// rendered, which root.hcl has: it has other VMs, maybe with the same keys. It returns nil where
// one of them has no id.
func (l *Lock) OtherProject(stack, rendered string) *finding.Finding {
	if rendered == "" || l.Project == "" || rendered == l.Project {
		return nil
	}
	f := &finding.Finding{Address: finding.Address{Stack: stack, Type: finding.Stack}}
	f.Is(finding.OtherState, finding.Why("lock-of-other-project")).
		Because("the id of the project is %s in the lock, and %s in root.hcl", l.Project, rendered)
	f.Next("restore the lock of this project", Restore)
	return f.Next("or, if the lock is the right one, and the files are another project's, remove that file", "rm root.hcl", "stackgen render")
}
