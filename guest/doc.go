// Package guest says what a guest of Proxmox VE is: its kinds, with how the API, the
// provider and the tools of a node name them, and the names of the properties that
// decisions are about.
//
// It reads nothing and decides nothing.
package guest
