// Package power has the actions that start and stop VMs, those on their snapshots, and the
// backup: from which state Proxmox VE takes each, and what a VM does afterwards.
//
// It sends nothing; package operate does.
package power
