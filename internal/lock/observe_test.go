package lock

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// observed reads a lock with the entry of VM x and a unit, records an observation, and
// returns the entries that follow, and what was recorded.
func observed(t *testing.T, vm string, o ObservedVM) (entry, what string) {
	t.Helper()
	l, problems := Read("lock", fmt.Appendf(nil, `version: 3
stacks:
  a:
    spec: specs/a.yaml
    state_key: a
    backend: {type: local}
    vms:
      w: {vmid: 101, macs: ['BC:24:11:00:00:0F']}
      x: {vmid: 100%s}
`, vm))
	if l == nil {
		t.Fatal(problems)
	}
	before, err := l.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	o.Key = "x"
	next, recorded := l.Observe([]Observed{{Stack: "a", VMs: []ObservedVM{o}}, {Stack: "other", VMs: []ObservedVM{o}}})
	after, err := next.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := l.Bytes(); string(again) != string(before) {
		t.Error("the lock that was read was changed")
	}
	if len(recorded) == 0 != (string(before) == string(after)) {
		t.Errorf("says %v, and writes\n%s", recorded, after)
	}
	for _, r := range recorded {
		what += strings.Join(r.What, " ")
	}
	_, entry, _ = strings.Cut(string(after), "x: {vmid: 100")
	return strings.TrimSuffix(entry, "}\n"), what
}

// TestObserve records what was observed of one VM.
func TestObserve(t *testing.T) {
	const seen = ", fingerprint: {uuid: 1b4e28ba-2fa1-11d2-883f-0016d3cca427, macs: ['BC:24:11:00:00:01']}"
	one := &Fingerprint{UUID: "1b4e28ba-2fa1-11d2-883f-0016d3cca427", MACs: []string{"BC:24:11:00:00:01"}}
	newMAC := &Fingerprint{UUID: one.UUID, MACs: []string{"BC:24:11:00:00:02"}}
	newUUID := &Fingerprint{UUID: "2b4e28ba-2fa1-11d2-883f-0016d3cca427", MACs: one.MACs}
	other := &Fingerprint{UUID: newUUID.UUID, MACs: newMAC.MACs}
	for name, c := range map[string]struct {
		before string
		o      ObservedVM
		after  string
		what   string
	}{
		"nothing seen":                    {seen, ObservedVM{VMID: 100}, seen, ""},
		"first fingerprint":               {"", ObservedVM{VMID: 100, Fingerprint: one}, seen, "fingerprint"},
		"the same":                        {seen, ObservedVM{VMID: 100, Fingerprint: one}, seen, ""},
		"another MAC, the same UUID":      {seen, ObservedVM{VMID: 100, Fingerprint: newMAC}, strings.Replace(seen, ":01", ":02", 1), "fingerprint"},
		"another UUID, the same MAC":      {seen, ObservedVM{VMID: 100, Fingerprint: newUUID}, strings.Replace(seen, "1b4e28ba", "2b4e28ba", 1), "fingerprint"},
		"another VM":                      {seen, ObservedVM{VMID: 100, Fingerprint: other}, seen, ""},
		"another VM, says a person":       {seen, ObservedVM{VMID: 100, Fingerprint: other, Confirmed: true}, strings.NewReplacer("1b4e28ba", "2b4e28ba", ":01", ":02").Replace(seen), "fingerprint"},
		"another VMID by now":             {"", ObservedVM{VMID: 101, Fingerprint: one}, "", ""},
		"addresses":                       {"", ObservedVM{VMID: 100, Addresses: []string{"192.0.2.1"}}, ", addresses: [192.0.2.1]", "addresses"},
		"agent silent":                    {", addresses: [192.0.2.1]", ObservedVM{VMID: 100}, ", addresses: [192.0.2.1]", ""},
		"MACs of a lock before version 3": {"", ObservedVM{VMID: 100, MACs: []string{"BC:24:11:00:00:01"}}, ", macs: ['BC:24:11:00:00:01']", "macs"},
		"MACs decided":                    {", macs: ['BC:24:11:00:00:05']", ObservedVM{VMID: 100, MACs: []string{"BC:24:11:00:00:01"}}, ", macs: ['BC:24:11:00:00:05']", ""},
		"MACs of another VM":              {"", ObservedVM{VMID: 100, MACs: []string{"BC:24:11:00:00:0F"}}, "", ""},
		"moved in the state":              {", former: [protected/x, default/y]", ObservedVM{VMID: 100, Left: []Address{{"protected", "x"}, {"default", "z"}}}, ", former: [default/y]", "former"},
		"gone":                            {seen + ", former: [protected/x], status: retired", ObservedVM{VMID: 100, Gone: true}, ", gone: true, status: retired", "gone"},
		"a disk that is removed":          {"", ObservedVM{VMID: 100, Detached: []string{"scsi1=shared:100/vm-100-disk-1.raw"}}, ", detached: ['scsi1=shared:100/vm-100-disk-1.raw']", "detached"},
		"its volume is gone":              {", detached: ['scsi1=a:b']", ObservedVM{VMID: 100, Detached: []string{}}, "", "detached"},
		"its volume is not known":         {", detached: ['scsi1=a:b']", ObservedVM{VMID: 100}, ", detached: ['scsi1=a:b']", ""},
		"no volume":                       {"", ObservedVM{VMID: 100, Detached: []string{"scsi1=", "scsi1=a b"}}, "", ""},
		"gone, known":                     {", gone: true, status: retired", ObservedVM{VMID: 100, Gone: true}, ", gone: true, status: retired", ""},
		"gone, restored in the spec":      {seen, ObservedVM{VMID: 100, Gone: true}, seen, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if after, what := observed(t, c.before, c.o); after != c.after || what != c.what {
				t.Errorf("x: {vmid: 100%s}, recorded %q\nwant %s, %q", after, what, c.after, c.what)
			}
		})
	}
}

