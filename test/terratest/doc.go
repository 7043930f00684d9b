// Package terratest holds the suites that take whole stacks through their lives
// on a cluster: a simulated one by default, a genuine one with STACKGEN_LIVE=1.
// docs/testing.md says what they need, make and remove.
package terratest
