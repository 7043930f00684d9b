package lock

import (
	"maps"
	"slices"
	"strings"

	"stackgen/guest"
)

// A Rebuild is the mark of a VM that gets new disks: what it was before. It is written before the
// guest of before is destroyed, and stays until all VMs of the stack that have one are done, so
// that another run replaces none of them twice.
type Rebuild struct {
	UUID     string // of the guest that is replaced
	Template int    // the VMID of what that was made from; 0 if it is not known

	Waits     bool // its wave has not begun: it is as it was, and nothing of it may be missing
	Apart     bool // that is so only because some of the VMs keep disks: no rollout describes its wave
	Unhealthy bool // it was replaced, and did not become healthy in time

	// Of a VM that keeps disks, whose guest is not replaced: it gets the disks of another VM.
	Holder  int       // the VMID of that VM, which is made for this; 0 if the guest is replaced
	Volumes []string  // of the disks that it loses
	From    *Template // what that VM is made from
}

// A Begin is a VM that a run is about to replace, as it was seen.
type Begin struct {
	Key         string
	VMID        int
	Fingerprint *Fingerprint
	Waits       bool // it is of a later wave
	Apart       bool // as in Rebuild
	Again       bool // a run has replaced it already, and it is replaced once more

	Holder  int       // as in Rebuild
	Volumes []string  // as in Rebuild; those that the mark has already stay
	From    *Template // as in Rebuild
}

// BeginRebuild returns a lock in which VMs of a stack have the mark, and whether that changes it.
// One that has it already keeps it, unless it waited or is replaced again: it says what the VM was
// before the first run. It does not change l.
func (l *Lock) BeginRebuild(stack string, vms []Begin) (*Lock, bool) {
	out, changed := l.clone(), false
	s := out.Stacks.Get(stack)
	for _, b := range vms {
		if s == nil {
			break
		}
		v := s.VMs.Get(b.Key)
		if v == nil || v.VMID != b.VMID || b.Fingerprint == nil || b.Fingerprint.UUID == "" || v.Rebuild.keeps(b) && v.Rebuild.has(b) {
			continue
		}
		if v.Rebuild.keeps(b) {
			mark := *v.Rebuild
			mark.add(b)
			v.Rebuild, changed = &mark, true
			continue
		}
		v.Rebuild, changed = &Rebuild{UUID: b.Fingerprint.UUID, Waits: b.Waits, Apart: b.Apart}, true
		v.Rebuild.add(b)
		if !b.Waits {
			v.Fingerprint = b.Fingerprint
		}
		switch {
		case v.MadeFrom != nil:
			v.Rebuild.Template = v.MadeFrom.VMID
		case v.Template != nil:
			v.Rebuild.Template = v.Template.VMID
		}
	}
	if !changed {
		return l, false
	}
	return out, true
}

// keeps reports whether a mark stays when a run is about to replace the VM. That of an exchange of disks ends with the
// guest: it is created then.
func (r *Rebuild) keeps(b Begin) bool {
	return r != nil && (b.Waits || !r.Waits && !b.Again && (r.Holder == 0 || b.Holder != 0))
}

// InRollout reports whether the VM waits for a wave of a rollout, or did not become healthy in one.
func (v *VM) InRollout() bool {
	b := v.Rebuild
	return b != nil && (b.Waits && !b.Apart || b.Unhealthy && !b.Waits && !v.RebuildBegun())
}

// has reports whether a mark has what a run adds to it.
func (r *Rebuild) has(b Begin) bool {
	if b.Waits && r.Waits && r.Apart != b.Apart {
		return false
	}
	lacks := func(volume string) bool { return !slices.Contains(r.Volumes, volume) }
	same := r.From == b.From || r.From != nil && b.From != nil && *r.From == *b.From
	return b.Holder == 0 || r.Holder == b.Holder && same && !slices.ContainsFunc(b.Volumes, lacks)
}

