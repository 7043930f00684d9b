// Package clock provides the time of the simulator: real time, time at a multiple
// of real time, or virtual time that only moves when it is set.
package clock
