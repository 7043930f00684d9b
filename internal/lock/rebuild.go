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
}

// A Begin is a VM that a run is about to replace, as it was seen.
type Begin struct {
	Key         string
	VMID        int
	Fingerprint *Fingerprint
}

// BeginRebuild returns a lock in which VMs of a stack have the mark, and whether that changes it.
// One that has it already keeps it: it says what the VM was before the first run. It does not
// change l.
func (l *Lock) BeginRebuild(stack string, vms []Begin) (*Lock, bool) {
	out, changed := l.clone(), false
	s := out.Stacks.Get(stack)
	for _, b := range vms {
		if s == nil {
			break
		}
		v := s.VMs.Get(b.Key)
		if v == nil || v.VMID != b.VMID || v.Rebuild != nil || b.Fingerprint == nil || b.Fingerprint.UUID == "" {
			continue
		}
		v.Rebuild, changed = &Rebuild{UUID: b.Fingerprint.UUID}, true
		v.Fingerprint = b.Fingerprint
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
	return v.Rebuild != nil && uuid != "" && !strings.EqualFold(v.Rebuild.UUID, uuid)
}

// RebuildBegun reports whether the VM has the mark, and the guest that replaces it was not
// observed yet: that it is gone is then what was asked for.
func (v *VM) RebuildBegun() bool {
	return v.Rebuild != nil && (v.Fingerprint == nil || strings.EqualFold(v.Fingerprint.UUID, v.Rebuild.UUID))
}
