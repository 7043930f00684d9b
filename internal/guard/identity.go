package guard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/shell"
)

// proof says by what evidence the guest is the VM.
func (s *subject) proof() string {
	switch s.match.Why {
	case cluster.ByIdentity:
		return strings.Join(s.match.Agrees, ", ")
	case cluster.ByAdopt:
		return "the spec adopts it, and no fingerprint is recorded"
	case cluster.HalfMade:
		return "it has the name and the hardware of its template, and it is stopped"
	case cluster.ByStateName:
		return "it has the name from the state, and no fingerprint is recorded"
	}
	return "it has the name, and no fingerprint is recorded"
}

// conflict is a VMID that belongs to something else.
func (s *subject) conflict() bool {
	m := s.match
	if !m.Conflict() {
		return false
	}
	s.Is(finding.Conflict, s.conflictReason())
	if m.Why == cluster.OtherName {
		s.Because("its name is %s, and the spec says %s", s.guest.Name, s.Name)
	}
	if m.Why == cluster.OtherIdentity || m.Why == cluster.NotItsMAC {
		for _, d := range m.Differ {
			s.Because("%s", d)
		}
	}
	s.Because("%s", describe(s.guest))
	s.history()
	s.Next("inspect it: an apply would change or destroy it", inspect(s.guest))
	s.rightVM()
	s.anotherVM()
	return true
}

// conflictReason is the reason of a conflict.
func (s *subject) conflictReason() string {
	m, c := s.match, s.guest.Config
	switch m.Why {
	case cluster.IsTemplate, cluster.IsContainer:
		return fmt.Sprintf("its VMID belongs to a %s", m.Why)
	case cluster.NotItsMAC:
		return "its VMID has a VM of its name with another MAC, and it is no interrupted clone"
	case cluster.OtherName:
		return "its VMID belongs to a VM with another name, and no fingerprint is recorded"
	}
	switch {
	case m.VM == nil || m.VM.Adopt:
		return "its VMID belongs to another VM than the recorded one"
	case s.guest.Name != s.Name:
		return "its VMID belongs to a VM with another name and another MAC"
	case len(c.MACs) == 0 && s.noUUID():
		return "its VMID has a VM of its name without NICs: it was created again by hand, or its NICs were removed"
	}
	return "its VMID has a VM of its name with another MAC: it was created again by hand"
}

// noUUID reports whether no UUID is recorded, so that MAC addresses alone decide.
func (s *subject) noUUID() bool {
	return s.entry.Fingerprint == nil || s.entry.Fingerprint.UUID == ""
}

// rightVM are the steps if the guest is the VM, although nothing says so.
func (s *subject) rightVM() {
	m := s.match
	if m.VM == nil || m.Why == cluster.IsTemplate || m.Why == cluster.IsContainer {
		return
	}
	if c := s.guest.Config; m.Why == cluster.OtherIdentity && len(c.MACs) == 0 && s.noUUID() {
		if mac := s.recordedMAC(); mac != "" {
			s.Next("if only its NICs were removed, add one with its MAC, then run preflight again", set(s.guest, fmt.Sprintf("--net0 virtio=%s,bridge=%s", mac, s.bridge())))
		}
	}
	if m.Why == cluster.OtherName {
		s.Next("if it is the right VM, write into "+s.at.Spec, s.line(fmt.Sprintf("adopt: {vmid: %d}", s.VMID)))
		return
	}
	s.Add(finding.DoAll("if it is the right VM, restored or with a MAC that was changed by hand, record what it is now", s.adopt(s.VMID), "stackgen render"))
}

// adopt is the command that records which guest the VM is.
func (s *subject) adopt(vmid int) finding.Line {
	return finding.Line{Text: "stackgen adopt {}", Items: []string{fmt.Sprintf("%s/%s=%d", s.Stack, s.Key, vmid)}, Sep: " "}
}

// recordedMAC is the first MAC address that the VM had, as far as it is recorded.
func (s *subject) recordedMAC() string {
	if len(s.states) == 1 && len(s.states[0].MACs) > 0 {
		return s.states[0].MACs[0]
	}
	if f := s.entry.Fingerprint; f != nil && len(f.MACs) > 0 {
		return f.MACs[0]
	}
	return ""
}

// bridge is the bridge of the VM's first NIC in the spec.
func (s *subject) bridge() string {
	for _, nic := range s.match.VM.Values.Get("networks").List() {
		return cmp.Or(nic.Get("bridge").Str(), "vmbr0")
	}
	return "vmbr0"
}

