package cluster

import (
	"fmt"
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/lock"
	"stackgen/schema"
)

// stacks parses one spec.
func stacks(t *testing.T, src string) []*schema.Stack {
	t.Helper()
	const head = "apiVersion: stackgen/v1\nkind: Stack\nname: lab\nvmids: 100-199\ndefaults: {node: pve1, template: 9000, cloud_init: {ipv4: dhcp}}\n"
	spec, problems := schema.Parse("specs/lab.yaml", []byte(head+src))
	if spec == nil {
		t.Fatal(problems)
	}
	p, problems := schema.Join(nil, []schema.Input{{Spec: spec, Label: "specs/lab.yaml"}}, schema.Files{}, nil)
	if schema.HasErrors(problems) {
		t.Fatal(problems)
	}
	return p.Stacks
}

func recorded(t *testing.T, vms string) *lock.Lock {
	t.Helper()
	l, problems := lock.Read("lock", []byte("version: 3\nstacks:\n  lab:\n    spec: specs/lab.yaml\n    state_key: lab\n    vms:\n"+vms))
	if l == nil {
		t.Fatal(problems)
	}
	return l
}

func newGuest(vmid int, name string) Guest {
	return Guest{VMID: vmid, Node: "pve1", Kind: guest.VM, Name: name, Status: "running"}
}

func printed(vmid int, name, uuid string, macs ...string) Guest {
	g := newGuest(vmid, name)
	g.Config = &Config{UUID: uuid, MACs: macs}
	return g
}

// short formats a match as one line.
func short(m Match) string {
	out := fmt.Sprintf("%s %d %s", m.Key, m.VMID, m.Why)
	if m.Guest != nil {
		out += fmt.Sprintf(" is %d", m.Guest.VMID)
	}
	if m.Holder != nil {
		out += fmt.Sprintf(" held by %d", m.Holder.VMID)
	}
	if len(m.Differ) > 0 {
		out += " differs"
	}
	for _, o := range m.Others {
		out += fmt.Sprintf(" +%d", o.VMID)
	}
	for _, c := range m.Copies {
		out += fmt.Sprintf(" copy %d %s seen=%v", c.VMID, c.MACs, c.Seen)
	}
	return out
}

func TestMatches(t *testing.T) {
	const uuid, other = "11111111-0000-0000-0000-000000000001", "22222222-0000-0000-0000-000000000002"
	const mac, mac2 = "BC:24:11:00:00:01", "BC:24:11:00:00:02"
	template, container, unknown, nameless := newGuest(101, "web"), newGuest(101, "web"), newGuest(101, "web"), newGuest(101, "")
	template.Template, container.Kind, unknown.Status = true, guest.Container, StatusUnknown
	plain, withPrint := "      web: {vmid: 101}\n", "      web: {vmid: 101, fingerprint: {uuid: "+uuid+", macs: ["+"'"+mac+"'"+"]}}\n"
	onlyMAC := "      web: {vmid: 101, fingerprint: {macs: ['" + mac + "', '" + mac2 + "']}}\n"
	const spec, adopt = "vms: {web: {name: web}}", "vms: {web: {name: web, adopt: {vmid: 101}}}"
	for name, c := range map[string]struct {
		spec, lock string
		guests     []Guest
		want       string
	}{
		"nowhere":                           {spec, plain, nil, "web 101 absent"},
		"nothing decided":                   {spec, "", []Guest{newGuest(150, "web")}, "web 0 no-vmid +150"},
		"by name":                           {spec, plain, []Guest{newGuest(101, "web")}, "web 101 name-alone held by 101"},
		"another name":                      {spec, plain, []Guest{newGuest(101, "db")}, "web 101 other-name held by 101"},
		"a name in another case":            {spec, plain, []Guest{newGuest(101, "WEB")}, "web 101 other-name held by 101"},
		"by fingerprint, renamed":           {spec, withPrint, []Guest{printed(101, "renamed", strings.ToUpper(uuid), mac)}, "web 101 identity is 101"},
		"by fingerprint, another NIC":       {spec, withPrint, []Guest{printed(101, "web", uuid, mac2)}, "web 101 identity is 101 differs"},
		"same name, another fingerprint":    {spec, withPrint, []Guest{printed(101, "web", other, mac)}, "web 101 other-identity held by 101 differs"},
		"no UUID on either side":            {spec, onlyMAC, []Guest{printed(101, "web", other, mac2)}, "web 101 identity is 101 differs"},
		"no common MAC":                     {spec, onlyMAC, []Guest{printed(101, "web", other, "BC:24:11:00:00:03")}, "web 101 other-identity held by 101 differs"},
		"fingerprint recorded and not read": {spec, withPrint, []Guest{newGuest(101, "web")}, "web 101 unseen held by 101"},
		"offline":                           {spec, plain, []Guest{unknown}, "web 101 unseen held by 101"},
		"nameless":                          {spec, plain, []Guest{nameless}, "web 101 unseen held by 101"},
		"template":                          {spec, plain, []Guest{template}, "web 101 template held by 101"},
		"container":                         {spec, plain, []Guest{container}, "web 101 other-kind held by 101"},
		"adopt":                             {adopt, "", []Guest{newGuest(101, "db")}, "web 101 adopt is 101"},
		"adopt nothing":                     {adopt, "", nil, "web 101 absent"},
		"adopt a template":                  {adopt, plain, []Guest{template}, "web 101 template held by 101"},
		"adopt, another fingerprint":        {adopt, withPrint, []Guest{printed(101, "web", other)}, "web 101 other-identity held by 101 differs"},
		"adopt overrides another VMID":      {adopt, "      web: {vmid: 102, fingerprint: {uuid: " + uuid + "}}\n", []Guest{printed(101, "x", other), newGuest(102, "web")}, "web 101 adopt is 101 +102"},
		"several guests with the name, one of them a template": {spec, plain, []Guest{newGuest(101, "web"), newGuest(150, "Web"), {VMID: 151, Name: "web", Template: true}, {VMID: 152, Name: "web", Kind: guest.Container}}, "web 101 name-alone held by 101 +150 +152"},
		"retired":                      {"vms: {}", withPrint, []Guest{printed(101, "web", uuid)}, "web 101 identity is 101 differs"},
		"retired, never fingerprinted": {"vms: {}", plain, []Guest{newGuest(101, "web")}, "web 101 no-name held by 101"},
		"a guest with the name that is another VM": {"vms: {web: {name: web}, db: {name: db}}", plain + "      db: {vmid: 102, fingerprint: {uuid: " + uuid + "}}\n",
			[]Guest{printed(102, "web", uuid)}, "web 101 absent\ndb 102 identity is 102"},
	} {
		t.Run(name, func(t *testing.T) {
			var l *lock.Lock
			if c.lock != "" {
				l = recorded(t, c.lock)
			}
			var got []string
			for _, m := range Matches(stacks(t, c.spec), l, nil, &Inventory{Guests: c.guests}) {
				got = append(got, short(m))
			}
			if strings.Join(got, "\n") != c.want {
				t.Errorf("got  %s\nwant %s", strings.Join(got, "\n"), c.want)
			}
		})
	}
}

