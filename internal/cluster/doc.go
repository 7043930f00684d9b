// Package cluster defines the inventory of a Proxmox VE cluster, and matches the
// VMs of a project with its guests. A match is never a guess. It also says what a VM
// needs that the cluster does not have, so that its creation would fail, and how that is
// put right.
//
// The package is pure: package proxmox reads a cluster, package guard judges the
// matches.
package cluster
