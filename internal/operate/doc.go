// Package operate reads the cluster for the VMs and containers that a command line means, and runs the
// actions of package power on them: it plans which VMs get a call, reads each one again,
// sends the call, follows its task, and reports how it ended. For a rebuild that keeps disks,
// it gives a VM the new disks of a clone in place of those that it loses.
//
// It writes no file and uses no state of OpenTofu. A VM that is another guest now than the
// one that was selected is left as it is.
package operate
