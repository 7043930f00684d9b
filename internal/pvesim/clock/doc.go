// Package clock gives the simulator its time: the machine's own, faster or
// slower by a factor, or one that only moves when told. It turns "wait until"
// into a pause and never decides what happens when.
package clock
