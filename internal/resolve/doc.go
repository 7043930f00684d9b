// Package resolve records in the lock what only the cluster and the states know: what
// identifies each VM and each state, which addresses left the state, and which retired
// VMs do not exist any more.
//
// It makes no decision, and it writes nothing but the lock. It works on the lock as it
// is on disk, so it also runs where a render is refused.
package resolve
