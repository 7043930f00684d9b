// Package hardware turns the configuration of a VM or a container in Proxmox VE
// into the properties of a spec, and compares the two, to say which line of a spec
// keeps what it has. What an apply changes, a plan says.
//
// It reads the tables of properties in package schema: the entry of the
// configuration, the value that the provider reads without the entry, and the
// value that it uses where the spec has none. It is pure and never changes a guest.
// Of a container it reads nothing that every profile ignores.
//
// By the same table it says whether a pending value changes anything when the VM
// starts the next time (Waiting), and what a clone has that neither its spec nor its
// template says (Unseen). It also finds the entries that the provider cannot decode.
//
// What a spec cannot express gets a reason and, where there are any, the commands
// that change the VM so that a spec can.
package hardware
