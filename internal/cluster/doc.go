// Package cluster holds what one look at a Proxmox VE cluster found, and turns
// it and the VMs of a project into matches: which guest is which VM.
//
// It is pure: reading a cluster is package proxmox's work, judging what was
// found is package guard's. A match is never a guess.
package cluster
