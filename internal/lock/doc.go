// Package lock turns a project and the decisions recorded so far into the
// decisions to record: VMIDs, nodes, clone modes, templates, units.
//
// A decision is made once. What the lock holds and the specs no longer mention
// never leaves silently: Decide refuses and says which ways out there are.
//
// The package reads and writes bytes, never files, and never asks a cluster:
// what only a cluster knows and the lock lacks is a problem that names
// `stackgen resolve`.
package lock
