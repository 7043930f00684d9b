// Package drift turns plans into findings: one for each attribute that a plan changes, or
// that something other than an apply has changed since the last one. A finding says what
// the last apply left, what is real, what the spec says and where, what an apply would do
// about it, and what to do.
//
// Whether a change is safe is judged by package guard, by the same table of effects as
// before an apply. Package drift drops nothing: what it cannot explain is a finding of its
// own, and blocks.
//
// It is pure, and concludes nothing from what could not be read.
package drift
