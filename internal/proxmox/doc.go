// Package proxmox reads a live Proxmox VE cluster into a cluster.Inventory. It
// sends only GET requests, a login if a password is configured, and the requests of
// WriteDefaults, which add entries to the configuration of a VM; it rejects
// everything else before it is sent. Credentials come from the environment
// variables that the provider reads. No secret enters an inventory or an error.
package proxmox
