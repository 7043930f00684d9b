package effect

import (
	"testing"

	"stackgen/internal/tf"
)

// TestNeedlessRestartsAreHarm: after an import, an update may set only what the VM has.
func TestNeedlessRestartsAreHarm(t *testing.T) {
	settles := []string{"agent", "vga"}
	display := tf.Change{Path: "vga", Is: "as it is", Whole: true, Present: true}
	timeout := tf.Change{Path: "agent.timeout", Is: "40s", Present: true}
	for name, c := range map[string]struct {
		changes []tf.Change
		off     bool
		want    Harm
	}{
		"settles only":               {changes: []tf.Change{display, timeout}, want: Needless},
		"and gets another name":      {changes: []tf.Change{display, {Path: "name", Was: "a", Is: "b"}}, want: Needless},
		"and a disk grows":           {changes: []tf.Change{display, {Path: "disk.size", Device: "scsi0", Was: "8", Is: "10"}}, want: Needless},
		"and gets memory":            {changes: []tf.Change{display, {Path: "memory.dedicated", Was: "2048", Is: "3072"}}},
		"timeout of an import":       {changes: []tf.Change{{Path: "agent.timeout", Was: "15m", Is: "40s"}}, want: Needless},
		"timeout that is changed":    {changes: []tf.Change{{Path: "agent.timeout", Was: "20s", Is: "40s"}}},
		"option of the agent":        {changes: []tf.Change{timeout, {Path: "agent.trim", Was: "false", Is: "true"}}},
		"block that does not settle": {changes: []tf.Change{{Path: "serial_device", Is: "as it is", Whole: true, Present: true}}},
		"settles only, off":          {changes: []tf.Change{display, timeout}, off: true},
	} {
		t.Run(name, func(t *testing.T) {
			vm := VM{Running: !c.off, Restarts: true, Permits: true}
			updates := RefuseNeedless(vm.Updates(c.changes), settles)
			if got := updates[0].Harm; got != c.want {
				t.Errorf("%s: %q, want %q", updates[0], got, c.want)
			}
		})
	}
}
