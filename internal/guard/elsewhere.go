package guard

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/pve"
	"stackgen/internal/shell"
)

// restored is a VM whose VMID no guest has, while another guest has its identity.
// Creating or restoring it once more would make two of it.
func (s *subject) restored() bool {
	copies := slices.DeleteFunc(slices.Clone(s.match.Copies), func(c cluster.Copy) bool { return !c.Seen || c.Kind != guest.VM })
	if len(copies) == 0 {
		return false
	}
	s.Is(finding.Gone, "it exists under another VMID: restored from a backup, or cloned by hand with its MAC")
	s.Because("no guest has VMID %d", s.VMID)
	for _, c := range copies {
		s.listed[c.VMID] = true
		s.Candidates = append(s.Candidates, c.VMID)
		s.Because("%s: %s", sharing(c), Describe(c.Guest))
		if s.hasEntry() {
			s.Next(fmt.Sprintf("if VM %d is this VM, use it: %sadopt it, and import it", c.VMID, s.removeFirst()), s.adoptCopy(c)...)
		} else {
			s.Next(fmt.Sprintf("a VM of a group or class cannot have another VMID: if VM %d is this VM, restore it under VMID %d, and destroy VM %d",
				c.VMID, s.VMID, c.VMID), fmt.Sprintf("qmrestore BACKUP %d", s.VMID))
		}
	}
	s.Next("or inspect it, and destroy it if it is only a copy; then run preflight again", inspect(copies[0].Guest))
	return true
}

// removeFirst names the first step of adoptCopy.
func (s *subject) removeFirst() string {
	if len(s.states) == 0 {
		return ""
	}
	return "remove the former one from the state, "
}

// adoptCopy are the commands after which the VM is another guest.
func (s *subject) adoptCopy(c cluster.Copy) []string {
	var out []string
	for _, r := range s.states {
		out = append(out, s.stateRemove(r.Address).String())
	}
	return append(out, s.adopt(c.VMID).String(), "stackgen render", "stackgen import-blocks")
}

// sharing says what a copy shares with the VM.
func sharing(c cluster.Copy) string {
	if len(c.MACs) == 0 {
		return "it has the recorded smbios1 uuid"
	}
	return "it has the MAC " + strings.Join(c.MACs, " ")
}

// macTaken is a VM to create with a MAC address that a guest already has.
func (s *subject) macTaken() bool {
	copies := slices.DeleteFunc(slices.Clone(s.match.Copies), func(c cluster.Copy) bool { return len(c.MACs) == 0 })
	if len(copies) == 0 {
		return false
	}
	s.Is(finding.Conflict, "another guest has its MAC")
	s.usedBy(copies, nil)
	for _, c := range copies {
		if c.Kind == guest.VM && strings.EqualFold(c.Name, s.Name) && s.hasEntry() {
			s.Next(fmt.Sprintf("or, if VM %d is this VM under another VMID, use it", c.VMID), s.adoptCopy(c)...)
		}
	}
	return true
}

// copied is a VM that is certain, while another guest has a MAC address of it, too.
func (s *subject) copied() bool {
	if s.Destroy {
		return false
	}
	copies := slices.DeleteFunc(slices.Clone(s.match.Copies), func(c cluster.Copy) bool { return len(c.MACs) == 0 })
	if len(copies) == 0 {
		return false
	}
	var own []string
	if c := s.guest.Config; c != nil {
		own = c.MACs
	}
	s.Is(finding.Conflict, "another guest has its MAC")
	s.Because("%s", Describe(s.guest))
	s.usedBy(copies, own)
	return true
}

// usedBy names the guests that have MAC addresses of the VM, and what to do: the VM
// keeps those that it has, and gets others for those that it does not have yet.
func (s *subject) usedBy(copies []cluster.Copy, own []string) {
	var given, decided, had []string
	for _, c := range copies {
		s.listed[c.VMID] = true
		s.Because("%s: %s", sharing(c), Describe(c.Guest))
		for _, mac := range c.MACs {
			switch {
			case contains(own, mac):
				had = append(had, mac)
			case s.match.VM != nil && contains(s.match.VM.MACs, mac):
				given = append(given, mac)
			default:
				decided = append(decided, mac)
			}
		}
	}
	if len(had) > 0 {
		for _, c := range copies {
			s.Next(fmt.Sprintf("if %d is a copy, such as a restored backup, give its NICs other MACs, or destroy it; then run preflight again",
				c.VMID), newMACs(c)...)
			if c.Kind == guest.VM && s.hasEntry() {
				s.Next(fmt.Sprintf("or, if VM %d is the right one, use it: give the NICs of %d other MACs, %sadopt it, and import it",
					c.VMID, s.VMID, s.removeFirst()),
					append(newMACs(cluster.Copy{Guest: s.guest, MACs: had}), s.adoptCopy(c)...)...)
			}
		}
	}
	if len(decided) > 0 {
		s.Next("let stackgen choose another MAC", "stackgen resolve --again "+s.Stack+"/"+s.Key, "stackgen render")
	}
	for _, mac := range given {
		n := slices.IndexFunc(s.match.VM.MACs, func(other string) bool { return strings.EqualFold(other, mac) })
		s.Next("change the MAC "+mac+" of "+s.match.VM.Path+": write into "+s.at.Spec, macLine(s.match.VM, n, s.otherMAC(n)))
	}
}

// otherMAC is a MAC address for a network device of the VM that neither another guest nor the
// lock has: always the same one for the same cluster.
func (s *subject) otherMAC(n int) string {
	used := s.Inventory.MACs()
	for _, stack := range s.Lock.Stacks {
		for _, v := range stack.Value.VMs {
			used = append(used, v.Value.MACs...)
		}
	}
	for attempt := 0; ; attempt++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s\n%d\n%d", s.Stack, s.Key, n, attempt))
		if mac := fmt.Sprintf("BC:24:11:%02X:%02X:%02X", sum[0], sum[1], sum[2]); !contains(used, mac) {
			return mac
		}
	}
}

// newMACs are the commands that give the NICs of a copy other MAC addresses, or show
// them where the configuration was not read.
func newMACs(c cluster.Copy) []string {
	if c.Config == nil || c.Kind != guest.VM {
		return []string{inspect(c.Guest)}
	}
	var out []string
	for i := range 32 {
		key := fmt.Sprintf("net%d", i)
		if nic := pve.ParseNIC(c.Config.Raw[key]); contains(c.MACs, nic.MAC) {
			nic.MAC = "" // Proxmox VE chooses one
			out = append(out, set(c.Guest, "--"+key+" "+shell.Word(nic.String())))
		}
	}
	return out
}

func contains(macs []string, mac string) bool {
	return slices.ContainsFunc(macs, func(m string) bool { return strings.EqualFold(m, mac) })
}

// unreadMACs says how many guests may have a MAC address of a VM to create.
func (s *subject) unreadMACs() {
	if len(s.entry.DecidedMACs()) > 0 && s.unidentified > 0 {
		s.Because("not read: the MACs of other guests (%d); one of them may have a MAC of this VM", s.unidentified)
	}
}
