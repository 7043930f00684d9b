package cluster

import (
	"strings"
	"testing"

	"stackgen/internal/lock"
)

const (
	testUUID  = "11111111-0000-0000-0000-000000000001"
	otherUUID = "22222222-0000-0000-0000-000000000002"
	mac1      = "BC:24:11:00:00:01"
	mac2      = "BC:24:11:00:00:02"
	mac3      = "BC:24:11:00:00:03"
)

// lockOf is a lock with one VM; what it has is YAML without the VMID.
func lockOf(t *testing.T, has string) *lock.Lock {
	t.Helper()
	return recorded(t, "      web: {vmid: 101"+has+"}\n")
}

// TestIdentityDecidesBeforeAdoptAndName checks that a recorded MAC address or UUID
// outweighs everything that a spec says, and that the state's addresses count too.
func TestIdentityDecidesBeforeAdoptAndName(t *testing.T) {
	const spec, adopt, gone = "vms: {web: {name: web}}", "vms: {web: {name: web, adopt: {vmid: 101}}}", "vms: {}"
	inState := func(macs ...string) States { return States{"lab/web": {VMID: 101, Name: "web", MACs: macs}} }
	planned := States{"lab/web": {VMID: 101, Name: "web", MACs: []string{mac1}, Planned: true}}
	newer := func(macs ...string) States {
		return States{"lab/web": {VMID: 101, Name: "web", MACs: macs, Newer: true}}
	}
	begun := func(vmid int, uuid string) States { return States{"lab/web": {Begun: Begun{VMID: vmid, UUID: uuid}}} }
	decided := ", macs: ['" + mac1 + "']"
	both := ", fingerprint: {uuid: " + testUUID + ", macs: ['" + mac1 + "']}"
	for name, c := range map[string]struct {
		spec, lock string
		states     States
		guest      Guest
		want       string
	}{
		"the MAC in the state":                              {spec, "", inState(mac1), printed(101, "x", otherUUID, mac1), "identity is 101"},
		"one of two MACs in the state":                      {spec, "", inState(mac1, mac2), printed(101, "web", otherUUID, mac2, mac3), "identity is 101 differs"},
		"another MAC than in the state":                     {spec, "", inState(mac1), printed(101, "web", otherUUID, mac2), "other-identity held by 101 differs"},
		"another MAC than in the state, adopted":            {adopt, "", inState(mac1), printed(101, "web", otherUUID, mac2), "other-identity held by 101 differs"},
		"no NIC any more":                                   {spec, "", inState(mac1), printed(101, "web", otherUUID), "other-identity held by 101 differs"},
		"the MAC in lower case":                             {spec, "", inState(strings.ToLower(mac1)), printed(101, "web", otherUUID, mac1), "identity is 101"},
		"the state has another VMID":                        {spec, "", States{"lab/web": {VMID: 102, MACs: []string{mac1}}}, printed(101, "web", otherUUID, mac2), "name-alone held by 101"},
		"another MAC, and the recorded UUID":                {spec, both, inState(mac1), printed(101, "web", testUUID, mac2), "identity is 101 differs"},
		"the recorded MAC, and another UUID":                {spec, both, nil, printed(101, "web", otherUUID, mac1), "other-identity held by 101 differs"},
		"the recorded MAC, and no UUID":                     {spec, both, nil, printed(101, "web", "", mac1), "other-identity held by 101 differs"},
		"the MAC in the state, and another UUID":            {spec, both, inState(mac1), printed(101, "web", otherUUID, mac1), "other-identity held by 101 differs"},
		"another UUID, adopted":                             {adopt, both, inState(mac1), printed(101, "web", otherUUID, mac1), "other-identity held by 101 differs"},
		"another UUID, and in no spec":                      {gone, both, inState(mac1), printed(101, "web", otherUUID, mac1), "other-identity held by 101 differs"},
		"another UUID, created again later":                 {spec, both, newer(mac1), printed(101, "web", otherUUID, mac1), "identity is 101"},
		"another UUID and MAC, created again later":         {spec, both, newer(mac2), printed(101, "web", otherUUID, mac2), "identity is 101"},
		"another UUID, and one of two MACs":                 {spec, both, newer(mac1, mac2), printed(101, "web", otherUUID, mac1), "other-identity held by 101 differs"},
		"another UUID, and no MACs":                         {spec, both, newer(), printed(101, "web", otherUUID), "other-identity held by 101 differs"},
		"another UUID and name, created again later":        {spec, both, newer(mac1), printed(101, "x", otherUUID, mac1), "other-identity held by 101 differs"},
		"neither the state's nor the UUID":                  {spec, both, newer(mac2), printed(101, "web", otherUUID, mac1), "other-identity held by 101 differs"},
		"another UUID, and a run began it":                  {spec, both + decided, begun(101, testUUID), printed(101, "web", otherUUID, mac1), "identity is 101"},
		"another UUID, and a run began another VMID":        {spec, both + decided, begun(102, testUUID), printed(101, "web", otherUUID, mac1), "other-identity held by 101 differs"},
		"another UUID, recorded after a run began":          {spec, both + decided, begun(101, ""), printed(101, "web", otherUUID, mac1), "other-identity held by 101 differs"},
		"neither, in state":                                 {spec, both, inState(mac1), printed(101, "web", otherUUID, mac2), "other-identity held by 101 differs"},
		"neither, adopted":                                  {adopt, both, nil, printed(101, "web", otherUUID, mac2), "other-identity held by 101 differs"},
		"neither, and in no spec":                           {gone, both, nil, printed(101, "web", otherUUID, mac2), "other-identity held by 101 differs"},
		"the state's name, in no spec":                      {gone, "", inState(), printed(101, "web", otherUUID), "state-name is 101"},
		"the state's name, renamed in the spec":             {"vms: {web: {name: www}}", "", inState(), printed(101, "web", otherUUID), "state-name is 101"},
		"recorded, and the configuration was not read":      {adopt, both, nil, newGuest(101, "web"), "unseen held by 101"},
		"a decided MAC":                                     {spec, ", macs: ['" + mac1 + "']", nil, printed(101, "x", otherUUID, mac1), "identity is 101"},
		"no decided MAC":                                    {spec, ", macs: ['" + mac1 + "']", nil, printed(101, "web", otherUUID, mac2), "not-its-mac held by 101 differs"},
		"no decided MAC, another name":                      {spec, ", macs: ['" + mac1 + "']", nil, printed(101, "x", otherUUID, mac2), "other-name held by 101 differs"},
		"no decided MAC, adopted":                           {adopt, ", macs: ['" + mac1 + "']", nil, printed(101, "x", otherUUID, mac2), "adopt is 101 differs"},
		"a NIC whose MAC Proxmox VE chooses":                {spec, ", macs: [auto]", nil, printed(101, "web", otherUUID, mac2), "name-alone held by 101"},
		"a NIC was added to a VM whose MAC is unknown":      {spec, ", macs: ['', '" + mac1 + "']", nil, printed(101, "web", otherUUID, mac2), "name-alone held by 101 differs"},
		"a NIC was added to a VM without NICs, in state":    {spec, ", macs: ['" + mac1 + "']", inState(), printed(101, "web", otherUUID), "name is 101 differs"},
		"a state of a plan has the MAC of the plan":         {spec, "", planned, printed(101, "web", otherUUID, mac2), "name is 101 differs"},
		"a state of a plan has the MAC of the VM":           {spec, "", planned, printed(101, "x", otherUUID, mac1), "identity is 101"},
		"a state of a plan, and a decided MAC nowhere seen": {spec, ", macs: ['" + mac1 + "']", planned, printed(101, "web", otherUUID, mac2), "not-its-mac held by 101 differs"},
	} {
		t.Run(name, func(t *testing.T) {
			m := Matches(stacks(t, c.spec), lockOf(t, c.lock), c.states, &Inventory{Guests: []Guest{c.guest}})[0]
			if got := short(m); got != "web 101 "+c.want {
				t.Errorf("got  %s\nwant web 101 %s", got, c.want)
			}
		})
	}
}

