// Package replay plays recorded exchanges of a genuine Proxmox VE server
// against the simulator and says where the answers differ. What a recording
// shows of the world it starts in becomes the simulator's seed; the answers are
// never taken from it. Times, identifiers, addresses and figures of use vary
// between any two runs and are compared by type alone.
package replay
