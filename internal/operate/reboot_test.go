package operate

import (
	"testing"

	"stackgen/internal/power"
	"stackgen/internal/pvesim"
)

// TestRebootThatWouldLeaveVMOff: a VM of which somebody removed what it runs with is not rebooted, and is stopped where that is asked
// for.
func TestRebootThatWouldLeaveVMOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, func(s *pvesim.Seed) {
		for _, g := range s.Guests {
			g.Running = g.VMID > 300 && g.VMID < 400
			if g.VMID == 301 {
				g.Config["usb0"] = "mapping=key"
			}
		}
	})
	const off = "it would not start again: the cluster has no USB mapping key, so Proxmox VE refuses to start it"
	for action, want := range map[string]string{"reboot": off, "shutdown": "would be shut down", "stop": "would be stopped"} {
		planned := w.view().Plan(Request{Action: power.Find(action), VMs: w.view().VMs})
		if planned[0].Text != want || (planned[0].Result == power.Refused) != (want == off) || planned[1].Result != power.Planned {
			t.Errorf("%s: %s %s; %s %s", action, planned[0].Result, planned[0].Text, planned[1].Result, planned[1].Text)
		}
	}
}
