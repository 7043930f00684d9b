// Package guard turns specs, lock, state and cluster into findings: for every VM,
// pool and DNS record what an apply would do to it, whether that is right, the
// evidence, and the next command. Given a plan as well, it refuses every create of
// what exists, and every replacement, destroy or forget that the specs do not ask
// for.
//
// It is pure. It concludes nothing from what could not be read: a state, a guest
// or a DNS answer that is not known makes a finding unknown, not empty. It never
// chooses between several guests.
package guard
