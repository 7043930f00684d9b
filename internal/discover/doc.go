// Package discover turns the VMs and containers of a cluster that are in no spec into specs: one
// stack for each pool, else for each tag, else one for the rest. What most VMs of a stack have in
// common is in its defaults, as is what most containers have, and each has only what differs.
//
// It is pure. Every spec that it proposes was joined with what it inherits, and compared
// with the VMs: a VM whose spec does not say all that the VM has is in profile adopted, with
// the reason. Names, tags and other text of the cluster become keys only after everything
// else than letters, digits and hyphens was removed, and values only if the tables of
// properties accept them.
package discover
