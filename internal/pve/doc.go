// Package pve turns what Proxmox VE says into values, and values into what Proxmox VE
// reads: the entries of a guest's configuration, and their parts. It knows no spec, and
// decides nothing.
package pve
