package guard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/feasible"
	"stackgen/internal/finding"
	"stackgen/internal/hardware"
	"stackgen/internal/lock"
	"stackgen/internal/pve"
)

// A template of a Template is judged as a VM is, and its image as a finding of its own. Both are
// created, imported and destroyed, and never changed.

// isReplica reports whether the subject is a template that a Template makes.
func (s *subject) isReplica() bool { return s.entry.Image != nil }

// clones are the guests with a disk that is based on one of a template. Proxmox VE does not
// destroy the template before them.
func (j *judge) clones(vmid int) []*cluster.Guest {
	var out []*cluster.Guest
	for i := range j.Inventory.Guests {
		g := &j.Inventory.Guests[i]
		if g.Config == nil || g.VMID == vmid {
			continue
		}
		if slices.ContainsFunc(pve.Drives(g.Config.Raw), func(d pve.Drive) bool { return d.Base() == vmid }) {
			out = append(out, g)
		}
	}
	return out
}

// hasClones reports whether a run would destroy a template that has linked clones.
func (s *subject) hasClones() bool {
	return s.isReplica() && !s.notInState() && len(s.otherClones()) > 0
}

// otherClones are the linked clones of a template, without those that the run destroys before it.
func (s *subject) otherClones() []*cluster.Guest {
	first := s.destroyedFirst(s.Stack, s.entry)
	return slices.DeleteFunc(s.clones(s.VMID), func(g *cluster.Guest) bool { return slices.Contains(first, g) })
}

// destroyedFirst are the linked clones of a template that the run destroys before it: VMs of selected
// stacks, by all evidence, that are in their states. An apply destroys those that are retired.
func (j *judge) destroyedFirst(template string, e *lock.VM) []*cluster.Guest {
	if !j.TemplatesLast || !j.Destroy && (e.Status != lock.Retired || !j.Lock.LeavesLast(template, j.Selected)) {
		return nil
	}
	return slices.DeleteFunc(j.clones(e.VMID), func(g *cluster.Guest) bool {
		return !slices.ContainsFunc(j.all, func(m cluster.Match) bool {
			at := j.places[m.Stack]
			if m.Guest == nil || m.Guest.VMID != g.VMID || m.Entry == nil || at == nil || !j.Destroy && m.Entry.Status != lock.Retired {
				return false
			}
			states, _ := j.find(at, lock.UnitVM, guest.VMResource, at.keys(m.Key, m.Entry)...)
			return len(states) > 0
		})
	})
}

// CloneNotes say of a run which linked clones it destroys before their templates.
func CloneNotes(in Input) []string {
	if in.Inventory == nil || !in.TemplatesLast {
		return nil
	}
	j := newJudge(in)
	var out []string
	for _, s := range in.Project.Stacks {
		if j.places[s.Name] == nil {
			continue
		}
		var first []string
		for i := range j.places[s.Name].lock.VMs {
			if e := &j.places[s.Name].lock.VMs[i].Value; e.Image != nil {
				for _, g := range j.destroyedFirst(s.Name, e) {
					first = append(first, fmt.Sprintf("VM %d (%s) on %s", g.VMID, g.Name, g.Node))
				}
			}
		}
		if len(first) > 0 {
			out = append(out, fmt.Sprintf("linked clones of %s are destroyed before it: %s. Right before that, it looks whether they are gone",
				s.Name, few(first)))
		}
	}
	return out
}

// few names the first ones of a list.
func few(list []string) string {
	const most = 3
	if n := len(list); n > most {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), n-most)
	}
	return strings.Join(list, ", ")
}

func (s *subject) destroysBase() bool { return s.Destroy && s.hasClones() }

func (s *subject) busyClones() {
	s.Is(finding.Busy, finding.Why("template-has-clones"))
	for _, g := range s.otherClones() {
		s.listed[g.VMID] = true
		s.Because("linked clone: %s", Describe(g))
	}
	if s.retired() && s.at.lock.Status == lock.Live {
		s.Next("to keep the template for now, remove release "+s.entry.Release+" from `retired` in "+s.at.Spec, "stackgen render")
	}
	if leaving := s.leavingClones(); len(leaving) > 0 {
		s.Add(finding.DoAll("or destroy those that are retired first; then run the same command again",
			finding.Line{Text: "stackgen apply {}", Items: leaving, Sep: " "}))
	}
	s.Next("or destroy these VMs first, with their stacks")
}

// leavingClones are the other stacks that have retired VMs which are linked clones of a template that
// leaves, if they can be applied before it.
func (s *subject) leavingClones() []string {
	every := func(string) bool { return true }
	if s.Destroy || !s.retired() || !s.Lock.LeavesLast(s.Stack, every) {
		return nil
	}
	clones := s.otherClones()
	var out []string
	for i := range s.Lock.Stacks {
		at := &s.Lock.Stacks[i]
		if slices.ContainsFunc(at.Value.VMs, func(e lock.Entry[lock.VM]) bool {
			return e.Value.Status == lock.Retired && slices.ContainsFunc(clones, func(g *cluster.Guest) bool { return g.VMID == e.Value.VMID })
		}) {
			out = append(out, at.Key)
		}
	}
	return out
}

