// Package edit writes decisions into specs: bytes in, bytes out. It inserts or
// replaces the few characters that a decision takes and leaves every other byte
// as it was, comments and formatting included.
//
// It is pure, and it never guesses: where a spec is written in a way that it
// cannot edit for certain, that is an error, and nothing is changed.
package edit