func (r *Rebuild) add(b Begin) {
	if b.Waits && r.Waits {
		r.Apart = b.Apart
	}
	if b.Holder == 0 {
		return
	}
	r.Holder, r.From, r.Volumes = b.Holder, b.From, slices.Clone(r.Volumes)
	for _, volume := range b.Volumes {
		if !slices.Contains(r.Volumes, volume) {
			r.Volumes = append(r.Volumes, volume)
		}
	}
}

// Healthy returns a lock that says which of the VMs of a stack that were replaced, by their keys,
// did not become healthy: those of unhealthy, and not those of healthy. It does not change l.
func (l *Lock) Healthy(stack string, healthy, unhealthy []string) *Lock {
	out, changed := l.clone(), false
	s := out.Stacks.Get(stack)
	if s == nil {
		return l
	}
	for i := range s.VMs {
		key, v := s.VMs[i].Key, &s.VMs[i].Value
		is := slices.Contains(unhealthy, key)
		if v.Rebuild == nil || v.Rebuild.Waits || v.Rebuild.Unhealthy == is || !is && !slices.Contains(healthy, key) {
			continue
		}
		mark := *v.Rebuild
		mark.Unhealthy = is
		v.Rebuild, changed = &mark, true
	}
	if !changed {
		return l
	}
	return out
}

// EndRebuild returns a lock in which the VMs of a stack, by their keys, do not have the mark any
// more. It does not change l.
func (l *Lock) EndRebuild(stack string, keys []string) *Lock {
	out, changed := l.clone(), false
	s := out.Stacks.Get(stack)
	if s == nil {
		return l
	}
	for i := range s.VMs {
		if v := &s.VMs[i].Value; v.Rebuild != nil && slices.Contains(keys, s.VMs[i].Key) {
			v.Rebuild, changed = nil, true
		}
	}
	if !changed {
		return l
	}
	return out
}

// Rebuilt reports whether a guest with a UUID is the one that a rebuild has made: the VM has the
// mark, and that was another guest.
func (v *VM) Rebuilt(uuid string) bool {
	return v.Rebuild != nil && !v.Rebuild.Waits && uuid != "" && !strings.EqualFold(v.Rebuild.UUID, uuid)
}

// RebuildBegun reports whether the VM has the mark, does not wait for its wave, and the guest that replaces it was not
// observed yet.
func (v *VM) RebuildBegun() bool {
	return v.Rebuild != nil && !v.Rebuild.Waits && (v.Fingerprint == nil || strings.EqualFold(v.Fingerprint.UUID, v.Rebuild.UUID))
}

// Recreates reports whether a rebuild has begun that destroys the guest of before: that it is gone is then
// what was asked for.
func (v *VM) Recreates() bool { return v.RebuildBegun() && v.Rebuild.Holder == 0 }

// Exchanges reports whether a rebuild has begun that exchanges disks of a guest with a UUID, and has not done that.
func (v *VM) Exchanges(uuid string) bool {
	b := v.Rebuild
	return b != nil && b.Holder != 0 && !b.Waits && strings.EqualFold(b.UUID, uuid)
}

// observeExchange records that the exchange of disks has ended of which the VM has the mark: these are from its
// template now.
func (v *VM) observeExchange() []string {
	if v.Rebuild == nil || v.Rebuild.Holder == 0 || !v.Rebuilt(v.uuid()) || v.DisksExchanged() {
		return nil
	}
	v.Exchanged, v.MadeFrom, v.MadeWith = v.uuid(), v.Rebuild.From, maps.Clone(v.MadeWith)
	if from := v.MadeFrom; from != nil && v.Template != nil && from.VMID == v.Template.VMID {
		v.MadeFrom = nil
	}
	delete(v.MadeWith, guest.Clone)
	return []string{SawTemplate}
}

// DisksExchanged reports whether the guest has disks that its state does not know the source of.
func (v *VM) DisksExchanged() bool {
	return v.Exchanged != "" && strings.EqualFold(v.Exchanged, v.uuid())
}
