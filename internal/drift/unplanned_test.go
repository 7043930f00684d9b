package drift

import (
	"testing"

	"stackgen/internal/finding"
)

// TestSays: a plan has the devices of some lists by number, and a comparison of spec and
// cluster has them by name.
func TestSays(t *testing.T) {
	for _, c := range []struct {
		planned, sets string
		found         finding.Update
		want          bool
	}{
		{"hostpci.0.mapping", "gpu", finding.Update{Attribute: "hostpci.hostpci0.mapping", Is: "gpu"}, true},
		{"hostpci.1.mapping", "gpu", finding.Update{Attribute: "hostpci.hostpci0.mapping", Is: "gpu"}, false},
		{"hostpci.2", "", finding.Update{Attribute: "hostpci.hostpci2", Is: "gpu"}, true},
		{"serial_device.0.device", "socket", finding.Update{Attribute: "serial_device.serial0.device", Is: "socket"}, true},
		{"network_device.1", "", finding.Update{Attribute: "network_device.net1.bridge", Is: "vmbr1"}, true},
		{"initialization.ip_config.0.ipv4.address", "dhcp", finding.Update{Attribute: "initialization.ip_config.ipv4.address", Is: "dhcp"}, true},
		{"disk.scsi0.size", "20", finding.Update{Attribute: "disk.scsi0.size", Is: "20"}, true},
		{"disk.scsi1.size", "20", finding.Update{Attribute: "disk.scsi0.size", Is: "20"}, false},
		{"disk.scsi0", "", finding.Update{Attribute: "disk.scsi0.size", Is: "20"}, true},
		{"disk.scsi0.size", "10", finding.Update{Attribute: "disk.scsi0.size", Is: "20"}, false}, // the plan is older than the spec
		{"memory.dedicated, memory.floating", "2048", finding.Update{Attribute: "memory.floating", Is: "2048"}, true},
		{"memory.dedicated", "2048", finding.Update{Attribute: "memory.dedicated", Is: "4096"}, false},
		{"cpu.cores", "2", finding.Update{Attribute: "cpu.type", Is: "host"}, false},
		{"", "", finding.Update{Attribute: "cpu.type", Is: "host"}, true}, // of all of the VM
	} {
		known := []*finding.Change{{Attribute: c.planned, Spec: c.sets}}
		if got := says(known, c.found); got != c.want {
			t.Errorf("a plan of %q to %q says %s of %s: %v, want %v", c.planned, c.sets, c.found.Is, c.found.Attribute, got, c.want)
		}
	}
}

// TestCommand: a printed command has the path of the spec as one word, or none.
func TestCommand(t *testing.T) {
	for path, want := range map[string]string{"": "stackgen drift", "specs/lab.yaml": "stackgen drift specs/lab.yaml", "specs/my lab.yaml": "stackgen drift 'specs/my lab.yaml'"} {
		if got := command("stackgen drift", path); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
}
