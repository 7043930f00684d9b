package lock

import (
	"slices"
	"strings"
)

// A Rebuild is the mark of a VM that gets new disks: what it was before. It is written before the
// guest of before is destroyed, and stays until all VMs of the stack that have one are done, so
// that another run replaces none of them twice.
type Rebuild struct {
	UUID     string // of the guest that is replaced
	Template int    // the VMID of what that was made from; 0 if it is not known

	Waits     bool // its wave has not begun: it is as it was, and nothing of it may be missing
	Unhealthy bool // it was replaced, and did not become healthy in time
}

// A Begin is a VM that a run is about to replace, as it was seen.
type Begin struct {
	Key         string
	VMID        int
	Fingerprint *Fingerprint
	Waits       bool // it is of a later wave
	Again       bool // a run has replaced it already, and it is replaced once more
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
		if v == nil || v.VMID != b.VMID || b.Fingerprint == nil || b.Fingerprint.UUID == "" || v.Rebuild.keeps(b) {
			continue
		}
		v.Rebuild, changed = &Rebuild{UUID: b.Fingerprint.UUID, Waits: b.Waits}, true
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

// keeps reports whether a mark stays when a run is about to replace the VM.
func (r *Rebuild) keeps(b Begin) bool { return r != nil && (b.Waits || !r.Waits && !b.Again) }

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
// observed yet: that it is gone is then what was asked for.
func (v *VM) RebuildBegun() bool {
	return v.Rebuild != nil && !v.Rebuild.Waits && (v.Fingerprint == nil || strings.EqualFold(v.Fingerprint.UUID, v.Rebuild.UUID))
}
