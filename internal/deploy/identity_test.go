package deploy

import (
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/check"
	"stackgen/internal/cluster"
	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// TestIdentities: the lock keeps the identity of a VM unless it is certainly gone: a stranger may
// have its VMID and its MAC since.
func TestIdentities(t *testing.T) {
	s := &schema.Stack{Name: "lab"}
	l := lock.Stack{Units: lock.Ordered[lock.Unit]{{Key: lock.UnitVM}}}
	for i, key := range []string{"destroyed", "free", "stranger", "own", "hidden"} {
		s.VMs = append(s.VMs, &schema.VM{Key: key, Name: key})
		l.VMs = append(l.VMs, lock.Entry[lock.VM]{Key: key, Value: lock.VM{VMID: 100 + i, Fingerprint: &lock.Fingerprint{UUID: "u-" + key, MACs: []string{"02:00:00:00:00:01"}}}})
	}
	p := &project.Project{Root: t.TempDir(), Selected: func(string) bool { return true }, Stacks: &schema.Project{Stacks: []*schema.Stack{s}},
		Lock: &lock.Lock{Stacks: lock.Ordered[lock.Stack]{{Key: "lab", Value: l}}}}
	session := check.New(p, check.Sources{})
	session.State[tf.VMUnit("lab")] = tf.State{}
	session.Inventory = &cluster.Inventory{Quorate: true, Guests: []cluster.Guest{
		{VMID: 102, Kind: guest.VM, Name: "stranger", Config: &cluster.Config{UUID: "another", MACs: []string{"02:00:00:00:00:01"}}},
		{VMID: 103, Kind: guest.VM, Name: "own", Config: &cluster.Config{UUID: "u-own"}},
	}, Gaps: []cluster.Gap{{Path: "/vms/104", Reason: "no access"}}}
	gone, kept := identities(session, "lab", []string{"destroyed"})
	if got := strings.Join(gone, " "); got != "destroyed free" {
		t.Errorf("gone: %s", got)
	}
	if len(kept) != 1 || kept[0].Key != "stranger" {
		t.Errorf("kept: %+v", kept)
	}
	if gone, _ := identities(session, "other", nil); gone != nil {
		t.Errorf("of another stack: %v", gone)
	}
}
