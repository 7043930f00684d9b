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

// TestNewerNotes: a state that the lock has not seen is named only where an apply changes or destroys what exists.
func TestNewerNotes(t *testing.T) {
	updates := func(found []finding.Finding) { found[0].Updates = []finding.Update{{Name: "memory"}} }
	for name, c := range map[string]struct {
		serial  uint64
		lineage string
		change  func(*scene)
		found   func([]finding.Finding)
		want    int
	}{
		"an update":              {7, "l", nil, updates, 1},
		"a destroy":              {7, "l", (*scene).retire, nil, 1},
		"nothing to do":          {7, "l", nil, nil, 0},
		"seen":                   {5, "l", nil, updates, 0},
		"another state":          {7, "other", nil, updates, 0},
		"another stack is meant": {7, "l", func(s *scene) { s.Selected = func(string) bool { return false } }, updates, 0},
	} {
		rule := ruleCase{from: both, change: c.change}
		s := rule.scene()
		u := s.Lock.Stacks[0].Value.Units.Get(lock.UnitVM)
		u.Lineage, u.Serial = "l", 5
		state := s.State[tf.VMUnit("lab")]
		state.Serial, state.Lineage = c.serial, c.lineage
		s.State[tf.VMUnit("lab")] = state
		found := Judge(s.Input)
		if c.found != nil && len(found) > 0 {
			c.found(found)
		}
		if notes := NewerNotes(s.Input, found); len(notes) != c.want {
			t.Errorf("%s: %q", name, notes)
		}
	}
}

// TestNewerStateRebuildsNothing: it is too little for a rebuild, too, unless a run from here has recorded that it creates the VM again.
func TestNewerStateRebuildsNothing(t *testing.T) {
	const mac = "BC:24:11:00:00:01"
	for name, c := range map[string]struct {
		begun map[string]cluster.Begun
		want  string
	}{
		"only a newer state":            {nil, "would-destroy rebuild-other-uuid"},
		"a run began to create another": {map[string]cluster.Begun{"lab/web1": {VMID: 100, UUID: "another"}}, "would-destroy rebuild-other-uuid"},
		"replaced before, unhealthy":    {map[string]cluster.Begun{"again": {}}, "would-destroy rebuild-other-uuid"},
		"a run began to create it":      {map[string]cluster.Begun{"lab/web1": {VMID: 100, UUID: "u-web1"}}, "replaces web1 100 from 9000"},
	} {
		in := rebuildable()
		in.Begun = c.begun
		g := in.Inventory.Guest(100)
		g.Config = &cluster.Config{UUID: "stranger", MACs: []string{mac}, Raw: map[string]string{"name": "web1"}}
		unit := tf.VMUnit("lab")
		state := in.State[unit]
		state.Serial, state.Lineage, state.Resources[0].Cloned, state.Resources[0].MACs = 5, "l", true, []string{mac}
		in.State[unit] = state
		u := in.Lock.Stacks[0].Value.Units.Get(lock.UnitVM)
		u.Serial, u.Lineage = 3, "l"
		_, again := c.begun["again"]
		if again {
			in.Lock.Stacks[0].Value.VMs.Get("web1").Rebuild = &lock.Rebuild{UUID: "u-before", Unhealthy: true}
		}
		if got := decided(in, map[bool]string{true: "again"}[again]); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
