package lock

// A Rollout is how far a rebuild of several VMs is that was begun. VMs are named by their keys, in
// the order of the lock.
type Rollout struct {
	Done      []string
	Unhealthy []string // replaced, and not healthy in time
	Begun     []string // their replacement was begun, and nobody has seen the guest that replaces them
	Waiting   []string // of later waves
	Template  *Template
}

// All is the number of VMs.
func (r *Rollout) All() int { return len(r.Done) + len(r.Unhealthy) + len(r.Begun) + len(r.Waiting) }

// Rollout is how far the rebuild of a stack is, or nil if none was begun that is not done. Template
// is what those that are done were made from, and the others will be, or nil if that differs.
func (s *Stack) Rollout() *Rollout {
	r, first := &Rollout{}, true
	for i := range s.VMs {
		key, v := s.VMs[i].Key, &s.VMs[i].Value
		switch {
		case v.Rebuild == nil || v.Status != Live:
			continue
		case v.Rebuild.Waits:
			r.Waiting = append(r.Waiting, key)
		case v.RebuildBegun():
			r.Begun = append(r.Begun, key)
		case v.Rebuild.Unhealthy:
			r.Unhealthy = append(r.Unhealthy, key)
		default:
			r.Done = append(r.Done, key)
		}
		is := v.Template
		if v.MadeFrom != nil && v.Rebuilt(v.uuid()) { // the spec has another one since
			is = v.MadeFrom
		}
		switch {
		case first:
			r.Template = is
		case r.Template != nil && (is == nil || !r.Template.sameAs(is)):
			r.Template = nil
		}
		first = false
	}
	if first {
		return nil
	}
	return r
}

// uuid is that of the guest that was seen last, or empty.
func (v *VM) uuid() string {
	if v.Fingerprint == nil {
		return ""
	}
	return v.Fingerprint.UUID
}

// sameAs reports whether two templates are one, or replicas of one release.
func (t *Template) sameAs(other *Template) bool {
	return t.VMID == other.VMID || t.Release != "" && t.Name == other.Name && t.Release == other.Release
}