// TestVMGenIDAndCreationTimeDecideNothing checks that a rollback is no conflict.
func TestVMGenIDAndCreationTimeDecideNothing(t *testing.T) {
	g := printed(101, "web", testUUID, mac1)
	g.Config.GenID, g.Config.Created = "33333333-0000-0000-0000-000000000003", 1
	l := lockOf(t, ", fingerprint: {uuid: "+testUUID+", macs: ['"+mac1+"']}")
	if m := Matches(stacks(t, "vms: {web: {name: web}}"), l, nil, &Inventory{Guests: []Guest{g}})[0]; m.Why != ByIdentity || len(m.Differ) > 0 {
		t.Errorf("got %s, %v", m.Why, m.Differ)
	}
}

// TestHalfMadeClone checks that a clone that was never configured is the VM only with the
// record of the run that began to create it, or with its state.
func TestHalfMadeClone(t *testing.T) {
	const macs, auto = ", macs: ['" + mac1 + "']", ", macs: [auto]"
	begun := func(vmid int) States { return States{"lab/web": {Begun: Begun{VMID: vmid}}} }
	inState := func(planned bool) States {
		return States{"lab/web": {VMID: 101, Name: "web", MACs: []string{mac1}, Planned: planned}}
	}
	for name, c := range map[string]struct {
		lock   string
		states States
		change func(*Guest)
		want   Why
	}{
		"cloned by hand":                       {macs, nil, nil, NotItsMAC},
		"cloned by hand, MACs of Proxmox VE":   {auto, nil, nil, NameAlone},
		"cloned by hand, nothing decided":      {"", nil, nil, NameAlone},
		"begun":                                {macs, begun(101), nil, HalfMade},
		"begun, MACs of Proxmox VE":            {auto, begun(101), nil, HalfMade},
		"another VMID begun":                   {macs, begun(102), nil, NotItsMAC},
		"another VMID begun, nothing decided":  {"", begun(102), nil, NameAlone},
		"begun, and it runs":                   {macs, begun(101), func(g *Guest) { g.Status = "running" }, NotItsMAC},
		"begun, it runs, MACs of Proxmox VE":   {auto, begun(101), func(g *Guest) { g.Status = "running" }, ByName},
		"begun, another name":                  {macs, begun(101), func(g *Guest) { g.Name = "erp" }, OtherName},
		"begun, configured in part":            {macs, begun(101), func(g *Guest) { g.Config.Raw = map[string]string{"cores": "9"} }, HalfMade},
		"a state that was never read":          {macs, inState(true), nil, HalfMade},
		"a state that was read":                {macs, inState(false), nil, OtherIdentity},
		"begun, and not read":                  {macs, begun(101), func(g *Guest) { g.Config = nil }, Unseen},
		"begun before another VM was recorded": {macs + ", fingerprint: {uuid: " + testUUID + "}", begun(101), nil, OtherIdentity},
		"begun after another VM was recorded":  {macs + ", fingerprint: {uuid: " + testUUID + "}", States{"lab/web": {Begun: Begun{VMID: 101, UUID: testUUID}}}, nil, HalfMade},
	} {
		t.Run(name, func(t *testing.T) {
			g := printed(101, "web", otherUUID, mac3)
			if g.Status = "stopped"; c.change != nil {
				c.change(&g)
			}
			m := Matches(stacks(t, "vms: {web: {name: web}}"), lockOf(t, c.lock), c.states, &Inventory{Guests: []Guest{g}})[0]
			if m.Why != c.want {
				t.Errorf("got %s, want %s: %v", m.Why, c.want, m.Differ)
			}
		})
	}
}

