// Package hardware turns the configuration of a VM in Proxmox VE into the
// properties of a spec, and compares the two, to say which line of a spec keeps
// what the VM has. What an apply changes, a plan says.
//
// It reads the table of VM properties in package schema: the entry of the
// configuration, the value that the provider reads without the entry, and the
// value that it uses where the spec has none. It is pure and never changes a VM.
//
// By the same table it says whether a pending value changes anything when the VM
// starts the next time (Waits), and what a clone has that neither its spec nor its
// template says (Unseen). It also finds the entries that the provider cannot decode.
//
// What a spec cannot express gets a reason and, where there are any, the commands
// that change the VM so that a spec can.
package hardware
