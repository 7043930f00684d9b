package guard

import (
	"strings"
	"testing"

	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
	"stackgen/schema"
)

func retiringCases() []ruleCase {
	return []ruleCase{
		{"retiring", both, func(s *scene) { s.retire() }, ""},
		{"retiring: not in the cluster", onlyState, func(s *scene) { s.retire() }, ""},
		{"retiring: not in the cluster", nowhere, func(s *scene) { s.retire() }, "stackgen resolve"},
		{"retiring: not in the cluster", nowhere, func(s *scene) { s.retire(); s.entry.Gone = true }, "stackgen render"},
		{"retiring: in no state", onlyGuest, func(s *scene) { s.retire() }, "pvesh delete /nodes/pve1/qemu/100"},
		{"retiring: in no state", onlyGuest, func(s *scene) { s.retire(); s.guest().Config.UUID = "another" }, "pvesh get /nodes/pve1/qemu/100/config"},
		{"retiring: in the state of another VM", onlyGuest, func(s *scene) { s.retire(); s.movedTo("data") }, "forgotten: [web1]"},
		{"conflict: in its state and in another one", both, func(s *scene) { s.retire(); s.movedTo("data") }, "forgotten: [web1]"},
		{"retiring: destroyed already", onlyState, func(s *scene) { s.Destroy = true }, ""},
		{"retiring: destroyed already", onlyState, func(s *scene) { s.Destroy = true; s.renumbered() }, "pvesh get /nodes/pve1/qemu/300/config"},
		{"retiring: not in the cluster", onlyState, func(s *scene) { s.retire(); s.renumbered() }, "pvesh get /nodes/pve1/qemu/300/config"},
		{"none: nothing to destroy", nowhere, func(s *scene) { s.Destroy = true }, ""},
	}
}

// renumbered gives the guest another VMID.
func (s *scene) renumbered() {
	s.entry.Fingerprint = fingerprint("u-web1")
	s.addGuest("u-web1")
}

// movedTo adds a stack whose state has web1.
func (s *scene) movedTo(stack string) {
	s.Project.Stacks = append(s.Project.Stacks, &schema.Stack{Name: stack})
	s.Lock.Stacks = append(s.Lock.Stacks, lock.Entry[lock.Stack]{Key: stack, Value: lock.Stack{
		Units: lock.Ordered[lock.Unit]{{Key: lock.UnitVM}},
	}})
	s.State[tf.VMUnit(stack)] = tf.State{Resources: []tf.Resource{inState("db", 100)}}
}

// TestRetiredElsewhere: no line destroys a retired VM that another stack manages, whether its own state has it or not.
func TestRetiredElsewhere(t *testing.T) {
	for _, from := range []int{onlyGuest, both} {
		c := ruleCase{from: from, change: func(s *scene) { s.retire(); s.movedTo("data") }}
		for _, f := range Judge(c.scene().Input) {
			if f.Type == finding.VM && f.Key == "web1" && (strings.Contains(linesOf(&f), "pvesh delete") || f.Stops() != (from == both)) {
				t.Errorf("%s: %s", f.Kind, linesOf(&f))
			}
		}
	}
}
