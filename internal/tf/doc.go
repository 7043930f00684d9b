// Package tf reads what OpenTofu says: the states of units, and plans, each change of which it
// classifies once. A unit is named by its stack and its own name. Change is the one type for a
// value, block or device that changes, whoever compared it.
//
// It is pure, and judges nothing: package effect says what a change does to a VM, and package
// guard what a plan may do.
package tf
