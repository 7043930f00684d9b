// Package lab is the cluster of the suites: its address, the resources that they may
// use, its content, and how to remove what they created. It uses the cluster's API
// directly, so that a suite does not rely on stackgen, the provider or an output.
package lab
