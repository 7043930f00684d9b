// Package replay replays recorded exchanges of a genuine Proxmox VE server against
// the simulator and reports where the responses differ. It infers the initial
// state of the simulator from the recording, but never takes a response from it.
// Times, identifiers, addresses and resource usage vary between any two runs, so
// only their types are compared.
package replay
