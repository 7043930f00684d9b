// Package tf reads what OpenTofu says: the states of units, and plans. A unit is named by
// its stack and its own name.
//
// It is pure, and judges nothing: what a plan may do is the affair of package guard.
package tf
