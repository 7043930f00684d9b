// Package resolve records in the lock what only the cluster and the states know: what
// identifies each VM and each state, which addresses left the state, and which retired
// VMs do not exist any more. It also has package placement decide what only the cluster
// knows.
//
// It decides again only what it is told to, and then renders. Otherwise it writes
// nothing but the lock. Observations go into the lock as it is on disk, so it also
// records them where a render is refused.
package resolve
