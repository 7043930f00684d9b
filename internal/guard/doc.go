// Package guard turns specs, lock, state and cluster into findings: for every VM,
// pool and DNS record which guest it is, whether an apply can do what it must, the
// evidence, and the next command. Given a plan as well, it says what that changes,
// and refuses every create of what exists, every replacement, destroy or forget
// that the specs do not ask for, and what harms a VM. What an apply changes, only
// a plan says.
//
// It is pure. It concludes nothing from what could not be read: a state, a guest
// or a DNS answer that is not known makes a finding unknown, not empty. It never
// chooses between several guests.
package guard
