// Package health waits until VMs are healthy that were just made: they run, their agents answer,
// and their TCP ports accept a connection. It writes nothing. Every connection, reading and clock
// is given to it, or is the one of this machine.
package health
