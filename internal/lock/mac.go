package lock

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/schema"
)

// macs are the MAC addresses of a VM, by NIC. A NIC has what the spec says; else what the
// lock says; else, if it is new, it gets an address. A VM that may exist already has
// none, because its NICs have addresses that only the cluster knows: one that is
// or was adopted.
func (d *stackDecider) macs(v *schema.VM, was *VM) []string {
	undecided := !v.IsContainer() && (v.Adopt || was.VMID != 0 && was.MACs == nil)
	out, had := make([]string, len(v.MACs)), earlierNICs(v, was)
	for i, given := range v.MACs {
		switch {
		case given != "":
			out[i] = given
		case undecided:
			continue
		case had[i] >= 0:
			out[i] = was.MACs[had[i]]
		case was.VMID != 0:
			out[i] = d.newMAC(v, i, Networks(v)[i])
		default:
			out[i] = d.newMAC(v, i, "")
		}
		if holder := d.takeMAC(out[i], d.stack.Name+"/"+v.Key); holder != "" {
			at := v.Values.Get(guest.Networks).List()[i]
			d.vmError(v, at.Pos, v.Path+".networks", schema.CodeMACClash,
				"choose another MAC address, or give the other guest another one first",
				"the MAC address %s is recorded for %s", out[i], holder)
		}
	}
	if undecided {
		return nil
	}
	return out
}

// Networks are what the NICs of a VM are connected to, such as vmbr0 or vmbr0.20.
func Networks(v *schema.VM) []string {
	out := []string{}
	for _, n := range v.Values.Get(guest.Networks).List() {
		out = append(out, strings.TrimSuffix(n.Get(guest.Bridge).Str()+"."+n.Get(guest.VLAN).Str(), "."))
	}
	return out
}

// defaultNetworks are the networks that the lock leaves out: those of a VM whose spec says
// nothing of its networks.
func defaultNetworks() []string {
	return []string{schema.FieldAt(guest.VM, guest.Networks+"."+guest.Bridge).Default}
}

// earlierNICs are, for each NIC of a VM, the number that it had in the lock, or -1. A NIC
// is the same one if it has the same address in the spec, or is connected to the same
// network; else, if no NIC has got another number, it is the one that had its number. So a
// NIC keeps its address if another one is added or removed before it.
func earlierNICs(v *schema.VM, was *VM) []int {
	out, taken, is := slices.Repeat([]int{-1}, len(v.MACs)), make([]bool, len(was.MACs)), Networks(v)
	take := func(same func(i, k int) bool) {
		for i := range out {
			for k := range was.MACs {
				if out[i] < 0 && !taken[k] && same(i, k) {
					out[i], taken[k] = k, true
				}
			}
		}
	}
	take(func(i, k int) bool { return v.MACs[i] == was.MACs[k] && v.MACs[i] != "" && v.MACs[i] != schema.AutoMAC })
	if len(was.Networks) == len(was.MACs) {
		same := func(i, k int) bool { return is[i] == was.Networks[k] && out[i] < 0 && !taken[k] }
		at := func(i, k int) bool { return i == k }
		if len(out) != len(taken) {
			inPlace := inOrder(len(out), len(taken), same)
			at = func(i, k int) bool { return k == inPlace[i] }
		}
		take(func(i, k int) bool { return at(i, k) && same(i, k) })
		take(same)
	}
	shifted := false
	for i, k := range out {
		shifted = shifted || k >= 0 && k != i
	}
	take(func(i, k int) bool { return i == k && !shifted })
	return out
}

// inOrder are, for each of n items, which of the m before it is the same one, or -1: as many
// as there can be without changing the order of any.
func inOrder(n, m int, same func(i, k int) bool) []int {
	most := make([][]int, n+1) // how many there can be from i and k on
	for i := range most {
		most[i] = make([]int, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		for k := m - 1; k >= 0; k-- {
			if most[i][k] = max(most[i+1][k], most[i][k+1]); same(i, k) {
				most[i][k] = max(most[i][k], most[i+1][k+1]+1)
			}
		}
	}
	out := slices.Repeat([]int{-1}, n)
	for i, k := 0, 0; i < n && k < m; {
		switch {
		case same(i, k) && most[i][k] == most[i+1][k+1]+1:
			out[i] = k
			i, k = i+1, k+1
		case most[i][k] == most[i+1][k]:
			i++
		default:
			k++
		}
	}
	return out
}

// newMAC decides the address of a NIC: the prefix of Proxmox VE, and a hash, so that
// two projects in one network hardly ever choose the same. A NIC that a VM gets later has
// its network in the hash: it does not get the address of one that had its number. A student
// is in the hash where the key does not say who it is: on two branches, two students can get one
// key, and the addresses tell whose VM exists.
func (d *stackDecider) newMAC(v *schema.VM, nic int, network string) string {
	of := d.stack.Name + "/" + v.Key
	if v.Whose != "" {
		of += "\n" + v.Whose
	}
	for attempt := 0; ; attempt++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%d%s\n%d", d.decider.lock.Project, of, nic, network, attempt))
		mac := fmt.Sprintf("BC:24:11:%02X:%02X:%02X", sum[0], sum[1], sum[2])
		if d.usedMACs[mac] == "" {
			return mac
		}
	}
}

// DecidedMACs are the addresses that were decided for a VM, without the NICs whose
// address Proxmox VE chooses.
func (v *VM) DecidedMACs() []string {
	return slices.DeleteFunc(slices.Clone(v.MACs), func(mac string) bool { return mac == "" || mac == schema.AutoMAC })
}

// RecordedMACs are the addresses that were decided for a VM, and those that were seen.
func (v *VM) RecordedMACs() []string {
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
