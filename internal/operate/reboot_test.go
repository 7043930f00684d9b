package operate

import (
	"context"
	"fmt"
	"net/url"
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

// TestResetThatWouldLeaveVMOff: a checkpoint has a NIC on a bridge that is gone since. A VM that runs is not taken back to it; one
// that is off is, and stays off.
func TestResetThatWouldLeaveVMOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, func(s *pvesim.Seed) {
		s.Nodes[0].Bridges = append(s.Nodes[0].Bridges, "vmbr9")
		for _, g := range s.Guests {
			if g.VMID == 301 || g.VMID == 302 {
				g.Config["net1"] = fmt.Sprintf("virtio=BC:24:11:00:09:%02X,bridge=vmbr9", g.VMID-300)
			}
		}
	})
	for i := range w.lock.Stacks[0].Value.VMs {
		f := w.lock.Stacks[0].Value.VMs[i].Value.Fingerprint
		f.MACs = append(f.MACs, fmt.Sprintf("BC:24:11:00:09:%02X", i+1))
	}
	w.want(w.saves("baseline"), "done given the checkpoint baseline", "done given the checkpoint baseline")
	for vmid := 301; vmid <= 302; vmid++ {
		w.sets(vmid, url.Values{"delete": {"net1"}})
	}
	w.sim.Change(func(s *pvesim.Seed) { s.Nodes[0].Bridges = []string{"vmbr0"} })
	v := w.view()
	v.VMs = v.VMs[:1]
	w.want(w.does(context.Background(), v, "start"), "done started")
	w.want(w.resets("baseline"), "refused it would not start again as it was at baseline of TIME: node pve1 has no bridge or virtual network vmbr9",
		"done reset to baseline of TIME, and stopped")
	if got := w.running(); got != "301" {
		t.Errorf("%s run", got)
	}
}
