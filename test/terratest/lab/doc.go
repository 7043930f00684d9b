// Package lab is the cluster that the suites work on: where it is, what of it
// they may use, what is on it, and how what they made is removed. It speaks to
// the cluster's API by itself, so that a suite never has to believe stackgen,
// the provider or an output.
package lab
