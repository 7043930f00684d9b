package guard

import (
	"testing"

	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
)

// TestNewerStateDestroysNothing: a state that is newer than the recorded uuid makes a guest
// with another one the VM, but that is too little to destroy it.
func TestNewerStateDestroysNothing(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Input)
		want   finding.Kind
	}{
		"applied":   {func(*Input) {}, finding.Managed},
		"retired":   {func(in *Input) { in.Lock.Stacks[0].Value.VMs.Get("web1").Status = lock.Retired }, finding.Conflict},
		"destroyed": {func(in *Input) { in.Destroy = true }, finding.Conflict},
	} {
		t.Run(name, func(t *testing.T) {
			const mac = "BC:24:11:00:00:01"
			g := newGuest(100, "web1")
			g.Config = &cluster.Config{UUID: "00000000-0000-4000-8000-000000000002", MACs: []string{mac}, Raw: map[string]string{"name": "web1"}}
			r := inState("web1", 100)
			r.Cloned, r.MACs = true, []string{mac}
			in := input([]tf.Resource{r}, g)
			unit := tf.VMUnit("lab")
			state := in.State[unit]
			state.Serial, state.Lineage = 5, "l"
			in.State[unit] = state
			l := &in.Lock.Stacks[0].Value
			u := l.Units.Get(lock.UnitVM)
			u.Serial, u.Lineage = 3, "l"
			l.VMs.Get("web1").Fingerprint = &lock.Fingerprint{UUID: "00000000-0000-4000-8000-000000000001", MACs: []string{mac}}
			c.change(&in)
			if found := Judge(in); found[0].Kind != c.want {
				t.Errorf("got %s, want %s", words(found), c.want)
			}
		})
	}
}
