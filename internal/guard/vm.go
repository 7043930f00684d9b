package guard

import (
	"cmp"
	"fmt"
	"strings"

	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// A subject is one VM while it is judged.
type subject struct {
	*judge
	*finding.Finding
	at      *place
	match   *cluster.Match
	entry   *lock.VM
	profile *schema.Profile
	guest   *cluster.Guest // the guest with its VMID, the right one or not
	states  []tf.Resource  // in the state, by its key

	notRead string // why the state cannot be read
}

// vms judges every VM of a stack, also those that only the lock has.
func (j *judge) vms(at *place) {
	for i := range j.all {
		m := &j.all[i]
		if m.Stack != at.Name || m.Entry == nil {
			continue
		}
		s := j.subject(at, m)
		if !s.decide() {
			j.out = j.out[:len(j.out)-1]
			continue
		}
		j.kinds[at.Name+"/"+m.Key] = s.Kind
	}
}

// subject begins the finding about a VM.
func (j *judge) subject(at *place, m *cluster.Match) *subject {
	s := &subject{judge: j, Finding: j.add(at, m.Entry.In(), finding.VM, m.Key), at: at, match: m, entry: m.Entry,
		profile: j.profile(m.Entry), guest: cmp.Or(m.Guest, m.Holder)}
	s.VMID, s.Node, s.Name = m.VMID, m.Entry.Node, m.Name()
	s.Resource = schema.GuestAddress(m.Entry.Kind, m.Entry.Profile, m.Key)
	if s.states, s.notRead = s.find(at, m.Entry.In(), m.Entry.Kind.Resource(), at.keys(s.Key, s.entry)...); s.notRead != "" {
		return s
	}
	if len(s.states) > 0 {
		s.Resource = s.states[0].Address
	}
	if s.guest != nil {
		s.Node, s.listed[s.guest.VMID] = s.guest.Node, true
		s.Name = cmp.Or(s.Name, s.guest.Name)
	}
	return s
}

// decide judges one VM. It reports whether there is a finding.
func (s *subject) decide() bool {
	rule := s.rule()
	if rule.judge == nil {
		return false
	}
	rule.judge(s)
	switch {
	case rule.ours && s.entry.IsContainer():
		s.mountsMissing()
		s.readOtherwise()
		s.waits()
		s.meetsUpdate()
		s.unplanned()
	case rule.ours:
		s.settles()
		s.waits()
		s.sharesPositions()
		s.meetsUpdate()
		s.cannotUpdate()
		s.oldTemplate()
		s.madeOtherwise()
		s.unplanned()
	}
	return true
}

func (s *subject) retired() bool { return s.entry.Status == lock.Retired }

// absent reports whether no guest of the cluster has the VMID.
func (s *subject) absent() bool { return s.guest == nil }

// absentInState reports whether the VM is only in the state, and no rebuild has begun: that destroys
// the guest and creates another one.
func (s *subject) absentInState() bool {
	return s.absent() && !s.notInState() && !s.entry.Recreates()
}

func (s *subject) notInState() bool { return len(s.states) == 0 }

// notProven reports whether a guest has the VMID, and nothing proves that it is the VM.
func (s *subject) notProven() bool { return s.match.Guest == nil }

// elsewhere reports whether the VM is on another node than the spec says.
func (s *subject) elsewhere() bool { return s.guest.Node != s.entry.Node && s.entry.Node != "" }

// imported is what the import file on disk imports into the VM's address.
func (s *subject) imported() (string, bool) {
	id, ok := s.Imports[tf.Unit{Stack: s.Stack, Unit: s.Unit}][s.Resource]
	return id, ok
}

// noUUID reports whether no UUID is recorded, so that MAC addresses alone decide.
func (s *subject) noUUID() bool {
	return s.entry.Fingerprint == nil || s.entry.Fingerprint.UUID == ""
}

// hasEntry reports whether the VM has an entry of its own in the spec, which adopt
// can write to. A container is not adopted.
func (s *subject) hasEntry() bool {
	return !s.entry.IsContainer() && s.match.VM != nil && s.match.VM.Path == "vms."+s.Key
}

// adoptLine is the command that records which guest the VM is.
func (s *subject) adoptLine(vmid int) finding.Line {
	return finding.Line{Text: "stackgen adopt {}", Items: []string{fmt.Sprintf("%s/%s=%d", s.Stack, s.Key, vmid)}, Sep: " "}
}

// stateRemove is the line that removes an address from the unit's state.
func (s *subject) stateRemove(address string) finding.Line {
	return lock.StateRemove(s.Stack, s.Unit, address)
}

// line is a line for the VM's entry in its spec, with the place of the entry.
func (s *subject) line(text string) string { return specLine(s.match.VM, text) }

// specLine is a line for a VM's entry in its spec, with the place of the entry. Lines with
// disks come from a keeper.
func specLine(v *schema.VM, text string) string {
	if v == nil {
		return text
	}
	return text + "  # " + strings.Join(v.OwnEntry(), ".")
}

// macLine is the line for the MAC address of a network device, counted from 0.
func macLine(v *schema.VM, n int, mac string) string {
	return fmt.Sprintf("mac: %s  # networks of %s, entry %d", mac, v.Key, n+1)
}
