package guard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/pve"
	"stackgen/internal/shell"
	"stackgen/schema"
)

// proof says by what evidence the guest is the VM.
func (s *subject) proof() string {
	switch s.match.Why {
	case cluster.ByIdentity:
		return strings.Join(s.match.Agrees, ", ")
	case cluster.ByAdopt:
		return "the spec adopts it, and no fingerprint is recorded"
	case cluster.HalfMade:
		return "it has the name, a run from here began to create it, and it is stopped"
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
		for _, d := range slices.Concat(m.Differ, m.Agrees) {
			s.Because("%s", d)
		}
	}
	s.Because("%s", Describe(s.guest))
	s.waitingNICs()
	s.history()
	s.Next("inspect it: an apply would change or destroy it", inspect(s.guest))
	s.rightVM()
	s.anotherVM()
	return true
}

// madeTemplate reports whether the VM itself is a template now.
func (s *subject) madeTemplate() bool {
	m := s.match
	return m.Why == cluster.IsTemplate && len(m.Agrees) > 0 && len(m.Differ) == 0
}

// conflictReason is the reason of a conflict.
func (s *subject) conflictReason() string {
	m, c := s.match, s.guest.Config
	switch m.Why {
	case cluster.IsTemplate:
		if s.madeTemplate() {
			return "somebody made a template of it, which Proxmox VE cannot undo"
		}
		return "its VMID belongs to a template"
	case cluster.IsContainer:
		return fmt.Sprintf("its VMID belongs to a %s", m.Why)
	case cluster.NotItsMAC:
		return "its VMID has a VM of its name with another MAC, and nothing proves that an interrupted run made it"
	case cluster.NameAlone:
		return "its VMID has a VM of its name, and nothing else says that it is this VM"
	case cluster.OtherName:
		return "its VMID belongs to a VM with another name, and no fingerprint is recorded"
	}
	switch {
	case len(m.Agrees) > 0:
		return "its VMID belongs to another VM with its MAC: a smbios1 uuid is recorded, and this is another one"
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
	if m.Why == cluster.OtherName {
		s.Next("if it is the right VM, write into "+s.at.Spec, s.line(fmt.Sprintf("adopt: {vmid: %d}", s.VMID)))
		return
	}
	seen := s.entry.Fingerprint != nil || len(s.states) == 1 // else the VM may never have existed, and the guest has its own NICs
	switch mac := s.recordedMAC(); {                         // its configuration was read
	case len(m.Agrees) > 0 && !s.hasEntry():
		s.Next("if it is the right VM and somebody changed its uuid, restore that, then run preflight again",
			set(s.guest, "--smbios1 "+shell.Quote(withUUID(s.guest.Config.Raw["smbios1"], s.entry.Fingerprint.UUID))))
	case !seen || mac == "" || len(m.Agrees) > 0:
	case len(s.guest.Config.MACs) == 0:
		s.Next("if it is the right VM and only its NICs were removed, add one with its MAC, then run preflight again",
			set(s.guest, fmt.Sprintf("--net0 virtio=%s,bridge=%s", mac, s.bridge())))
	case !s.hasEntry() && s.guest.Config.Raw["net0"] != "":
		s.Next("if it is the right VM, give it its MAC again, then run preflight again",
			set(s.guest, "--net0 "+shell.Quote(withMAC(s.guest.Config.Raw["net0"], mac))))
	}
	if m.Why == cluster.NameAlone || m.Why == cluster.NotItsMAC {
		s.Add(finding.DoAll("if it is the right VM, record that", s.adopt(s.VMID), "stackgen render"))
	} else if s.hasEntry() {
		changed := "MAC"
		if len(m.Agrees) > 0 {
			changed = "uuid"
		}
		s.Add(finding.DoAll("if it is the right VM, restored or with a "+changed+" that was changed by hand, record what it is now",
			s.adopt(s.VMID), "stackgen render"))
	}
}

// hasEntry reports whether the VM has an entry of its own in the spec, which adopt
// needs: a VM of a group or class has none.
func (s *subject) hasEntry() bool { return s.match.VM != nil && s.match.VM.Path == "vms."+s.Key }

// adopt is the command that records which guest the VM is.
func (s *subject) adopt(vmid int) finding.Line {
	return finding.Line{Text: "stackgen adopt {}", Items: []string{fmt.Sprintf("%s/%s=%d", s.Stack, s.Key, vmid)}, Sep: " "}
}

// recordedMAC is the first MAC address that the VM has, as far as it is recorded.
func (s *subject) recordedMAC() string {
	if len(s.entry.MACs) > 0 && contains(s.entry.DecidedMACs(), s.entry.MACs[0]) {
		return s.entry.MACs[0]
	}
	if len(s.states) == 1 && len(s.states[0].MACs) > 0 {
		return s.states[0].MACs[0]
	}
	if f := s.entry.Fingerprint; f != nil && len(f.MACs) > 0 {
		return f.MACs[0]
	}
	return ""
}

// withMAC is a NIC of a configuration, such as virtio=BC:24:11:00:00:01,bridge=vmbr0,tag=30,
// with another MAC address and all else as it is.
func withMAC(nic, mac string) string {
	n := pve.ParseNIC(nic)
	n.MAC = mac
	return n.String()
}

// withUUID are the SMBIOS values of a configuration, such as uuid=4c1e...,manufacturer=QUNNRQ==,
// with another UUID and all else as it is.
func withUUID(smbios, uuid string) string {
	return append(pve.Entry{{Name: "uuid", Value: uuid}}, pve.Parse(smbios).Without("uuid")...).String()
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
	if s.madeTemplate() {
		what = "keep the template: "
	}
	var lines []finding.Line
	if len(s.states) == 1 {
		what += "remove yours from the state, "
		lines = append(lines, s.stateRemove(s.states[0].Address))
	}
	if vm := s.match.VM; vm != nil {
		key := "a new key"
		switch {
		case vm.Adopt && vm.Template != nil:
			key += " without `adopt`"
		case vm.Adopt:
			key += " with a template instead of `adopt`"
		}
		what += "give yours " + key + " in " + s.at.Spec + ", for another VMID, and forget the old key"
		lines = append(lines, finding.Entries("forgotten", s.Key), finding.Line{Text: "stackgen render"})
	}
	if len(lines) > 0 {
		s.Add(finding.Step{What: strings.TrimSuffix(what, ", "), Lines: lines})
	}
	if vm := s.match.VM; vm != nil && vm.VMID == 0 && s.entry.Fingerprint == nil && len(s.states) == 0 {
		again := finding.Line{Text: "stackgen resolve {}", Items: []string{"--again " + s.String()}, Sep: " "}
		s.Add(finding.Step{What: "or, if yours was never created, let stackgen choose another VMID for it",
			Lines: []finding.Line{again, {Text: "stackgen render", Once: true}}})
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

// otherLock is a VM for whose NICs the lock has decided other MAC addresses than the state
// has: the lock was lost, and a render made another one, or a NIC left the spec and came
// back. An apply would change the addresses of the VM.
func (s *subject) otherLock() bool {
	if s.Destroy || s.match.VM == nil || len(s.states) != 1 || s.states[0].Planned || s.guest.Config == nil {
		return false
	}
	known := slices.Concat(s.states[0].MACs, s.match.VM.MACs, s.guest.Config.MACs)
	var decided, has, lines []string
	for i, mac := range s.entry.MACs[:min(len(s.entry.MACs), len(s.states[0].MACs))] {
		if mac != "" && mac != schema.AutoMAC && !contains(known, mac) && !contains(s.entry.MACs, s.states[0].MACs[i]) {
			decided, has = append(decided, mac), append(has, s.states[0].MACs[i])
			lines = append(lines, macLine(s.match.VM, i, s.states[0].MACs[i]))
		}
	}
	if len(decided) == 0 {
		return false
	}
	s.Is(finding.Conflict,
		"the lock and the state have different MACs for it, and an apply would change them: the lock may have been lost and created again")
	s.Because("the lock has %s, and the state %s", strings.Join(decided, " "), strings.Join(has, " ")).Because("%s", Describe(s.guest))
	s.Next("restore the lock", "git checkout -- "+lock.File)
	s.Next("or, to keep the MACs of the VM without it, write into "+s.at.Spec, lines...)
	return true
}
