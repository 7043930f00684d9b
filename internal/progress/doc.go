// Package progress is the model of a running apply or destroy: what happened comes
// in as events, and a board of rows, one for each VM, pool and record, with totals
// and an estimate comes out.
//
// Events come from two sources: the stream of OpenTofu (`-json-into`, see Parse),
// which says when a resource begins and ends, and the tasks of the cluster (see
// Task), which say what happens in between. Either may be late, incomplete or absent.
// Explain translates an error of the provider or of Proxmox VE.
//
// The package reads no clock: times are seconds since the start of the run, and the
// caller passes them in.
package progress
