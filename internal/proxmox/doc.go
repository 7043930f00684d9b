// Package proxmox reads a live Proxmox VE cluster into a cluster.Inventory. It
// sends only GET requests, and a login if a password is configured; it rejects
// everything else before it is sent. Credentials come from the environment
// variables that the provider reads. No secret enters an inventory or an error.
package proxmox