// TestObserveUnreadable: what no lock can have is not recorded, and keeps nothing else
// from being recorded.
func TestObserveUnreadable(t *testing.T) {
	after, what := observed(t, "", ObservedVM{VMID: 100, Fingerprint: &Fingerprint{UUID: "a\nb", MACs: []string{"x", "BC:24:11:00:00:01"}},
		MACs: []string{"01:00:5E:00:00:01"}, Addresses: []string{"2001:db8::1%\x1b[31m", "192.0.2.1"}})
	if after != ", fingerprint: {macs: ['BC:24:11:00:00:01']}, addresses: [192.0.2.1]" || what != "fingerprint addresses" {
		t.Errorf("%s, recorded %q", after, what)
	}
	l := &Lock{Version: Version, Stacks: Ordered[Stack]{{"a", Stack{Spec: "specs/a.yaml", StateKey: "a", Backend: Backend{Type: "local"}, Units: Ordered[Unit]{{"u", Unit{}}}}}}}
	next, recorded := l.Observe([]Observed{{Stack: "a", Cluster: &Cluster{CA: "x", Nodes: []ClusterNode{{"pve1", "a\nb"}}}, Units: []ObservedUnit{{Name: "u", Lineage: "a\nb"}}}})
	if _, err := next.Bytes(); err != nil || len(recorded) > 0 {
		t.Errorf("%v, recorded %v", err, recorded)
	}
}

// TestObserveUnits records lineages, applied pools and units that are gone.
func TestObserveUnits(t *testing.T) {
	yes, no := true, false
	for name, c := range map[string]struct {
		before Unit
		o      ObservedUnit
		after  Unit
	}{
		"lineage":            {Unit{}, ObservedUnit{Lineage: "l"}, Unit{Lineage: "l"}},
		"another lineage":    {Unit{Lineage: "k"}, ObservedUnit{Lineage: "l"}, Unit{Lineage: "k"}},
		"a person says so":   {Unit{Lineage: "k"}, ObservedUnit{Lineage: "l", Replaces: true}, Unit{Lineage: "l"}},
		"serial":             {Unit{Lineage: "l", Serial: 2}, ObservedUnit{Lineage: "l", Serial: 3}, Unit{Lineage: "l", Serial: 3}},
		"serial of another":  {Unit{Lineage: "k", Serial: 2}, ObservedUnit{Lineage: "l", Serial: 3}, Unit{Lineage: "k", Serial: 2}},
		"serial not known":   {Unit{Lineage: "l", Serial: 2}, ObservedUnit{Lineage: "l"}, Unit{Lineage: "l", Serial: 2}},
		"state not there":    {Unit{Lineage: "k"}, ObservedUnit{}, Unit{Lineage: "k"}},
		"pool applied":       {Unit{Pool: "p"}, ObservedUnit{Applied: &yes}, Unit{Pool: "p", Applied: true}},
		"pool destroyed":     {Unit{Pool: "p", Applied: true}, ObservedUnit{Applied: &no}, Unit{Pool: "p"}},
		"pool not seen":      {Unit{Pool: "p", Applied: true}, ObservedUnit{}, Unit{Pool: "p", Applied: true}},
		"gone":               {Unit{Status: Retired}, ObservedUnit{Gone: true}, Unit{Status: Retired, Gone: true}},
		"gone, wanted again": {Unit{}, ObservedUnit{Gone: true}, Unit{}},
	} {
		t.Run(name, func(t *testing.T) {
			l := &Lock{Version: Version, Stacks: Ordered[Stack]{{"a", Stack{Units: Ordered[Unit]{{"u", c.before}}}}}}
			c.o.Name = "u"
			next, recorded := l.Observe([]Observed{{Stack: "a", Units: []ObservedUnit{c.o}}})
			if got := next.Stacks[0].Value.Units[0].Value; got != c.after || (len(recorded) > 0) != (got != c.before) {
				t.Errorf("%+v, recorded %v; want %+v", got, recorded, c.after)
			}
		})
	}
}

// TestRenderKeepsObservations: no decision changes what was observed.
func TestRenderKeepsObservations(t *testing.T) {
	first := decided(t, &Lock{Version: Version, Project: "1"}, nil, head+"vms: {x: {}}\n").Lock
	yes := true
	seen, _ := first.Observe([]Observed{{Stack: "a", Cluster: &Cluster{CA: "c"}, Units: []ObservedUnit{{Name: UnitVM, Lineage: "l", Applied: &yes}},
		VMs: []ObservedVM{{Key: "x", VMID: first.Stacks[0].Value.VMs[0].Value.VMID, Fingerprint: &Fingerprint{UUID: "u"}, Addresses: []string{"192.0.2.1"}}}}})
	before, err := seen.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	after, err := decided(t, seen, nil, head+"vms: {x: {}}\n").Lock.Bytes()
	if err != nil || !slices.Equal(before, after) {
		t.Errorf("%v: a render changes\n%s\nto\n%s", err, before, after)
	}
}
