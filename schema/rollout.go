package schema

import "stackgen/guest"

// A Rollout is how a rebuild replaces several VMs. Durations are as in the spec, such as 10m.
type Rollout struct {
	Pos
	Wave    string // a number or a percentage; empty for all VMs
	Canary  []ListItem
	Agent   bool
	TCP     []int
	Timeout string
	Pause   string // empty for none
}

// rollout reads how a stack is rebuilt, or nil.
func (j *joiner) rollout(root *Node) *Rollout {
	n := root.Get("rollout")
	if n == nil {
		return nil
	}
	h := j.fill(orEmpty(n.Get("healthy")), find(rolloutFields, "healthy"))
	r := &Rollout{
		Pos: n.Pos, Wave: n.Get("wave").Str(), Canary: listItems(n.Get("canary")), Pause: n.Get("pause").Str(),
		Agent: h.Get(guest.Agent).Bool(), Timeout: h.Get(guest.Timeout).Str(),
	}
	for _, port := range h.Get("tcp").List() {
		r.TCP = append(r.TCP, port.Int())
	}
	return r
}

// canaries refuses canaries that the stack does not have.
func (e *expander) canaries() {
	if e.stack.Rollout == nil {
		return
	}
	for _, c := range e.stack.Rollout.Canary {
		if e.keys[c.Name] == (Pos{}) {
			e.errorPos(c.Pos, "rollout.canary", CodeValue, "write the key of a VM of the stack", "stack %q has no VM %q", e.stack.Name, c.Name)
		}
	}
}

// DefaultRollout is that of a spec that says nothing of it.
func DefaultRollout() *Rollout {
	h := newMerger().fill(orEmpty(nil), find(rolloutFields, "healthy"))
	return &Rollout{Agent: h.Get(guest.Agent).Bool(), Timeout: h.Get(guest.Timeout).Str()}
}
