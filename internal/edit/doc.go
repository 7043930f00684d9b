// Package edit writes properties of VMs into specs, and takes students out of rosters:
// bytes in, bytes out. It changes only the characters of a property or a student, and
// keeps every other byte, comments and formatting included.
//
// It is pure, and it never guesses: if it cannot edit a form of YAML for certain, it
// returns an error and changes nothing. Each changed file is parsed again: what was not
// to be edited must say the same as before.
package edit
