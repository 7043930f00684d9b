package lock

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"stackgen/schema"
)

// TestMACs decides for a spec and then for a changed one, and compares the addresses.
// NEW is an address that the lock decided, and KEPT one that it decided before.
func TestMACs(t *testing.T) {
	for name, c := range map[string]struct {
		before, after string
		want          []string
	}{
		"new VM":                     {"vms: {}", "vms: {x: {}}", []string{"NEW"}},
		"new VM, auto":               {"vms: {}", "vms: {x: {networks: [{mac: auto}]}}", []string{schema.AutoMAC}},
		"new VM, given":              {"vms: {}", "vms: {x: {networks: [{mac: '02:00:00:00:00:0a'}, {}]}}", []string{"02:00:00:00:00:0A", "NEW"}},
		"new VM, adopted":            {"vms: {}", "vms: {x: {adopt: {vmid: 500}}}", nil},
		"new VM without NICs":        {"vms: {}", "vms: {x: {networks: []}}", []string{}},
		"again":                      {"vms: {x: {}}", "vms: {x: {}}", []string{"KEPT"}},
		"NIC added":                  {"vms: {x: {}}", "vms: {x: {networks: [{}, {}]}}", []string{"KEPT", "NEW"}},
		"first NIC added":            {"vms: {x: {networks: []}}", "vms: {x: {}}", []string{"NEW"}},
		"NIC removed":                {"vms: {x: {networks: [{}, {}]}}", "vms: {x: {}}", []string{"KEPT"}},
		"given, then not":            {"vms: {x: {networks: [{mac: '02:00:00:00:00:0A'}]}}", "vms: {x: {}}", []string{"KEPT"}},
		"decided, then given":        {"vms: {x: {}}", "vms: {x: {networks: [{mac: '02:00:00:00:00:0A'}]}}", []string{"02:00:00:00:00:0A"}},
		"auto, then not":             {"vms: {x: {networks: [{mac: auto}]}}", "vms: {x: {}}", []string{schema.AutoMAC}},
		"decided, then auto":         {"vms: {x: {}}", "vms: {x: {networks: [{mac: auto}]}}", []string{schema.AutoMAC}},
		"renamed":                    {"vms: {y: {}}", "renamed: {y: x}\nvms: {x: {}}", []string{"KEPT"}},
		"renamed, with what it gave": {"vms: {y: {networks: [{mac: '02:00:00:00:00:0A'}]}}", "renamed: {y: x}\nvms: {x: {networks: [{mac: '02:00:00:00:00:0A'}]}}", []string{"KEPT"}},
		"adopted later":              {"vms: {x: {}}", "vms: {x: {adopt: {vmid: 500}}}", nil},
		"not adopted any more":       {"vms: {x: {adopt: {vmid: 100}}}", "vms: {x: {vmid: 100}}", nil},
	} {
		t.Run(name, func(t *testing.T) {
			first := decided(t, &Lock{Version: Version, Project: "1"}, nil, head+c.before+"\n")
			r := decided(t, first.Lock, nil, head+c.after+"\n")
			var known []string
			for _, e := range first.Lock.Stacks.Get("a").VMs {
				known = append(known, e.Value.MACs...)
			}
			var got []string
			x := r.Lock.Stacks.Get("a").VMs.Get("x")
			if x.MACs != nil {
				got = []string{}
			}
			for i, mac := range x.MACs {
				switch {
				case mac == c.want[min(i, len(c.want)-1)]:
				case slices.Contains(known, mac):
					mac = "KEPT"
				case len(mac) == 17 && mac[:9] == "BC:24:11:":
					mac = "NEW"
				}
				got = append(got, mac)
			}
			if !slices.Equal(got, c.want) || (got == nil) != (c.want == nil) {
				t.Errorf("%v of %v, want %v", got, x.MACs, c.want)
			}
			unchanged(t, r.Lock, head+c.after+"\n")
		})
	}
}