// TestDuplicatesAreNotGuessed covers repeated applies against an empty state, which
// left eleven VMs instead of two: none matches until a spec adopts it.
func TestDuplicatesAreNotGuessed(t *testing.T) {
	inv := &Inventory{}
	for _, id := range []int{108, 112, 116, 121, 123} {
		inv.Guests = append(inv.Guests, newGuest(id, "prometheus"))
	}
	for _, id := range []int{110, 111, 115, 117, 122, 126} {
		inv.Guests = append(inv.Guests, newGuest(id, "grafana"))
	}
	report := func(spec string) string {
		var out []string
		matches := Matches(stacks(t, spec), nil, nil, inv)
		for _, m := range matches {
			out = append(out, short(m))
		}
		for _, o := range Orphans(stacks(t, spec), matches, inv) {
			out = append(out, fmt.Sprintf("orphan %d", o.Guest.VMID))
		}
		return strings.Join(out, "\n")
	}
	const before = "prometheus 0 no-vmid +108 +112 +116 +121 +123\ngrafana 0 no-vmid +110 +111 +115 +117 +122 +126"
	if got := report("vms: {prometheus: {name: prometheus}, grafana: {name: grafana}}"); got != before {
		t.Errorf("without adopt:\n%s", got)
	}
	const after = "prometheus 123 adopt is 123 +108 +112 +116 +121\ngrafana 126 adopt is 126 +110 +111 +115 +117 +122"
	if got := report("vms: {prometheus: {name: prometheus, adopt: {vmid: 123}}, grafana: {name: grafana, adopt: {vmid: 126}}}"); got != after {
		t.Errorf("with adopt:\n%s", got)
	}
}

func TestOrphans(t *testing.T) {
	inPool, tagged, both, linux, template := newGuest(201, "a"), newGuest(202, "b"), newGuest(203, "c"), newGuest(204, "d"), newGuest(205, "e")
	inPool.Pool, both.Pool, template.Pool = "p", "p", "p"
	tagged.Tags, both.Tags, linux.Tags, template.Template = []string{"lab", "x"}, []string{"lab"}, []string{"linux"}, true
	for name, c := range map[string]struct{ spec, want string }{
		"a pool of the stack":                 {"pool: {id: p, create: true}\nvms: {web: {}}", "201 pool p, 203 pool p"},
		"a shared pool":                       {"pool: {id: p}\nvms: {web: {}}", ""},
		"the stack's name as tag":             {"vms: {web: {tags: [lab, linux]}}", "202 tag lab, 203 tag lab"},
		"a tag that not all VMs have":         {"vms: {web: {tags: [lab]}, db: {}}", ""},
		"a shared tag":                        {"vms: {web: {tags: [linux]}}", ""},
		"a guest that is a VM of the project": {"pool: {id: p, create: true}\nvms: {web: {vmid: 201}}", "203 pool p"},
	} {
		t.Run(name, func(t *testing.T) {
			inv := &Inventory{Guests: []Guest{inPool, tagged, both, linux, template}}
			s := stacks(t, c.spec)
			var got []string
			for _, o := range Orphans(s, Matches(s, nil, nil, inv), inv) {
				got = append(got, fmt.Sprintf("%d %s", o.Guest.VMID, o.Mark))
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("got %q, want %q", strings.Join(got, ", "), c.want)
			}
		})
	}
}
