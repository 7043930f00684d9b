// Package cluster defines the inventory of a Proxmox VE cluster, and matches the
// VMs of a project with its guests. A match is never a guess.
//
// The package is pure: package proxmox reads a cluster, package guard judges
// the matches, and package feasible says what a VM needs.
package cluster
