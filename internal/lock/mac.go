package lock

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"stackgen/schema"
)

// macs are the MAC addresses of a VM, by NIC. A NIC has what the spec says; else what the
// lock says; else, if it is new, it gets an address. A VM that may exist already has
// none, because its NICs have addresses that only the cluster knows: one that is
// adopted, and one from a lock before version 3.
func (d *stackDecider) macs(v *schema.VM, was *VM) []string {
	undecided := v.Adopt || was.VMID != 0 && was.MACs == nil
	out := make([]string, len(v.MACs))
	for i, given := range v.MACs {
		switch {
		case given != "":
			out[i] = given
		case undecided:
			continue
		case i < len(was.MACs):
			out[i] = was.MACs[i]
		default:
			out[i] = d.newMAC(v.Key, i)
		}
		if holder := d.takeMAC(out[i], d.stack.Name+"/"+v.Key); holder != "" {
			at := v.Values.Get("networks").List()[i]
			d.vmError(v, at.Pos, v.Path+".networks", schema.CodeMACClash, "choose another MAC address, or give the other VM another one first", "the MAC address %s is recorded for %s", out[i], holder)
		}
	}
	if undecided {
		return nil
	}
	return out
}

// newMAC decides the address of a NIC: the prefix of Proxmox VE, and a hash, so that
// two projects in one network hardly ever choose the same.
func (d *stackDecider) newMAC(key string, nic int) string {
	for attempt := 0; ; attempt++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s/%s\n%d\n%d", d.decider.lock.Project, d.stack.Name, key, nic, attempt))
		mac := fmt.Sprintf("BC:24:11:%02X:%02X:%02X", sum[0], sum[1], sum[2])
		if d.usedMACs[mac] == "" {
			return mac
		}
	}
}

// dropMACs drops the addresses of a lock before version 3. It had those that the spec
// gives, without their NICs.
func (l *Lock) dropMACs() {
	for i := range l.Stacks {
		vms := l.Stacks[i].Value.VMs
		for k := range vms {
			vms[k].Value.MACs = nil
		}
	}
}

// DecidedMACs are the addresses that were decided for a VM, without the NICs whose
// address Proxmox VE chooses.
func (v *VM) DecidedMACs() []string {
	return slices.DeleteFunc(slices.Clone(v.MACs), func(mac string) bool { return mac == "" || mac == schema.AutoMAC })
}

// recordedMACs are the addresses that were decided for a VM, and those that were seen.
func (v *VM) recordedMACs() []string {
	out := v.DecidedMACs()
	if v.Fingerprint != nil {
		out = append(out, v.Fingerprint.MACs...)
	}
	return out
}

// takeMAC reserves a MAC address for a VM. If another VM has it, it returns that.
func (d *decider) takeMAC(mac, holder string) string {
	if mac == "" || mac == schema.AutoMAC {
		return ""
	}
	if other := d.usedMACs[mac]; other != "" && other != holder && !d.shared[mac] {
		return other
	}
	d.usedMACs[mac] = holder
	return ""
}