// TestNICsKeepTheirMACs adds and removes NICs and changes their networks: NICs that stay
// keep their addresses, whatever their number, and no other NIC gets the address of one
// that was removed. A NIC in after is its network, and which one it was: a number, or +.
func TestNICsKeepTheirMACs(t *testing.T) {
	spec := func(nics string) string {
		var out []string
		for _, nic := range strings.Fields(nics) {
			vlan, mac, given := strings.Cut(strings.SplitN(nic, "=", 2)[0], "@")
			if nic = "vlan: " + vlan; given {
				nic += ", mac: '02:00:00:00:00:0" + mac + "'"
			}
			out = append(out, "{"+nic+"}")
		}
		return head + "vms: {x: {networks: [" + strings.Join(out, ", ") + "]}}\n"
	}
	for name, c := range map[string]struct{ before, after string }{
		"added first":                                {"1 2", "3=+ 1=0 2=1"},
		"added in the middle":                        {"1 2", "1=0 3=+ 2=1"},
		"added last":                                 {"1 2", "1=0 2=1 3=+"},
		"added in the same network":                  {"1", "1=0 1=+"},
		"first removed":                              {"1 2 3", "2=1 3=2"},
		"a middle one removed":                       {"1 2 3", "1=0 3=2"},
		"last removed":                               {"1 2 3", "1=0 2=1"},
		"removed from two in a network":              {"1 1 2", "1=0 2=2"},
		"removed between two in a network":           {"1 2 1", "1=0 1=2"},
		"removed before two, and one in its network": {"1 2 1", "2=1 1=2"},
		"added before one in its network":            {"1 2", "2=+ 1=0 2=1"},
		"swapped":                                    {"1 2", "2=1 1=0"},
		"another network":                            {"1 2", "3=0 2=1"},
		"another network, and one added":             {"1 2", "3=0 2=1 4=+"},
		"the network of another one":                 {"1 2", "2=0 2=1"},
		"first removed, and one added":               {"1 2", "2=1 3=+"},
		"first removed, and one reconnected":         {"1 2 3", "4=+ 3=2"},
		"last replaced":                              {"1 2", "1=0 3=1"},
		"given, and first removed":                   {"1 2@A 3", "2@A=1 3=2"},
		"given elsewhere":                            {"1@A 2", "3=+ 2@A=0"},
		"given to one that had another":              {"1 2", "1@A=+ 2=1"},
	} {
		first := decided(t, &Lock{Version: Version, Project: "1"}, nil, spec(c.before))
		had := first.Lock.Stacks.Get("a").VMs.Get("x").MACs
		r := decided(t, first.Lock, nil, spec(c.after))
		var got []string
		for i, mac := range r.Lock.Stacks.Get("a").VMs.Get("x").MACs {
			was := "+"
			if k := slices.Index(had, mac); k >= 0 {
				was = strconv.Itoa(k)
			}
			got = append(got, strings.Split(strings.Fields(c.after)[i], "=")[0]+"="+was)
		}
		if g := strings.Join(got, " "); g != c.after {
			t.Errorf("%s: %s after %s, want %s", name, g, c.before, c.after)
		}
		unchanged(t, r.Lock, spec(c.after))
	}
}

// TestLaterNIC: a NIC does not get the address of one that was removed before.
func TestLaterNIC(t *testing.T) {
	l := &Lock{Version: Version, Project: "1"}
	had := map[string]string{}
	for _, vlans := range [][]string{{"1", "2"}, {"1"}, {"1", "3"}, {"3"}, {"3", "4"}, {"5", "3", "4"}} {
		r := decided(t, l, nil, head+"vms: {x: {networks: [{vlan: "+strings.Join(vlans, "}, {vlan: ")+"}]}}\n")
		l = r.Lock
		for i, mac := range l.Stacks.Get("a").VMs.Get("x").MACs {
			if was := had[mac]; was != "" && was != vlans[i] {
				t.Errorf("%v: VLAN %s has %s, which VLAN %s had", vlans, vlans[i], mac, was)
			}
			had[mac] = vlans[i]
		}
	}
}

// TestLockWithoutNetworks: in a lock from before it had networks, NICs are known by their
// numbers until a render records the networks.
func TestLockWithoutNetworks(t *testing.T) {
	first := decided(t, &Lock{Version: Version, Project: "1"}, nil, head+"vms: {x: {networks: [{vlan: 1}, {vlan: 2}]}}\n")
	x := first.Lock.Stacks.Get("a").VMs.Get("x")
	x.Networks = nil
	r := decided(t, first.Lock, nil, head+"vms: {x: {networks: [{vlan: 2}]}}\n")
	if got := r.Lock.Stacks.Get("a").VMs.Get("x"); got.MACs[0] != x.MACs[0] || got.Networks != nil {
		t.Errorf("%v in %v, want %s", got.MACs, got.Networks, x.MACs[0])
	}
}

// TestMACsOfProjects: the id of the project makes the addresses, and nothing else.
func TestMACsOfProjects(t *testing.T) {
	macs := func(id string) []string {
		r := decided(t, &Lock{Version: Version, Project: id}, nil, head+"vms: {x: {}, y: {networks: [{}, {}]}}\n")
		return append(slices.Clone(r.Lock.Stacks[0].Value.VMs[0].Value.MACs), r.Lock.Stacks[0].Value.VMs[1].Value.MACs...)
	}
	one, again, two := macs("1"), macs("1"), macs("2")
	if !slices.Equal(one, again) {
		t.Errorf("one project has %v and %v", one, again)
	}
	all := append(slices.Clone(one), two...)
	slices.Sort(all)
	if len(slices.Compact(all)) != 6 {
		t.Errorf("two projects have an address in common: %v, %v", one, two)
	}
}

// TestNewMACIsFree: an address that another VM has is not chosen.
func TestNewMACIsFree(t *testing.T) {
	r := decided(t, &Lock{Version: Version, Project: "1"}, nil, head+"vms: {x: {}}\n")
	taken := r.Lock.Stacks[0].Value.VMs[0].Value.MACs[0]
	r = decided(t, &Lock{Version: Version, Project: "1"}, nil, head+"vms: {w: {networks: [{mac: '"+taken+"'}]}, x: {}}\n")
	if got := r.Lock.Stacks.Get("a").VMs.Get("x").MACs[0]; got == taken || said(r) != "" {
		t.Errorf("x has %s, which the spec gives to w (%s)", got, said(r))
	}
}