// TestCopiesUnderOtherVMIDs checks that a guest with the identity of a VM is found
// under another VMID, whatever its name.
func TestCopiesUnderOtherVMIDs(t *testing.T) {
	scanned := newGuest(110, "restored")
	scanned.Identity = &Identity{UUID: testUUID, MACs: []string{mac1}}
	byUUID := newGuest(110, "restored")
	byUUID.Identity = &Identity{UUID: strings.ToUpper(testUUID), MACs: []string{mac3}}
	template := printed(110, "golden", testUUID, mac1)
	template.Template = true
	seen, decided := ", fingerprint: {uuid: "+testUUID+", macs: ['"+mac1+"']}", ", macs: ['"+mac1+"', '"+mac2+"']"
	inState := States{"lab/web": {VMID: 101, MACs: []string{mac1}}}
	for name, c := range map[string]struct {
		lock   string
		states States
		guests []Guest
		want   string
	}{
		"by the MAC in the state":    {"", inState, []Guest{scanned}, "absent copy 110 [" + mac1 + "] seen=true"},
		"by the recorded MAC":        {seen, nil, []Guest{scanned}, "absent copy 110 [" + mac1 + "] seen=true"},
		"by the recorded UUID alone": {seen, nil, []Guest{byUUID}, "absent copy 110 [] seen=true"},
		"by decided MACs":            {decided, nil, []Guest{printed(110, "x", "", mac2, mac1)}, "absent copy 110 [" + mac1 + " " + mac2 + "] seen=false"},
		"beside the VM":              {seen, nil, []Guest{printed(101, "web", testUUID, mac1), scanned}, "identity is 101 copy 110 [" + mac1 + "] seen=true"},
		"a template":                 {seen, nil, []Guest{template}, "absent"},
	} {
		t.Run(name, func(t *testing.T) {
			m := Matches(stacks(t, "vms: {web: {name: web}}"), lockOf(t, c.lock), c.states, &Inventory{Guests: c.guests})[0]
			if got := short(m); got != "web 101 "+c.want {
				t.Errorf("got  %s\nwant web 101 %s", got, c.want)
			}
		})
	}
}

// TestRetiredVMLeavesItsMAC checks that a new VM may get the MAC address of a VM that
// the same apply destroys.
func TestRetiredVMLeavesItsMAC(t *testing.T) {
	l := recorded(t, "      old: {vmid: 101, status: retired, fingerprint: {macs: ['"+mac1+"']}}\n      web: {vmid: 102, macs: ['"+mac1+"']}\n")
	for _, m := range Matches(stacks(t, "vms: {web: {name: web}}"), l, nil, &Inventory{Guests: []Guest{printed(101, "old", "", mac1)}}) {
		if len(m.Copies) > 0 {
			t.Errorf("%s: %s", m.Key, short(m))
		}
	}
}