// notConverted reports whether the guest of a template is a VM, which an interrupted apply left, or
// which somebody restored. An import would not make it a template.
func (s *subject) notConverted() bool { return s.isReplica() && !s.Destroy && !s.guest.Template }

func (s *subject) busyNotConverted() {
	s.Is(finding.Busy, finding.Why("template-not-converted"))
	s.Because("%s", Describe(s.guest))
	s.hold().destroy(s.Finding, "to make it again, destroy what is there by hand, %s, then run preflight again")
	if s.complete() {
		s.Next("or, since its disk is complete and has the size of the spec, make it a template; then run preflight again",
			pve.Pvesh("create", s.guest.Path("template")))
	}
}

// complete reports whether only the conversion of a template is missing: it is stopped and not
// locked, and its disk was imported and has its size.
func (s *subject) complete() bool {
	if s.match.VM == nil || s.guest.Config == nil || s.guest.Status != "stopped" || s.guest.Lock != "" || s.hold().blocks != nothing {
		return false
	}
	for _, d := range s.match.VM.Values.Get(guest.Disks).List() {
		at := d.Get(guest.Interface).Str()
		if pve.ParseDrive(at, s.guest.Config.Raw[at]).Size() != int64(d.Get(guest.Size).Int())<<30 {
			return false
		}
	}
	return true
}

// needless refuses a second template of a release on one shared storage: VMs on all nodes are
// cloned from the first.
func (s *subject) needless() []feasible.Obstacle {
	if !s.isReplica() || s.match.VM == nil || len(s.match.VM.Values.Get(guest.Disks).List()) == 0 {
		return nil
	}
	storage := s.match.VM.Values.Get(guest.Disks).List()[0].Get(guest.Datastore).Str()
	if on := s.Inventory.Storage(storage, s.entry.Node); on == nil || !on.Shared {
		return nil
	}
	for _, e := range s.at.lock.VMs {
		if e.Key == s.Key {
			return nil // it is the first
		}
		if e.Value.Release == s.entry.Release && e.Value.Status == lock.Live && e.Value.Image != nil {
			return []feasible.Obstacle{{
				Check:    feasible.ImageCheck,
				Reason:   "storage " + storage + " is shared, and one template of a release is enough on it",
				Evidence: []string{"the other one: " + s.Stack + "/" + e.Key + " on " + e.Value.Node},
				Remedies: []feasible.Remedy{{What: "write one node into SPEC", Text: "nodes: [" + e.Value.Node + "]"}},
			}}
		}
	}
	return nil
}

// madeAsTemplate says what differs between a template of the release that the spec makes, and the
// spec: all of it acts at the creation. Templates of other releases stay as they are.
func (s *subject) madeAsTemplate() {
	r := s.match.VM.Replica
	if r == nil || !r.Current {
		return
	}
	if of := *s.entry.Image; of != r.Image {
		s.MadeWith = append(s.MadeWith, finding.Made{Property: "image", Was: of.String(), Spec: r.Image.String()})
		s.Because("made of the image %s, and the spec says %s", of.String(), r.Image.String())
	}
	made := hardware.Read(s.guest)
	differs := made.Differences(s.match.VM, func(string) bool { return false })
	for i := range differs {
		for _, c := range differs[i].Changes {
			if made.Pinned(c, c.Is) {
				continue
			}
			s.MadeWith = append(s.MadeWith, finding.Made{Property: c.Name(), Was: c.Was, Spec: c.Is})
			s.Because("it has %s: %s, and the spec says %s", c.Name(), cmp.Or(c.Was, "none"), cmp.Or(c.Is, "none"))
		}
	}
	if s.asMade(); len(s.MadeWith) > 0 {
		s.Next("for templates as the spec says, write another `release` into " + s.at.Spec)
	}
}

// releaseOf names the release of a template of the project by its VMID, or nothing.
func (in Input) releaseOf(vmid int) (template, release string) {
	for _, s := range in.Lock.Stacks {
		for _, e := range s.Value.VMs {
			if e.Value.Image != nil && e.Value.VMID == vmid {
				return s.Key, e.Value.Release
			}
		}
	}
	return "", ""
}

// makes reports whether a Template of the project has a release that is not retired.
func (in Input) makes(template, release string) bool {
	l := in.Lock.Stacks.Get(template)
	return l != nil && l.Status == lock.Live && slices.ContainsFunc(l.VMs, func(e lock.Entry[lock.VM]) bool {
		return e.Value.Image != nil && e.Value.Status == lock.Live && e.Value.Release == release
	})
}

// sameRelease reports whether two templates are replicas of one release.
func (in Input) sameRelease(a, b *lock.Template) bool {
	template, release := in.releaseOf(a.VMID)
	other, otherRelease := in.releaseOf(b.VMID)
	return template != "" && template == other && release == otherRelease
}

// templateWords names a template: its VMID, and its release if the project makes it.
func (in Input) templateWords(vmid int) string {
	if template, release := in.releaseOf(vmid); template != "" {
		return fmt.Sprintf("template %d (%s, release %s)", vmid, template, release)
	}
	return fmt.Sprintf("template %d", vmid)
}
