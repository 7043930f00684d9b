// Package adopt turns what a person says about the VMs of a spec, what the cluster
// has and what states hold into changes of the spec: which VM of the cluster a VM
// is, and what hardware it has.
//
// It writes nothing before the changed specs are read again and found to say what
// was asked for. It never guesses: a VM that it cannot change for certain is left
// as it is, with a finding that says why.
package adopt
