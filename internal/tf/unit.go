package tf

import "stackgen/internal/lock"

// A Unit names a unit of a stack.
type Unit struct{ Stack, Unit string }

func (u Unit) String() string { return u.Stack + "/" + u.Unit }

// HasRecords reports whether it is a unit of DNS records.
func (u Unit) HasRecords() bool { return u.Unit != lock.UnitVM && u.Unit != lock.UnitPool }

// VMUnit is the unit of the VMs of a stack.
func VMUnit(stack string) Unit { return Unit{stack, lock.UnitVM} }
