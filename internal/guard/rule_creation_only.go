package guard

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/feasible"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/pve"
	"stackgen/internal/shell"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// A VM is `creation-only` if it is managed, and its spec has another value than the VM was made
// with, of a property that acts at creation only.

// madeOtherwise says what the VM was made with, where the spec has another value. No plan shows
// it.
func (s *subject) madeOtherwise() {
	if s.Destroy || s.Stops() || s.match.VM == nil || s.match.VM.Adopt {
		return
	}
	if s.isReplica() {
		s.madeAsTemplate()
		return
	}
	for _, f := range schema.CreationRows() {
		made, spec := s.madeWith(f.Key), s.entry.CreationValue(s.match.VM, f.Key)
		if made == "" || spec == "" || made == spec || !f.ActsAtCreation(s.profile) || s.agrees(f.Key, spec) {
			continue
		}
		s.MadeWith = append(s.MadeWith, finding.Made{Property: f.Key, Was: made, Spec: spec})
		s.Because("made with %s: %s, and the spec says %s", f.Key, made, spec)
		s.Next("to say what it is, write into "+s.at.Spec, s.line(f.Key+": "+made))
		s.change(f.Key, spec)
	}
	s.placed()
	s.asMade()
}

// asMade gives a VM that was made otherwise its verdict.
func (s *subject) asMade() {
	if len(s.MadeWith) > 0 && s.Kind == finding.Managed {
		s.Is(finding.CreationOnly, finding.Why("creation-only"))
	}
}

// readOtherwise says in what a container differs from its spec, of what acts at its creation only and can be read. The
// provider would replace the container for it, so the modules ignore it, and no plan shows it.
func (s *subject) readOtherwise() {
	v, c := s.match.VM, s.guest.Config
	ours := s.Kind == finding.Managed || s.Kind == finding.CreationOnly
	if s.Destroy || !ours || v == nil || c == nil || len(c.Raw) == 0 {
		return
	}
	profile := s.Project.Profile(s.entry.Profile)
	if profile != nil && profile.IgnoreAll {
		return
	}
	ignored := func(key string) bool { // as the profile is written: for containers, it ignores all of them
		of := schema.FieldOf(guest.VM, key)
		return profile != nil && of != nil && profile.Ignores(of.Attribute())
	}
	field := func(key string) *schema.Field { return schema.FieldOf(guest.Container, key) }
	if !ignored(guest.Pool) && s.guest.Pool != v.PoolID && s.seesPools(v.PoolID) {
		options := []string{fmt.Sprintf("--vms %d", s.VMID)}
		if s.guest.Pool != "" {
			options = append(options, "--allow-move 1")
		}
		s.read(guest.Pool, s.guest.Pool, v.PoolID, "to put it into pool "+v.PoolID, pve.SetPool(v.PoolID, options...))
	}
	system := field(guest.OSType)
	is, spec := c.Raw[system.Entry()], v.Values.Get(guest.OSType).Str()
	if !ignored(guest.OSType) && spec != "" && is != spec && slices.Contains(system.Enum, is) {
		s.read(guest.OSType, is, spec, "to say what it is, write into "+s.at.Spec, s.line(guest.OSType+": "+is))
	}
	entry := field(guest.Features).Entry()
	has := pve.Parse(c.Raw[entry])
	if v.Values.Get(guest.Features).Get(guest.Nesting).Bool() && has.Option(guest.Nesting) != "1" {
		var lines []string
		if !has.Has(guest.Nesting) {
			options := strings.TrimPrefix(c.Raw[entry]+","+guest.Nesting+"=1", ",")
			lines = []string{set(s.guest, "--"+entry+" "+shell.Word(options))}
		}
		s.read(guest.Features, c.Raw[entry], guest.Nesting, "to permit it from its next start on", lines...)
	}
}

