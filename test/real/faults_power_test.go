//go:build unix

package real

import (
	"strings"

	"stackgen/internal/pvesim"
)

// powerFaults are VMs that somebody stopped or started: whether a VM runs is not
// configuration, so no apply changes it.
func powerFaults() []fault {
	return []fault{
		fault{name: "VM stopped on purpose", event: stopVM}.succeedsInBoth(nothingToDo),
		fault{name: "VM started by hand, and its spec does not start it", event: startVM}.succeedsInBoth(nothingToDo),
		fault{name: "VLAN range in the trunks of a NIC", event: setVLANRange}.refusedInBoth("unknown a", "the provider cannot read it"),
		fault{name: "bandwidth limit of a disk with decimals", event: setDecimals}.refusedInBoth("unknown a", "the provider cannot read it"),
		fault{name: "migrate_downtime set by hand", event: setDowntime}.refusedInBoth("unknown a", "the provider cannot read it"),
	}
}

// stopVM stops a VM by hand.
func stopVM(w *faultCase) { w.change(300, func(g *pvesim.Guest) { g.Running = false }) }

// startVM has a spec that does not start a VM, which runs.
func startVM(w *faultCase) {
	w.spec(strings.Replace(faultSpec, "a: {node: pve1,", "a: {node: pve1, started: false,", 1)+faultLast, true)
}

// setVLANRange gives a NIC a range of VLANs by hand.
func setVLANRange(w *faultCase) {
	w.change(300, func(g *pvesim.Guest) { g.Config["net0"] += ",trunks=10;20-30" })
}

// setDecimals limits a disk by hand, as the web interface does.
func setDecimals(w *faultCase) {
	w.change(300, func(g *pvesim.Guest) { g.Config["scsi0"] += ",mbps_wr=100.5" })
}

// setDowntime sets how long a live migration may pause a VM: the server's answer has the
// number as text.
func setDowntime(w *faultCase) {
	w.change(300, func(g *pvesim.Guest) { g.Config["migrate_downtime"] = "0.5" })
}
