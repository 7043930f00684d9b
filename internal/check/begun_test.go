package check

import (
	"maps"
	"os"
	"reflect"
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/internal/tf"
)

// TestBegunCreated: the record of a VM ends when its creation is complete, and not before.
func TestBegunCreated(t *testing.T) {
	of := func(kind guest.Kind, change func(*tf.Resource)) tf.States {
		r := tf.Resource{Type: kind.Resource(), Key: "a", VMID: 300, Made: true}
		change(&r)
		return tf.States{tf.Unit{Stack: "live", Unit: kind.Unit()}: {Resources: []tf.Resource{r}}}
	}
	vm := func(change func(*tf.Resource)) tf.States { return of(guest.VM, change) }
	for name, c := range map[string]struct {
		begun BegunVM
		state tf.States
		ends  bool
	}{
		"created":               {BegunVM{VMID: 300, Start: true}, vm(func(*tf.Resource) {}), true},
		"not there":             {BegunVM{VMID: 300, Start: true}, nil, false},
		"failed halfway":        {BegunVM{VMID: 300, Start: true}, vm(func(r *tf.Resource) { r.Tainted = true }), false},
		"untainted by hand":     {BegunVM{VMID: 300, Start: true}, vm(func(r *tf.Resource) { r.Planned = true }), false},
		"imported":              {BegunVM{VMID: 300, Start: true}, vm(func(r *tf.Resource) { r.Made = false }), false},
		"untainted, configured": {BegunVM{VMID: 300, Start: true, Half: true}, vm(func(*tf.Resource) {}), false},
		"created container":     {BegunVM{VMID: 300, Start: true}, of(guest.Container, func(*tf.Resource) {}), true},
		"not started":           {BegunVM{VMID: 300, Start: true}, of(guest.Container, func(r *tf.Resource) { r.Tainted = true }), false},
		"another VMID":          {BegunVM{VMID: 301, Start: true}, vm(func(*tf.Resource) {}), false},
	} {
		b := Begun{"a": c.begun}
		if b.Created(c.state, "live"); (len(b) == 0) != c.ends {
			t.Errorf("%s: the record is %v, want its end: %v", name, b, c.ends)
		}
	}
}

// TestBegunReplaces: a run that completes a rebuild which another one has left records that the state may have the
// guest of before.
func TestBegunReplaces(t *testing.T) {
	of := func(now string) *lock.Stack {
		return &lock.Stack{VMs: []lock.Entry[lock.VM]{{Key: "a", Value: lock.VM{VMID: 300, Fingerprint: &lock.Fingerprint{UUID: now}, Rebuild: &lock.Rebuild{UUID: "old"}}}}}
	}
	states := tf.States{tf.Unit{Stack: "live", Unit: guest.VM.Unit()}: {Resources: []tf.Resource{{Type: guest.VM.Resource(), Key: "a", VMID: 300, Made: true}}}}
	for now, ends := range map[string]bool{"old": false, "new": true} {
		b := Begun{}
		b.Begin("a", BegunVM{VMID: 300, Start: true}, of(now))
		if b.Created(states, "live"); (len(b) == 0) != ends {
			t.Errorf("%s guest observed: the record is %v, want its end: %v", now, b, ends)
		}
	}
}

// TestBegunFile: what was written is read again, and the file of an empty record is removed.
func TestBegunFile(t *testing.T) {
	root := t.TempDir()
	want := Begun{"a": {VMID: 300, UUID: "u", Start: true}, "b": {VMID: 301, Half: true}}
	for _, b := range []Begun{want, {}} {
		if err := b.Write(root, "live"); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadBegun(root, "live"); err != nil || !maps.Equal(got, b) {
			t.Errorf("got %v, %v; want %v", got, err, b)
		}
	}
	if left, err := os.ReadDir(root); err != nil || !reflect.DeepEqual(left, []os.DirEntry{}) {
		t.Errorf("files are left: %v, %v", left, err)
	}
	if err := WriteRecord(RecordFile(root, "live", "unfinished"), 1); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadBegun(root, "live"); err == nil {
		t.Error("a file that is no record is read")
	}
}

// TestBegins: a run records the VMs that it creates: those of its plan, and without a plan all, unless its flags leave some out.
func TestBegins(t *testing.T) {
	create := func(key string, vmid int) finding.Finding {
		f := finding.Finding{Address: finding.Address{Stack: "live", Unit: lock.UnitVM, Type: finding.VM, Key: key}, Kind: finding.Create}
		f.VMID = vmid
		return f
	}
	found := []finding.Finding{create("a", 300), create("b", 301)}
	onlyA := &tf.Plan{Changes: []*tf.ResourceChange{
		{Type: guest.VMResource, Key: "a", Action: tf.Create, After: map[string]any{"vm_id": float64(300)}},
		{Type: guest.VMResource, Key: "b", Action: tf.NoOp},
	}}
	made := tf.State{Resources: []tf.Resource{{Type: guest.VMResource, Key: "old", VMID: 305, Made: true}}}
	old, killed := BegunVM{VMID: 305}, BegunVM{VMID: 300, Start: true}
	for name, c := range map[string]struct {
		line   string
		plan   *tf.Plan
		asks   bool
		before Begun
		want   Begun
	}{
		"no plan":               {"apply", nil, false, nil, Begun{"a": {VMID: 300}, "b": {VMID: 301}}},
		"a plan":                {"apply", onlyA, false, nil, Begun{"a": {VMID: 300}}},
		"a part":                {"apply -target=x", nil, false, nil, Begun{}},
		"what exists":           {"apply -refresh-only", nil, false, nil, Begun{}},
		"OpenTofu asks":         {"apply", onlyA, true, Begun{"old": old}, Begun{}},
		"a destroy":             {"destroy", nil, false, Begun{"old": old, "a": killed}, Begun{"a": killed}},
		"after one was killed":  {"apply", onlyA, false, Begun{"a": killed}, Begun{"a": {VMID: 300, Start: true, Again: true}}},
		"another VMID was used": {"apply", onlyA, false, Begun{"a": {VMID: 309, Start: true}}, Begun{"a": {VMID: 300}}},
	} {
		root := t.TempDir()
		if err := c.before.Write(root, "live"); err != nil {
			t.Fatal(err)
		}
		l := &lock.Lock{Stacks: lock.Ordered[lock.Stack]{{Key: "live"}}}
		h := &Hook{Session: New(&project.Project{Root: root, Lock: l}, Sources{}), Unit: tf.VMUnit("live")}
		h.command.Args, h.State[h.Unit] = strings.Fields(c.line), made
		if c.plan != nil {
			h.plans[h.Unit] = c.plan
		}
		if err := h.begins(found, c.asks); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadBegun(root, "live"); err != nil || !maps.Equal(got, c.want) {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, c.want)
		}
	}
}
