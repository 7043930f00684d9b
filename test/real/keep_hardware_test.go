//go:build unix

package real

import (
	"net/url"
	"strings"
	"testing"
)

// TestKeptHardwareIsAllThatIsKept: the cloud-init drive is on the datastore of the first disk.
// The lines that keep a disk which somebody has moved leave the drive where it is, and nothing
// is left to do.
func TestKeptHardwareIsAllThatIsKept(t *testing.T) {
	t.Parallel()
	p, sim := diskProject(t, "agent: false, cloud_init: {user: ops}, "+disksOf(8))
	callAPI(t, sim, "POST", "/nodes/pve1/qemu/300/move_disk", url.Values{"disk": {"scsi0"}, "storage": {"local-lvm"}, "delete": {"1"}})
	blocked := p.deployed(3, "preflight --verbose", "would move a disk back")
	var lines []string
	for line := range strings.Lines(blocked) {
		if text, _, ours := strings.Cut(strings.TrimSpace(line), "  # vms.a"); ours && (strings.HasPrefix(text, "disks: ") || strings.HasPrefix(text, "cloud_init: ")) {
			lines = append(lines, text)
		}
	}
	if len(lines) != 2 {
		t.Fatalf("%q\n%s", lines, blocked)
	}
	p.edit("agent: false, " + strings.Join(lines, ", "))
	p.deployed(0, "preflight", "state and cluster agree")
	p.deployed(0, "apply --yes", "nothing to do")
}
