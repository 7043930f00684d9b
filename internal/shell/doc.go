// Package shell turns text into words of a POSIX shell, so that a printed command
// can be pasted.
package shell