// anotherVM is the step if the guest is not the VM.
func (s *subject) anotherVM() {
	what := "if it is another VM, "
	var lines []finding.Line
	if len(s.states) == 1 {
		what += "remove yours from the state, "
		lines = append(lines, s.stateRemove(s.states[0].Address))
	}
	if s.match.VM != nil {
		what += "give yours a new key in " + s.at.Spec + ", for another VMID, and forget the old key"
		lines = append(lines, finding.Entries("forgotten", s.Key), finding.Line{Text: "stackgen render"})
	}
	if len(lines) > 0 {
		s.Add(finding.Step{What: strings.TrimSuffix(what, ", "), Lines: lines})
	}
}

// history adds evidence that decides nothing: a rollback changes the generation, and
// all clones of a template have its creation time.
func (s *subject) history() {
	c := s.guest.Config
	if c == nil {
		return
	}
	var out []string
	if c.UUID != "" && s.noUUID() {
		out = append(out, "smbios1 uuid "+c.UUID)
	}
	if c.GenID != "" {
		out = append(out, "vmgenid "+c.GenID)
	}
	if c.Created != 0 {
		out = append(out, fmt.Sprintf("creation time %d", c.Created))
	}
	if len(out) > 0 {
		s.Because("%s", strings.Join(out, ", "))
	}
}

// restored is a VM whose VMID no guest has, while another guest has its identity.
// Creating or restoring it once more would make two of it.
func (s *subject) restored() bool {
	copies := slices.DeleteFunc(slices.Clone(s.match.Copies), func(c cluster.Copy) bool { return !c.Seen || c.Kind != cluster.KindVM })
	if len(copies) == 0 {
		return false
	}
	s.Is(finding.Gone, "it exists under another VMID: restored from a backup, or cloned by hand with its MAC")
	s.Because("no guest has VMID %d", s.VMID)
	for _, c := range copies {
		s.listed[c.VMID] = true
		s.Candidates = append(s.Candidates, c.VMID)
		s.Because("%s: %s", sharing(c), describe(c.Guest))
		s.Next(fmt.Sprintf("if VM %d is this VM, use it: %sadopt it, and import it", c.VMID, s.removeFirst()), s.adoptCopy(c)...)
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
		if c.Kind == cluster.KindVM && strings.EqualFold(c.Name, s.Name) {
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
	s.Because("%s", describe(s.guest))
	s.usedBy(copies, own)
	return true
}

// usedBy names the guests that have MAC addresses of the VM, and what to do: the VM
// keeps those that it has, and gets others for those that it does not have yet.
func (s *subject) usedBy(copies []cluster.Copy, own []string) {
	var given, decided, had []string
	for _, c := range copies {
		s.listed[c.VMID] = true
		s.Because("%s: %s", sharing(c), describe(c.Guest))
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
			s.Next(fmt.Sprintf("if %d is a copy, such as a restored backup, give its NICs other MACs, or destroy it; then run preflight again", c.VMID), newMACs(c)...)
			if c.Kind == cluster.KindVM {
				s.Next(fmt.Sprintf("or, if VM %d is the right one, use it: %sadopt it, and import it", c.VMID, s.removeFirst()), s.adoptCopy(c)...)
			}
		}
	}
	if len(decided) > 0 {
		s.Next("let stackgen choose another MAC", "stackgen resolve --again "+s.Stack+"/"+s.Key, "stackgen render")
	}
	for _, mac := range given {
		s.Next("change the MAC "+mac+" in "+s.at.Spec, s.line("networks: [...]"))
	}
}

// newMACs are the commands that give the NICs of a copy other MAC addresses, or show
// them where the configuration was not read.
func newMACs(c cluster.Copy) []string {
	if c.Config == nil || c.Kind != cluster.KindVM {
		return []string{inspect(c.Guest)}
	}
	var out []string
	for i := range 32 {
		key := fmt.Sprintf("net%d", i)
		nic := c.Config.Raw[key]
		for _, mac := range c.MACs {
			if at := strings.Index(strings.ToUpper(nic), "="+mac); at >= 0 { // without one, Proxmox VE chooses
				out = append(out, set(c.Guest, fmt.Sprintf("--%s %s", key, shell.Word(nic[:at]+nic[at+1+len(mac):]))))
			}
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
		s.Because("the MACs of %d guests were not read: one of them may have a MAC of this VM", s.unidentified)
	}
}
