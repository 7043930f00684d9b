package guard

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/pve"
	"stackgen/internal/shell"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// A VM is `conflict` if its VMID, its id in the state or one of its MAC addresses is that of
// another guest, or if the lock and the state have other MAC addresses for it: an apply would
// change or destroy a guest that is not the VM, or make two with one address.

// idDiffers reports whether the id of the VM in the state is another VMID than its vm_id.
func (s *subject) idDiffers() bool { return len(s.states) == 1 && s.states[0].OtherID() }

func (s *subject) conflictID() { s.otherID(s.Finding, &s.states[0]) }

// otherID is a VM whose id in the state is another VMID than its vm_id, as after a state was
// edited. The provider acts on the id: it would change or destroy that guest.
func (in Input) otherID(f *finding.Finding, r *tf.Resource) bool {
	if !r.OtherID() {
		return false
	}
	f.Is(finding.Conflict, finding.Why("id-of-other-guest")).Case = finding.OtherGuest
	f.Because("%s has id %s and vm_id %d in state", r.Address, r.ID, r.VMID)
	if g := in.Inventory.Guest(r.ActsOn()); g != nil {
		f.Because("VMID %d is %s", g.VMID, Describe(g))
		f.Next("inspect it: the provider acts on the id", inspect(g))
	}
	f.Next("if the state was edited, or is an old one, restore the right one")
	f.Add(finding.DoAll("or remove the "+f.Word()+" from the state, then run preflight again", lock.StateRemove(f.Stack, f.Unit, r.Address)))
	return true
}

// otherState is the VM in a state, of another VM or stack, that has the VMID as well, or nil.
func (s *subject) otherState() *vmInState {
	for _, other := range s.vmids[s.VMID] {
		if other.stack != s.Stack || !slices.ContainsFunc(s.states, func(o tf.Resource) bool { return o.Address == other.address }) {
			return &other
		}
	}
	return nil
}

func (s *subject) inOtherState() bool { return s.otherState() != nil }

func (s *subject) conflictState() {
	other := s.otherState()
	s.Is(finding.Conflict, finding.Why("vmid-in-other-state")).Case = finding.OtherGuest // perhaps: one of the states is wrong
	s.Because("the state of %s has VMID %d as %s", other.stack, s.VMID, other.address)
	if s.retired() {
		s.keepElsewhere("to keep it there, ", ", and remove it from this state", s.stateRemove(s.Resource))
	}
	s.Add(finding.DoAll("remove it from the state that is wrong", lock.StateRemove(other.stack, other.unit, other.address)))
}

// inTwoStates reports whether the VM is in its state, and another VM has it in its state, too: somebody manages it there.
func (s *subject) inTwoStates() bool { return !s.notInState() && s.inOtherState() }

// vmidTaken reports whether the VMID belongs to something else. package cluster compares the
// evidence.
func (s *subject) vmidTaken() bool { return s.match.Conflict() }

func (s *subject) conflictVMID() {
	m := s.match
	s.Is(finding.Conflict, s.conflictReason()).Case = finding.OtherGuest
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
	if s.leftEmpty() {
		s.Because("a run from here began to create it, its configuration is empty, and it is stopped: " +
			"its creation was interrupted, and it was unlocked")
		s.hold().destroy(s.Finding, "destroy what exists of it, %s, then run preflight again: an apply creates it again. "+
			"Volumes that its configuration does not name stay")
		return
	}
	s.Next("inspect it: an apply would change or destroy it", inspect(s.guest))
	if m.Why == cluster.OtherIdentity && len(m.Agrees) > 0 && len(m.Differ) == 1 { // all but the UUID
		s.Next("if it was rebuilt from another checkout, commit " + lock.File + " there, and pull it here")
	}
	s.rightVM()
	s.anotherVM()
}

// leftEmpty reports whether the guest is what an interrupted creation of a run from here has left, without its lock: Proxmox
// VE writes the configuration of a new guest after its volumes were made. One that somebody has made since has entries in it.
func (s *subject) leftEmpty() bool {
	g := s.guest
	if s.retired() || s.match.Why == cluster.IsTemplate || s.match.Why == cluster.OtherKind || !s.begun(s.Stack, s.Key, g) || g.Config == nil {
		return false
	}
	c := g.Config
	return g.Status == "stopped" && g.Lock == "" && c.UUID == "" && len(c.Raw)+len(c.MACs)+len(c.Disks) == 0
}

// madeTemplate reports whether the VM itself is a template now.
func (s *subject) madeTemplate() bool {
	m := s.match
	return m.Why == cluster.IsTemplate && len(m.Agrees) > 0 && len(m.Differ) == 0
}

// conflictReason is the reason of a conflict.
func (s *subject) conflictReason() finding.Reason {
	m, c := s.match, s.guest.Config
	switch m.Why {
	case cluster.IsTemplate:
		if s.madeTemplate() {
			return finding.Why("made-template")
		}
		return finding.Why("vmid-of-template")
	case cluster.OtherKind:
		return finding.Why("vmid-of-kind", s.guest.Kind.Name())
	case cluster.OtherIdentity:
		if s.entry.IsContainer() {
			return finding.Why("vmid-of-other-container")
		}
	case cluster.NotItsMAC:
		return finding.Why("name-with-other-mac-unproven")
	case cluster.NameAlone:
		return finding.Why("name-alone")
	case cluster.OtherName:
		return finding.Why("other-name")
	}
	switch {
	case len(m.Agrees) > 0:
		return finding.Why("other-uuid")
	case m.VM == nil || m.VM.Adopt:
		return finding.Why("other-vm")
	case s.guest.Name != s.Name:
		return finding.Why("other-name-and-mac")
	case len(c.MACs) == 0 && s.noUUID():
		return finding.Why("name-without-nics")
	}
	return finding.Why("name-with-other-mac")
}

