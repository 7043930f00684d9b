// Package shell turns text into words of a POSIX shell, so that a printed command
// can be pasted, and names the folder that it is for.
package shell
