//go:build unix

package real

import (
	"net/url"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// TestDriveOptions changes options of the disk of a running VM: what the summary says of each
// is what the server does. A VM made by hand lacks options that the provider sends with them.
func TestDriveOptions(t *testing.T) {
	t.Parallel()
	for _, option := range []string{"speed: {read: 100}", "backup: false", "replicate: false", "serial: A1"} {
		for _, byHand := range []bool{false, true} {
			name, _, _ := strings.Cut(option, ":")
			says := name + " of scsi0 (at once)"
			if byHand {
				says = "(after a restart)"
			}
			t.Run(strings.ReplaceAll(option+says, " ", "-"), func(t *testing.T) {
				t.Parallel()
				p, sim := diskProject(t, disksOf(8))
				if byHand {
					sim.Change(func(s *pvesim.Seed) {
						for _, g := range s.Guests {
							if g.VMID == 300 {
								volume, _, _ := strings.Cut(g.Config["scsi0"], ",")
								g.Config["scsi0"] = volume + ",size=8G"
							}
						}
					})
				}
				p.edit("disks: [{interface: scsi0, size: 8, datastore: shared, " + option + "}]")
				out := p.deployed(0, "apply --yes", "live is as its spec says")
				if says = strings.ReplaceAll(says, " of scsi0 ", ""); !strings.Contains(strings.ReplaceAll(out, " of scsi0 ", ""), says) || byHand == strings.Contains(out, "at once") {
					t.Errorf("%q is not said\n%s", says, out)
				}
				pending := false
				for _, x := range callAPI(t, sim, "GET", "/nodes/pve1/qemu/300/pending", nil).([]any) {
					entry := x.(map[string]any)
					pending = pending || entry["key"] == "scsi0" && entry["pending"] != nil
				}
				if pending != byHand {
					t.Errorf("pending: %v, want %v", pending, byHand)
				}
			})
		}
	}
}

// TestChangesOfStoppedVM: what Proxmox VE has at once does not wait until the VM starts.
func TestChangesOfStoppedVM(t *testing.T) {
	t.Parallel()
	p, sim := diskProject(t, disksOf(8, 5))
	callAPI(t, sim, "POST", "/nodes/pve1/qemu/300/status/stop", url.Values{})
	p.edit("description: new, on_boot: false, tags: [web], memory: 3072, " + disksOf(9))
	p.deployed(0, "apply --yes", "description, size of scsi0, scsi1, on_boot, tags (at once), memory (when it starts)", "live is as its spec says")
}
