// Package register writes the outputs of stacks to files: it reads the states, and the
// cluster where that is asked for, and package outputs turns them into files.
//
// It computes all files of all stacks before it writes the first one. It needs no
// rendered file and changes none.
package register
