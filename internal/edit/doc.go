// Package edit writes properties of VMs into specs: bytes in, bytes out. It inserts
// or replaces only the characters of a property, and keeps every other byte,
// comments and formatting included.
//
// It is pure, and it never guesses: if it cannot edit a form of YAML for certain, it
// returns an error and changes nothing.
package edit
