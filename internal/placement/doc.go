// Package placement turns what a cluster has into the decisions of a lock that need
// it: the VMID and node of a template, the clone mode, and the node of each VM.
//
// It reads nothing, and what it is given decides alone: the same project, lock and
// snapshot give the same decisions. It never changes a decision that the lock has.
package placement