// rightVM are the steps if the guest is the VM, although nothing says so.
func (s *subject) rightVM() {
	m := s.match
	if m.VM == nil || s.isReplica() || m.Why == cluster.IsTemplate || m.Why == cluster.OtherKind {
		return
	}
	if s.entry.IsContainer() {
		if g := s.guest; g.Name == s.Name && g.Config != nil && len(g.Config.MACs) > 0 {
			s.Next("if it is the right container and somebody changed its MAC address, write that into its network in "+s.at.Spec,
				s.line("mac: "+strconv.Quote(g.Config.MACs[0])))
		}
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
		s.Add(finding.DoAll("if it is the right VM, record that", s.adoptLine(s.VMID), "stackgen render"))
	} else if s.hasEntry() {
		changed := "MAC"
		if len(m.Agrees) > 0 {
			changed = "uuid"
		}
		s.Add(finding.DoAll("if it is the right VM, restored or with a "+changed+" that was changed by hand, record what it is now",
			s.adoptLine(s.VMID), "stackgen render"))
	}
}

// anotherVM is the step if the guest is not the VM.
func (s *subject) anotherVM() {
	what := "if it is another " + s.Word() + ", "
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
		give := "give yours " + key + " in " + s.at.Spec + ", for another VMID, and forget the old key"
		if s.isReplica() {
			give = s.leaveRelease()
		}
		what, lines = what+give, append(lines, s.forget()...)
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

// leaveRelease says how a Template is without the template that is the subject.
func (s *subject) leaveRelease() string {
	return "remove its node from `nodes` in " + s.at.Spec + ", or write another `release` there, and forget the old key"
}

// forget are the lines that forget the subject.
func (s *subject) forget() []finding.Line {
	return []finding.Line{lock.Entries("forgotten", s.at.Forgotten, s.Key), {Text: "stackgen render"}}
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
	for _, nic := range s.match.VM.Values.Get(guest.Networks).List() {
		return cmp.Or(nic.Get(guest.Bridge).Str(), "vmbr0")
	}
	return "vmbr0"
}

// copies are the other guests that have a MAC address of the VM.
func (s *subject) copies() []cluster.Copy {
	return slices.DeleteFunc(slices.Clone(s.match.Copies), func(c cluster.Copy) bool { return len(c.MACs) == 0 })
}

// macTaken reports whether a guest already has a MAC address of a VM to create.
func (s *subject) macTaken() bool { return s.absent() && len(s.copies()) > 0 }

func (s *subject) conflictMAC() {
	copies := s.copies()
	s.Is(finding.Conflict, finding.Why("mac-of-other-guest"))
	s.usedBy(copies, nil)
	for _, c := range copies {
		if c.Kind == guest.VM && strings.EqualFold(c.Name, s.Name) && s.hasEntry() {
			s.Next(fmt.Sprintf("or, if VM %d is this VM under another VMID, use it", c.VMID), s.adoptCopy(c)...)
		}
	}
}

// macShared reports whether another guest has a MAC address of a VM that exists, too.
func (s *subject) macShared() bool { return !s.Destroy && len(s.copies()) > 0 }

func (s *subject) conflictSharedMAC() {
	var own []string
	if c := s.guest.Config; c != nil {
		own = c.MACs
	}
	s.Is(finding.Conflict, finding.Why("mac-of-other-guest"))
	s.Because("%s", Describe(s.guest))
	s.usedBy(s.copies(), own)
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

// otherMACs are the numbers of the NICs for which the lock has decided other MAC addresses than
// the state has: the lock was lost, and a render made another one, or a NIC left the spec and
// came back. An apply would change the addresses of the VM.
func (s *subject) otherMACs() []int {
	if s.Destroy || s.match.VM == nil || len(s.states) != 1 || s.states[0].Planned || s.guest.Config == nil {
		return nil
	}
	known := slices.Concat(s.states[0].MACs, s.match.VM.MACs, s.guest.Config.MACs)
	var out []int
	for i, mac := range s.entry.MACs[:min(len(s.entry.MACs), len(s.states[0].MACs))] {
		if mac != "" && mac != schema.AutoMAC && !contains(known, mac) && !contains(s.entry.MACs, s.states[0].MACs[i]) {
			out = append(out, i)
		}
	}
	return out
}

func (s *subject) macsDiffer() bool { return len(s.otherMACs()) > 0 }

func (s *subject) conflictLock() {
	var decided, has, lines []string
	for _, i := range s.otherMACs() {
		decided, has = append(decided, s.entry.MACs[i]), append(has, s.states[0].MACs[i])
		lines = append(lines, macLine(s.match.VM, i, s.states[0].MACs[i]))
	}
	why, whose, restore := finding.Why("macs-differ"), "", "restore the lock"
	if v := s.match.VM; v.Whose != "" { // the key went to two students
		why, whose, restore = finding.Why("macs-differ-student"), " for "+v.Member, "or, if it was not, restore the lock"
		s.Next("if the "+s.Word()+" was created for another student, find the line of that student in another version of "+
			lock.File+", write it there instead of the one with this key, and render: the student who has this key now gets another one",
			"git log --all -p -S "+has[0]+" -- "+lock.File, "stackgen render")
	}
	s.Is(finding.Conflict, why)
	s.Because("the lock has %s%s, and the state %s", strings.Join(decided, " "), whose, strings.Join(has, " "))
	s.Because("%s", Describe(s.guest))
	s.Next(restore, lock.Restore)
	s.Next("or, to keep the MACs of the "+s.Word()+" without it, write into "+s.at.Spec, lines...)
}
