// Package effect turns what an update would change of a VM into what the update does
// to the VM, by the tables in package schema, and says what would harm it.
//
// The changes are those of a plan, with what the provider sends beside them. The state
// that an earlier apply left tells what the spec asks for from what was changed by hand:
// a disk that the state has and the spec does not have any more was removed from the spec.
//
// It is pure, knows no steps, and changes nothing.
package effect
