// Package power has the actions that start and stop VMs and containers, those on their
// snapshots, and the backup: from which state Proxmox VE takes each, and what a guest does
// afterwards. A VM in what follows is a container, too, unless it says otherwise.
//
// It sends nothing; package operate does.
package power
