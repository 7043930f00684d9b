package drift

import "testing"

// TestOfList: devices have their names in a comparison of spec and cluster, and not in a plan.
func TestOfList(t *testing.T) {
	for name, want := range map[string]string{
		"mapping of hostpci0": "hostpci.mapping",
		"hostpci2":            "hostpci",
		"cpus of numa1":       "numa_nodes.cpus",
		"device of serial0":   "serial.device",
		"mapping of usb1":     "usb.mapping",
		"memory":              "memory",
		"size of scsi0":       "size of scsi0",
	} {
		if got := ofList(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
