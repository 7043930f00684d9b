// Package terratest has suites that create, change and destroy whole stacks on a
// cluster: a simulated one by default, a real one with STACKGEN_LIVE=1.
// docs/guides/own-cluster.md describes what they need, create and remove.
package terratest
