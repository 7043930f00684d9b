package pvesim

// runningMachine is the machine type of running guests.
const runningMachine = "pc-i440fx-9.2+pve1"

// emulatorStatus returns what the emulator of a running guest reports.
func (w *cluster) emulatorStatus(g *Guest) object {
	n := w.node(g.Node)
	if n == nil || !g.Running || n.BareEmulator {
		return nil
	}
	blocks := object{}
	for k := range g.Config {
		if isDriveKey(k) {
			blocks[k] = blockStatus()
		}
	}
	return object{"blockstat": blocks, "diskread": 0, "diskwrite": 0, "running-qemu": qemuVersion, "running-machine": runningMachine,
		"proxmox-support": object{"backup-fleecing": true, "backup-max-workers": true, "pbs-dirty-bitmap": true,
			"pbs-dirty-bitmap-migration": false, "pbs-dirty-bitmap-savevm": false, "pbs-library-version": "1.5.1 (UNKNOWN)",
			"pbs-masterkey": true, "query-bitmap-info": true}}
}

// blockStatus returns the counters of a drive that nothing has used.
func blockStatus() object {
	out := object{"account_failed": true, "account_invalid": true, "timed_stats": []any{}, "wr_highest_offset": 0}
	for _, op := range []string{"flush", "rd", "unmap", "wr", "zone_append"} {
		for _, k := range []string{"failed_" + op + "_operations", "invalid_" + op + "_operations", op + "_operations", op + "_total_time_ns"} {
			out[k] = 0
		}
		if op != "flush" {
			out[op+"_bytes"], out[op+"_merged"] = 0, 0
		}
	}
	return out
}
