package effect

import (
	"testing"

	"stackgen/internal/tf"
)

// TestPower: the provider stops a running VM if its spec says so and its profile does not ignore it, also if it may not
// restart the VM.
func TestPower(t *testing.T) {
	start, stop := tf.Change{Path: "started", Was: "false", Is: "true"}, tf.Change{Path: "started", Was: "true", Is: "false"}
	for name, c := range map[string]struct {
		vm     VM
		change tf.Change
		does   string
		harm   Harm
	}{
		"start":                      {VM{}, start, startsVM, ""},
		"start of one that runs":     {VM{Running: true}, start, atOnce, ""},
		"stop":                       {VM{Running: true, Answers: true}, stop, stopsVM, Stops},
		"stop, the provider may not": {VM{Running: true}, stop, stopsVMHard, Stops},
		"stop, permitted":            {VM{Running: true, Answers: true, Permits: true}, stop, stopsVM, ""},
		"stop, permitted, no agent":  {VM{Running: true, Permits: true}, stop, stopsVMHard, ""},
		"stop of one that is off":    {VM{}, stop, atOnce, ""},
	} {
		u := c.vm.Updates([]tf.Change{c.change})[0]
		if u.Does != c.does || u.Harm != c.harm {
			t.Errorf("%s: got %q, %q, want %q, %q", name, u.Does, u.Harm, c.does, c.harm)
		}
		if stops := c.does == stopsVM || c.does == stopsVMHard; u.Interrupts() != (stops && c.harm == "") {
			t.Errorf("%s: interrupts the VM: %v", name, u.Interrupts())
		}
	}
}