// seesPools reports whether a pool exists, and the token sees in which one a guest is: Proxmox VE leaves out the others.
func (s *subject) seesPools(id string) bool {
	a := s.Inventory.Access
	return s.Inventory.Pool(id) != nil && (s.guest.Pool != "" || a == nil || a.Rights.Has("/pool", cluster.PoolAudit))
}

// read adds what a container has of a property, what its spec says, and the lines that change that, if there are any.
func (s *subject) read(property, is, spec, what string, lines ...string) {
	if s.Kind == finding.Managed {
		s.Is(finding.CreationOnly, finding.Why("read-otherwise"))
	}
	made := finding.Made{Property: property, Was: cmp.Or(is, "none"), Spec: spec, Read: true}
	s.Because("it has %s: %s, and the spec says %s", property, made.Was, spec)
	if len(lines) > 0 {
		made.Steps = []finding.Step{finding.Do(what, lines...)}
		s.Add(made.Steps[0])
	}
	s.MadeWith = append(s.MadeWith, made)
}

// madeWith is what the VM was made with, by its state, the lock or its disks, or nothing.
func (s *subject) madeWith(property string) string {
	if property == guest.Clone && len(s.states) == 1 && !s.entry.DisksExchanged() {
		if mode := cloneMode(&s.states[0]); mode != "" {
			return mode
		}
	}
	if made := s.entry.MadeWith[property]; made != "" {
		return made
	}
	if property == guest.Clone && s.base() != nil {
		return feasible.Linked
	}
	return ""
}

// agrees reports whether the VM is as the spec says, however it was made: somebody started or
// stopped it.
func (s *subject) agrees(property, spec string) bool {
	return property == guest.Started && strconv.FormatBool(s.guest.Status == "running") == spec
}

// change adds how the VM becomes what the spec says.
func (s *subject) change(property, spec string) {
	switch {
	case s.MadeFrom != 0 && property != guest.Started: // oldTemplate has said it
	case property != guest.Started:
		s.rebuild(fmt.Sprintf("or, for new disks with %s: %s, which lose what is on the old ones, rebuild it", property, spec))
		what := fmt.Sprintf("or, for a %s with %s: %s, write it under a new key into %s, and retire this one",
			s.Word(), property, spec, s.at.Spec)
		s.Add(finding.DoAll(what, lock.Entries("retired", s.at.Retired, s.Key), "stackgen render"))
	case spec == "true":
		s.Next("or start it", "stackgen power start "+s.Stack+"/"+s.Key)
	default:
		s.Next("or shut it down", "stackgen power shutdown "+s.Stack+"/"+s.Key)
	}
}

// placed says that the VM is on no node that its placement would choose now.
func (s *subject) placed() {
	v := s.match.VM
	if v.Node != "" || v.Placement == nil || s.Kind == finding.Moved || s.Kind == finding.Migrate {
		return
	}
	nodes := v.Placement.Choices()
	if len(nodes) == 0 || slices.Contains(nodes, s.guest.Node) {
		return
	}
	spec := strings.Join(nodes, ", ")
	s.MadeWith = append(s.MadeWith, finding.Made{Property: guest.Placement, Was: s.guest.Node, Spec: spec})
	s.Because("placed on %s, and the placement of the spec says %s", s.guest.Node, spec)
	s.Next("to say where it is, write into "+s.at.Spec, s.line("node: "+finding.Key(s.guest.Node)))
	s.Next("or migrate it, and write its node into "+s.at.Spec, migrateLine(s.guest, nodes[0]))
}

// cloneMode is how a VM was cloned, or nothing if the state does not say it. An imported VM
// has no clone.
func cloneMode(r *tf.Resource) string {
	switch r.Values["clone.full"] {
	case "true":
		return feasible.Full
	case "false":
		return feasible.Linked
	}
	return ""
}

// creationOf is what the state says of the creation of a VM.
func creationOf(r *tf.Resource) lock.Values {
	mode := cloneMode(r)
	if mode == "" {
		return nil
	}
	return lock.Values{guest.Clone: mode}
}
