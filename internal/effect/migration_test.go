package effect

import (
	"testing"

	"stackgen/internal/tf"
)

// TestDevicesOfMigration: the provider stops a VM before it migrates it, to remove the devices that the same update changes
// or removes. It does not do that to a running VM that the HA manager has.
func TestDevicesOfMigration(t *testing.T) {
	node := tf.Change{Path: "numa.cpus", Device: "numa0", Was: "0", Is: "0-1"}
	permits := VM{Running: true, Migrates: true, Answers: true, Restarts: true, Permits: true}
	for name, c := range map[string]struct {
		vm     VM
		change tf.Change
		does   string
		harm   Harm
	}{
		"changed, permitted":     {permits, node, stops, ""},
		"changed, not permitted": {VM{Running: true, Migrates: true}, node, "needs the VM off", Stops},
		"changed, off":           {VM{Migrates: true}, node, atOnce, ""},
		"changed, HA":            {VM{Running: true, Migrates: true, HA: true, Permits: true}, node, "fails", Apart},
		"changed, HA, off":       {VM{Migrates: true, HA: true}, node, atOnce, ""},
		"changed, no migration":  {VM{Running: true, HA: true}, node, afterRestart, ""},
		"removed":                {VM{Running: true, Migrates: true}, tf.Change{Path: "hostpci", Device: "0", Was: "mapping=gpu", Whole: true}, "needs the VM off", Stops},
		"added":                  {VM{Running: true, Migrates: true}, tf.Change{Path: "usb", Device: "0", Is: "host=spice", Whole: true}, atOnce, ""},
		"USB, permitted":         {permits, tf.Change{Path: "usb.usb3", Device: "0", Was: "false", Is: "true"}, stops, ""},
		"memory":                 {VM{Running: true, Migrates: true, HA: true}, tf.Change{Path: "memory.dedicated", Was: "1024", Is: "2048"}, afterRestart, ""},
	} {
		if u := c.vm.Updates([]tf.Change{c.change})[0]; u.Does != c.does || u.Harm != c.harm {
			t.Errorf("%s: got %q, %q, want %q, %q", name, u.Does, u.Harm, c.does, c.harm)
		}
	}
}
