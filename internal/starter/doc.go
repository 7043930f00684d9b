// Package starter turns the inventory of a cluster into the example spec of a new
// project, which can be applied to that cluster as it is, and into the commands that make
// a template where there is none. It writes nothing. What the cluster calls its nodes,
// storages and bridges becomes text of the spec, never structure.
package starter
