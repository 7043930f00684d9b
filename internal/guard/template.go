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

// hasClones reports whether an apply would destroy a template that has linked clones.
func (s *subject) hasClones() bool {
	return s.isReplica() && !s.notInState() && len(s.clones(s.VMID)) > 0
}

func (s *subject) destroysBase() bool { return s.Destroy && s.hasClones() }

func (s *subject) busyClones() {
	s.Is(finding.Busy, finding.Why("template-has-clones"))
	for _, g := range s.clones(s.VMID) {
		s.listed[g.VMID] = true
		s.Because("linked clone: %s", Describe(g))
	}
	what := "destroy these VMs first, with their stacks"
	if s.retired() && s.at.lock.Status == lock.Live {
		s.Next("to keep the template, remove release "+s.entry.Release+" from `retired` in "+s.at.Spec, "stackgen render")
		what = "or " + what
	}
	s.Next(what)
}

// notConverted reports whether the guest of a template is a VM, which an interrupted apply left, or
// which somebody restored. An import would not make it a template.
func (s *subject) notConverted() bool { return s.isReplica() && !s.Destroy && !s.guest.Template }

func (s *subject) busyNotConverted() {
	s.Is(finding.Busy, finding.Why("template-not-converted"))
	s.Because("%s", Describe(s.guest))
	lines := append(finding.Lines(inspect(s.guest)), finding.Lines(destroyByHand(s.guest)...)...)
	for _, r := range s.states {
		lines = append(lines, s.stateRemove(r.Address))
	}
	s.Add(finding.Step{What: "to make it again, destroy what is there by hand; then run preflight again", Lines: lines})
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
	if made := *s.entry.Image; made != r.Image {
		s.MadeWith = append(s.MadeWith, finding.Made{Property: "image", Was: made.String(), Spec: r.Image.String()})
		s.Because("made of the image %s, and the spec says %s", made.String(), r.Image.String())
	}
	differs := hardware.Read(s.guest).Differences(s.match.VM, func(string) bool { return false })
	for i := range differs {
		for _, c := range differs[i].Changes {
			s.MadeWith = append(s.MadeWith, finding.Made{Property: c.Name(), Was: c.Was, Spec: c.Is})
			s.Because("it has %s: %s, and the spec says %s", c.Name(), cmp.Or(c.Was, "none"), cmp.Or(c.Is, "none"))
		}
	}
	if s.asMade(); len(s.MadeWith) > 0 {
		s.Next("for templates as the spec says, write another `release` into " + s.at.Spec)
	}
}

// images judges the images of a Template.
func (j *judge) images(at *place) {
	for i := range at.lock.VMs {
		if e := &at.lock.VMs[i]; e.Value.Image != nil {
			j.image(at, e.Key, &e.Value)
		}
	}
}

// image judges the image of one template.
func (j *judge) image(at *place, key string, e *lock.VM) {
	states, unreadable := j.find(at, lock.UnitVM, guest.FileResource, key)
	file, read := j.Inventory.Image(e.Image.Datastore, e.Node, e.Image.File)
	leaves := j.Destroy || e.Status != lock.Live
	if leaves && unreadable == "" && len(states) == 0 {
		return
	}
	f := j.add(at, lock.UnitVM, finding.Image, key)
	f.Resource, f.Node, f.Name = lock.ImageAddress(key), e.Node, e.Image.File
	volume := e.Image.Datastore + ":import/" + e.Image.File
	f.Because("%s on node %s", volume, e.Node)
	switch {
	case unreadable != "":
		stateUnknown(f, unreadable)
	case e.Status == lock.Forgotten:
		f.Is(finding.WouldDestroy, finding.Why("forgotten-in-state"))
		f.Add(finding.DoAll("remove it from the state", lock.StateRemove(at.Name, lock.UnitVM, states[0].Address)))
	case j.otherOwner(at, key, e) != "" && (leaves || len(states) == 0):
		f.Is(finding.Conflict, finding.Why("image-of-other", j.otherOwner(at, key, e)))
		if leaves {
			f.Add(finding.DoAll("leave the file to that one: remove it from the state", lock.StateRemove(at.Name, lock.UnitVM, states[0].Address)))
		} else {
			f.Next("give each template a file of its own: write another `file_name`, `download` or node into " + at.Spec)
		}
	case leaves && read && file == nil:
		f.Is(finding.Retiring, finding.Why("destroyed-already"))
	case leaves:
		f.Is(finding.Retiring, finding.Why("retired"))
	case len(states) > 0 && read && file == nil:
		f.Is(finding.Gone, finding.Why("image-gone"))
		f.Add(finding.DoAll("to download it again, remove it from the state; then run preflight again",
			lock.StateRemove(at.Name, lock.UnitVM, states[0].Address)))
	case len(states) > 0:
		f.Is(finding.Managed, finding.Why("agrees"))
	case file == nil:
		f.Is(finding.Create, finding.Why("image-free"))
	case e.ImageSeen || j.isMade(at.Name, key):
		f.Is(finding.Adopt, finding.Why("in-no-state"))
		f.Import = e.Node + "/" + volume
	case j.beganImage(at.Name, key, e) && e.Image.Checksum != "":
		f.Is(finding.Create, finding.Why("image-left")) // Proxmox VE compares the checksum, and takes the file
	default:
		j.foreignImage(f, at, e, j.beganImage(at.Name, key, e))
	}
}

// otherOwner is another template of the project, as STACK/KEY, whose image is the same file; "" if
// there is none. A state that has the file deletes it with its template.
func (j *judge) otherOwner(at *place, key string, e *lock.VM) string {
	for i := range j.Lock.Stacks {
		stack, vms := j.Lock.Stacks[i].Key, j.Lock.Stacks[i].Value.VMs
		for k := range vms {
			other := &vms[k].Value
			if other.Image == nil || other.Status != lock.Live || stack == at.Name && vms[k].Key == key {
				continue
			}
			s := j.Inventory.Storage(e.Image.Datastore, e.Node)
			same := other.Image.Datastore == e.Image.Datastore && other.Image.File == e.Image.File
			if same && (other.Node == e.Node || s != nil && s.Shared) {
				return stack + "/" + vms[k].Key
			}
		}
	}
	return ""
}

// isMade reports whether the template exists and is certainly ours, so that its image is, too: it
// was made from it.
func (j *judge) isMade(stack, key string) bool {
	m := j.matches[stack+"/"+key]
	return m != nil && m.Guest != nil && m.Guest.Template
}

// beganImage reports whether a run from here began to make a template.
func (j *judge) beganImage(stack, key string, e *lock.VM) bool {
	b := j.Begun[stack+"/"+key]
	return b.VMID == e.VMID && !b.Done
}

// foreignImage is a file of which nothing proves that it is the image. An apply neither overwrites
// nor uses it.
func (j *judge) foreignImage(f *finding.Finding, at *place, e *lock.VM, began bool) {
	f.Is(finding.Conflict, finding.Why("image-exists"))
	remove := "if nobody needs it, remove it"
	if began {
		f.Because("an interrupted apply may have left it, and without a checksum nothing tells whether it is complete")
	}
	volume := e.Image.Datastore + ":import/" + e.Image.File
	f.Next(remove+", then run preflight again", pve.Pvesh("delete", "/nodes/"+e.Node+"/storage/"+e.Image.Datastore+"/content/"+volume))
	f.Next("or write another name into "+at.Spec, "file_name: "+otherFile(e.Image.File)+"  # image")
}

// otherFile is a file name like another one.
func otherFile(name string) string {
	at := strings.LastIndexByte(name, '.')
	return name[:at] + "-1" + name[at:]
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
