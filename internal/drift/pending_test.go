package drift

import (
	"testing"

	"stackgen/guest"
)

// TestPendingAttribute prevents that an entry of a container is shown as the attribute that a VM has for it,
// or by its own name.
func TestPendingAttribute(t *testing.T) {
	for _, c := range []struct {
		kind             guest.Kind
		entry, attribute string
	}{
		{guest.VM, "memory", "memory.dedicated"},
		{guest.VM, "net1", "network_device.net1"},
		{guest.VM, "args", "kvm_arguments"},
		{guest.VM, "tdf", "tdf"},
		{guest.Container, "cores", "cpu.cores"},
		{guest.Container, "cpulimit", "cpu.limit"},
		{guest.Container, "swap", "memory.swap"},
		{guest.Container, "hostname", "initialization.hostname"},
		{guest.Container, "net1", "network_interface.net1"},
		{guest.Container, "mp0", "mount_point"},
		{guest.Container, "cmode", "console"},
		{guest.Container, "dev0", "device_passthrough"},
	} {
		if got := attributeOf(c.kind, c.entry).Attribute(); got != c.attribute {
			t.Errorf("%s of a %s: %s, want %s", c.entry, c.kind.Name(), got, c.attribute)
		}
	}
}
