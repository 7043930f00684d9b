// Package lock turns a project and the decisions recorded so far into the
// decisions to record: VMIDs, nodes, clone modes, templates, MAC addresses, units. It
// also merges what commands observed into the lock.
//
// A decision is made once. What the lock has and the specs no longer mention never
// disappears silently: Decide refuses, with the steps to choose from.
//
// The package reads and writes bytes, never files, and never reads a cluster. A
// decision that needs the cluster and is not in the lock is a problem.
package lock
