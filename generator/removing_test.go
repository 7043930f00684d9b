package generator

import (
	"strings"
	"testing"
)

// TestRemovingIsHCL: the override leaves out the disks that are named, of the VMs that are
// named.
func TestRemovingIsHCL(t *testing.T) {
	body := Removing(map[string][]string{"web10": {"scsi2"}, "web2": {"virtio0", "scsi1"}})
	if err := parse("removing.tf", body); err != nil {
		t.Fatalf("%s\n%s", err, body)
	}
	for _, want := range []string{`disk if !contains(try({ web2 = ["virtio0", "scsi1"], web10 = ["scsi2"] }[key], []), disk.interface)`, "reboot_after_update ="} {
		if !strings.Contains(string(body), want) {
			t.Errorf("no %s in\n%s", want, body)
		}
	}
}
