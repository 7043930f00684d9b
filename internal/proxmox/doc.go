// Package proxmox turns a live Proxmox VE cluster into a cluster.Inventory. It
// only ever reads: whatever is not a GET is refused before it leaves, but for a
// login with a password. Credentials come from the environment, as the provider
// reads them; no secret enters an inventory or an error.
package proxmox
