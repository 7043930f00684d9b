// Package operate runs the actions of package power on VMs of the cluster: it reads each VM
// again, sends one call, follows its task, and reports how it ended.
//
// It writes no file and uses no state of OpenTofu. A VM that is another guest now than the
// one that was selected is left as it is.
package operate
