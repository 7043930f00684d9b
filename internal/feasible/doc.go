// Package feasible says what the creation of a VM or container, or an update or the migration of a VM needs that
// the cluster or the token does not have, so that it would fail, and how that is put right.
// What cannot be read is no obstacle.
package feasible
