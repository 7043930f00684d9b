package guard

import (
	"math/rand"
	"reflect"
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/report"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// project is a stack of three VMs, as a spec would make it.
func project() (*schema.Project, *lock.Lock) {
	s := &schema.Stack{Name: "lab", Spec: "specs/lab.yaml", Kind: schema.KindStack}
	l := lock.Stack{Spec: "specs/lab.yaml", Units: lock.Ordered[lock.Unit]{{Key: lock.UnitVM}}}
	for i, key := range []string{"web1", "web2", "web10"} {
		s.VMs = append(s.VMs, &schema.VM{Key: key, Path: "vms." + key, Name: key, Profile: "default"})
		l.VMs = append(l.VMs, lock.Entry[lock.VM]{Key: key, Value: lock.VM{VMID: 100 + i, Node: "pve1"}})
	}
	p := &schema.Project{Stacks: []*schema.Stack{s}, Profiles: schema.BuiltinProfiles()}
	return p, &lock.Lock{Stacks: lock.Ordered[lock.Stack]{{Key: "lab", Value: l}}}
}

// input is a cluster in which the guests with the names of the VMs are recorded as them.
func input(state []tf.Resource, guests ...cluster.Guest) Input {
	p, l := project()
	for _, g := range guests {
		if e := l.Stacks[0].Value.VMs.Get(g.Name); e != nil && e.VMID == g.VMID && g.Config != nil {
			g.Config.UUID = "u-" + g.Name
			e.Fingerprint = &lock.Fingerprint{UUID: g.Config.UUID}
		}
	}
	return Input{Project: p, Lock: l, Selected: func(string) bool { return true }, State: tf.States{tf.VMUnit("lab"): {Resources: state}},
		Inventory: &cluster.Inventory{Quorate: true, Nodes: []cluster.Node{{Name: "pve1", Online: true}}, Guests: guests}}
}

func inState(key string, vmid int) tf.Resource {
	return tf.Resource{Address: schema.VMAddress("", key), Type: guest.VMResource, Key: key, VMID: vmid, Node: "pve1", Name: key}
}

func newGuest(vmid int, name string) cluster.Guest {
	return cluster.Guest{VMID: vmid, Node: "pve1", Kind: guest.VM, Name: name, Status: "stopped", Config: &cluster.Config{}}
}

func words(vs []finding.Finding) string {
	var out []string
	for _, v := range vs {
		out = append(out, v.Key+" "+string(v.Kind))
	}
	return strings.Join(out, ", ")
}

// said is the reason and the evidence of a finding in words.
func said(f *finding.Finding) string {
	shown := report.NewFindings([]finding.Finding{*f}, nil).Findings[0]
	out := shown.Says
	for _, e := range shown.Evidence {
		out += "\n" + e.Text
	}
	return out
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name, want string
		exit       finding.Severity
		in         Input
	}{
		{"nothing there", "web1 create, web2 create, web10 create", 0, input(nil)},
		{"all there", "web1 managed, web2 managed, web10 managed", 0, input([]tf.Resource{inState("web1", 100), inState("web2", 101), inState("web10", 102)}, newGuest(100, "web1"), newGuest(101, "web2"), newGuest(102, "web10"))},
		{"state lost", "web1 adopt, web2 adopt, web10 adopt", 0, input(nil, newGuest(100, "web1"), newGuest(101, "web2"), newGuest(102, "web10"))},
		{"all of it", "web1 gone, web2 conflict, web10 ambiguous", 3, input([]tf.Resource{inState("web1", 100)}, newGuest(101, "x"), newGuest(300, "web10"))},
		{"names in other case", "web1 ambiguous, web2 create, web10 create", 3, input(nil, newGuest(300, "WEB1"))},
		{"a VM in no spec", "old would-destroy, web1 create, web2 create, web10 create", 3, input([]tf.Resource{inState("old", 300)}, newGuest(300, "old"))},
	} {
		vs := Judge(c.in)
		if got := words(vs); got != c.want || finding.Exit(vs) != c.exit {
			t.Errorf("%s: got %s, exit %d; want %s, exit %d", c.name, got, finding.Exit(vs), c.want, c.exit)
		}
	}
}

// TestUnreadState checks that a state that was not read is not treated as empty.
func TestUnreadState(t *testing.T) {
	in := input(nil, newGuest(100, "web1"))
	in.State = tf.States{}
	vs := Judge(in)
	if got, want := words(vs), "web1 unknown, web2 unknown, web10 unknown"; got != want || finding.Exit(vs) != finding.Failed {
		t.Errorf("got %s, exit %d; want %s, exit 1", got, finding.Exit(vs), want)
	}
}

// TestOrder judges the same cluster, read in any order, to the same verdicts.
func TestOrder(t *testing.T) {
	guests := []cluster.Guest{newGuest(300, "web1"), newGuest(301, "web1"), newGuest(101, "x"), newGuest(302, "web10"), newGuest(303, "web2")}
	state := []tf.Resource{inState("z", 400), inState("y", 401), inState("web2", 101)}
	want := Judge(input(state, guests...))
	for range 50 {
		rand.Shuffle(len(guests), func(i, k int) { guests[i], guests[k] = guests[k], guests[i] })
		rand.Shuffle(len(state), func(i, k int) { state[i], state[k] = state[k], state[i] })
		if got := Judge(input(state, guests...)); !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v\nwant %+v", got, want)
		}
	}
}

func TestParseImports(t *testing.T) {
	got, err := ParseImports("f.tf", []byte("# x\nimport {\n  to = a.b[\"*.c\"]\n  id = \"n/1\"\n}\n"))
	if err != nil || !reflect.DeepEqual(got, Imports{`a.b["*.c"]`: "n/1"}) {
		t.Errorf("got %v, %v", got, err)
	}
	for _, src := range []string{"import {", "resource \"a\" \"b\" {}", "import {\n to = a.b\n}", "import {\n to = a.b\n id = var.x\n}",
		"# to = proxmox_virtual_environment_vm.this[\"a\"]\n"} {
		if _, err := ParseImports("f.tf", []byte(src)); err == nil {
			t.Errorf("%q is taken", src)
		}
	}
}

// TestMissingDNSKey checks that a stack whose records need a key is blocked
// without its secret, before an apply creates the VMs.
func TestMissingDNSKey(t *testing.T) {
	in := input(nil)
	s := in.Project.Stacks[0]
	s.DNS = &schema.DNS{Zone: "lab.test.", Server: "192.0.2.53", KeyName: "ddns."}
	s.VMs[0].Records = []schema.Record{{Name: "web1", TTL: 300}}
	in.Lock.Stacks[0].Value.Units = append(in.Lock.Stacks[0].Value.Units, lock.Entry[lock.Unit]{Key: "dns-web1"})
	in.Lock.Stacks[0].Value.VMs[0].Value.Unit = "dns-web1"
	in.State[tf.Unit{Stack: "lab", Unit: "dns-web1"}] = tf.State{}
	in.Inventory.Records = []cluster.Record{{Name: "web1.lab.test."}}
	for missing, want := range map[bool]finding.Kind{false: finding.Create, true: finding.Unknown} {
		in.NoDNSKey = missing
		found := Judge(in)
		if last := found[len(found)-1]; last.Type != finding.Record || last.Kind != want || (finding.Exit(found) == finding.Blocked) != missing {
			t.Errorf("secret missing %v: %s, exit %d, want %s", missing, words(found), finding.Exit(found), want)
		}
	}
}
