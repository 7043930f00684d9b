package lock

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"stackgen/schema"
)

const full = Header + `
version: 3
project: 0f1e2d3c4b5a6978
stacks:
  old:
    spec: ../specs/old.yaml
    status: retired
    environment: prod
    state_key: team/prod/old
    backend: {type: s3, bucket: states, region: eu-1, endpoint: 'https://s3.example.org', path_style: true, lock: true}
    proxmox: {endpoint: 'https://pve.example.org:8006/', insecure: true, ca_file: ca.pem}
    dns: {zone: example.org., server: 192.0.2.53, port: 53, key_name: ddns., algorithm: hmac-sha256}
    cluster: {ca: 1b4e28ba-2fa1-11d2-883f-0016d3cca427, name: lab, nodes: [{name: pve1, address: 192.0.2.11}, {name: pve2}]}
    units:
      dns-a: {status: forgotten}
      proxmox-pool: {pool: lab, lineage: 9a7c, applied: true}
      proxmox-vm: {status: retired}
  web:
    spec: specs/web.yaml
    state_key: web
    backend: {type: local}
    units:
      proxmox-vm: {}
    vms:
      w2: {vmid: 101, node: pve1, clone: linked, profile: protected, template: {vmid: 9000, node: pve2, name: ubuntu}, macs: ['BC:24:11:00:00:01'], unit: dns-w2, member: 'O''Brien, B.', seat: 2, former: [default/w1, protected/w1, default/w2], fingerprint: {uuid: u-1, macs: ['BC:24:11:00:00:01']}, addresses: [192.0.2.20], gone: true, status: retired}
      w10: {vmid: 100}
`

func TestReadOfBytesIsTheSame(t *testing.T) {
	for _, src := range []string{full, Header + "\nversion: 3\nstacks: {}\n"} {
		l, problems := Read("lock", []byte(src))
		if l == nil {
			t.Fatal(problems)
		}
		for range 2 {
			got, err := l.Bytes()
			if err != nil || string(got) != src {
				t.Fatalf("%v, got\n%s\nwant\n%s", err, got, src)
			}
			l = l.clone()
		}
	}
	if l, problems := Read("lock", []byte(" \n")); l == nil || len(l.Stacks) != 0 || l.Version != Version {
		t.Errorf("an empty file is %+v, %v", l, problems)
	}
}

func TestReadErrors(t *testing.T) {
	stack := "version: 3\nstacks:\n  a:\n    spec: s\n    state_key: k\n"
	for name, c := range map[string]struct{ src, want string }{
		"newer version":   {"machines: {}\nversion: 7\n", "2:10: it has version 7, but this stackgen reads version 3"},
		"no version":      {"stacks: {}\n", "1:1: version is missing"},
		"version in text": {"version: one\n", `1:10: version is a number, not "one"`},
		"unknown key":     {"version: 3\nfoo: 1\n", `2:1: unknown key "foo"`},
		"list":            {"[]\n", "1:1: expected a map, found a list"},
		"conflict":        {"version: 3\n<<<<<<< HEAD\n", "2:"},
		"only a comment":  {"# lock\n", "1:1: the file contains no document"},
		"stack is text":   {"version: 3\nstacks: {a: b}\n", "2:13: expected a map, found text"},
		"stack elsewhere": {"version: 3\nstacks: {../a: {}}\n", `2:10: "../a" is not the name of a stack, unit or guest`},
		"no spec":         {"version: 3\nstacks:\n  a: {state_key: b}\n", `3:6: stack "a" has no spec or no state_key`},
		"units":           {stack + "    units: []\n", "6:12: expected a map, found a list"},
		"unit is nothing": {stack + "    units: {dns-a: }\n", "6:20: expected a map, found nothing"},
		"unknown status":  {stack + "    status: gone\n", `6:13: unknown status "gone"`},
		"no vmid":         {stack + "    vms: {a: {}}\n", "6:14: vmid is missing"},
		"vmid in text":    {stack + "    vms: {a: {vmid: x}}\n", `6:21: vmid is a number, not "x"`},
		"no template":     {stack + "    vms: {a: {vmid: 100, template: {}}}\n", "6:36: vmid is missing"},
		"dns port":        {stack + "    dns: {zone: a}\n", "6:10: port is missing"},
		"macs":            {stack + "    vms: {a: {vmid: 100, macs: a}}\n", "6:32: expected a list, found text"},
	} {
		t.Run(name, func(t *testing.T) {
			l, problems := Read("lock", []byte(c.src))
			if l != nil || len(problems) == 0 {
				t.Fatalf("read as %+v", l)
			}
			p := problems[0]
			got := strings.TrimPrefix(p.Pos.String(), "lock:") + ": " + strings.TrimPrefix(p.Message, "the lock cannot be read: ")
			if !strings.HasPrefix(got, c.want) || p.Code != schema.CodeLock || p.Fix == "" {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

const head = "apiVersion: stackgen/v1\nkind: Stack\nname: a\nvmids: 100-109\ndefaults: {template: 9000, node: pve1}\n"

// decided decides for one spec, and for others beside it.
func decided(t *testing.T, old *Lock, moved []string, specs ...string) Result {
	t.Helper()
	return decidedWith(t, old, Options{StateMoved: moved}, specs...)
}

// decidedAgain decides again for one VM.
func decidedAgain(t *testing.T, old *Lock, spec, again string) Result {
	t.Helper()
	return decidedWith(t, old, Options{Again: []string{again}}, spec)
}

func decidedWith(t *testing.T, old *Lock, o Options, specs ...string) Result {
	t.Helper()
	var inputs []schema.Input
	paths := map[string]string{}
	for _, src := range specs {
		s, problems := schema.Parse("a.yaml", []byte(src))
		if s == nil {
			t.Fatal(problems)
		}
		paths[s.Name] = "specs/" + s.Name + ".yaml"
		inputs = append(inputs, schema.Input{Spec: s, Label: paths[s.Name]})
	}
	p, problems := schema.Join(nil, inputs, nil, old.Seats())
	if schema.HasErrors(problems) {
		t.Fatal(problems)
	}
	o.Specs, o.Selected = paths, func(string) bool { return true }
	return Decide(p, old, o)
}

// said is everything a result says, one thing a line.
func said(r Result) string {
	var out []string
	for _, p := range r.Problems {
		out = append(out, string(p.Severity)+": "+p.Message)
	}
	for _, s := range r.Refusals {
		out = append(out, "stop: "+s.String())
	}
	for _, n := range r.Notes {
		out = append(out, "note: "+n)
	}
	return strings.Join(out, "\n")
}

// TestDecide decides for a spec and then for a changed one, and compares the
// messages and the VMIDs.
func TestDecide(t *testing.T) {
	for name, c := range map[string]struct{ before, after, says, vms string }{
		"again":               {"vms: {x: {}, y: {}}", "vms: {x: {}, y: {}}", "", "x=100 y=101"},
		"lowest free":         {"vms: {x: {vmid: 101}}", "vms: {w: {}, x: {vmid: 101}, z: {}}", "", "w=100 x=101 z=102"},
		"order of the spec":   {"vms: {}", "vms: {b: {}, a: {}}", "", "a=101 b=100"},
		"gone":                {"vms: {x: {}, y: {}}", "vms: {y: {}}", "stop: a/x", ""},
		"retired":             {"vms: {x: {}, y: {}}", "retired: [x]\nvms: {y: {}, z: {}}", "", "x=100 retired y=101 z=102"},
		"forgotten":           {"vms: {x: {}, y: {}}", "forgotten: [x]\nvms: {y: {}, z: {}}", "note: a: forgotten: x. While the state has them, the guard blocks every apply; to remove them from it: (cd stacks/a && terragrunt stack generate && cd .terragrunt-stack/proxmox-vm && terragrunt state rm 'proxmox_virtual_environment_vm.this[\"x\"]')", "x=100 forgotten y=101 z=102"},
		"renamed":             {"vms: {x: {}}", "renamed: {x: y}\nvms: {w: {}, y: {}}", "", "w=101 y=100"},
		"renamed, pinned":     {"vms: {x: {vmid: 105}}", "renamed: {x: y}\nvms: {y: {vmid: 105}}", "", "y=105"},
		"renamed twice":       {"vms: {x: {}}", "renamed: {x: y, y: z}\nvms: {z: {}}", "", "z=100"},
		"renamed into two":    {"vms: {x: {}, y: {}}", "renamed: {x: y}\nvms: {y: {}}", "error: x and y are both in the lock, and two guests cannot become one\nstop: a/x", ""},
		"renamed from air":    {"vms: {x: {}}", "renamed: {q: y}\nvms: {x: {}, y: {}}", `error: the lock has no VM or container "q"`, ""},
		"retired from air":    {"vms: {x: {}}", "retired: [q]\nvms: {x: {}}", `warning: the lock has no VM, container or unit "q"`, "x=100"},
		"pin to the same":     {"vms: {x: {}}", "vms: {x: {vmid: 100}}", "", "x=100"},
		"pin to another":      {"vms: {x: {}}", "vms: {x: {vmid: 105}}", "note: a/x: its VMID is now 105; VMID 100 was decided, and no such guest was seen", "x=105"},
		"pin, guard is off":   {"vms: {x: {}}", "guard: off\nvms: {x: {vmid: 105}}", "stop: a/x", ""},
		"adopt another":       {"vms: {x: {}}", "vms: {x: {adopt: {vmid: 555}}}", "note: a/x: its VMID is now 555; stackgen does not know VMID 100 any more", "x=555"},
		"pin of a neighbour":  {"vms: {x: {}}", "vms: {x: {}, y: {vmid: 100}}", "error: VM y: VMID 100 is recorded for a/x", ""},
		"pin of the template": {"vms: {x: {}}", "vms: {x: {}, y: {vmid: 9000}}", "error: VM y: VMID 9000 is recorded for a template", ""},
		"node by the spec":    {"vms: {x: {}}", "vms: {x: {node: pve2}}", "note: a: another node in the spec: x. An apply creates a VM there if it does not exist yet, and does not move one that exists, because the profile ignores node_name: migrate it by hand, or choose a profile that does not ignore node_name", "x=100"},
		"node and a new VM":   {"vms: {x: {}}", "vms: {w: {}, x: {node: pve2}}", "note: a: another node in the spec: x. An apply creates a VM there if it does not exist yet, and does not move one that exists, because the profile ignores node_name: migrate it by hand, or choose a profile that does not ignore node_name", "w=101 x=100"},
	} {
		t.Run(name, func(t *testing.T) {
			first := decided(t, &Lock{Version: Version}, nil, head+c.before+"\n")
			if said(first) != "" {
				t.Fatal(said(first))
			}
			was, err := first.Lock.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			r := decided(t, first.Lock, nil, head+c.after+"\n")
			if said(r) != c.says {
				t.Fatalf("says\n%s\nwant\n%s", said(r), c.says)
			}
			if now, err := first.Lock.Bytes(); err != nil || !bytes.Equal(was, now) {
				t.Errorf("the old lock was changed (%v)", err)
			}
			if c.vms != "" && vmids(r.Lock.Stacks.Get("a")) != c.vms {
				t.Errorf("got %s, want %s", vmids(r.Lock.Stacks.Get("a")), c.vms)
			}
			if c.vms != "" {
				unchanged(t, r.Lock, head+c.after+"\n")
			}
		})
	}
}

// unchanged checks that a second decision from the same spec changes nothing.
func unchanged(t *testing.T, l *Lock, spec string) {
	t.Helper()
	first, err := l.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if second, err := decided(t, l, nil, spec).Lock.Bytes(); err != nil || !bytes.Equal(first, second) {
		t.Errorf("a second decision gives (%v)\n%s\nafter\n%s", err, second, first)
	}
}

func vmids(s *Stack) string {
	var out []string
	for _, e := range s.VMs {
		text := e.Key + "=" + strings.TrimSpace(strings.Join([]string{strconv.Itoa(e.Value.VMID), e.Value.Status}, " "))
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

// TestVMIDsOfOthers: ranges may overlap, and pins of later specs are heeded.
func TestVMIDsOfOthers(t *testing.T) {
	other := strings.Replace(head, "name: a", "name: b", 1)
	r := decided(t, &Lock{Version: Version}, nil, head+"vms: {x: {}, y: {}}\n", other+"vms: {x: {vmid: 100}, z: {name: z}}\n")
	if said(r) != "" || vmids(r.Lock.Stacks.Get("a")) != "x=101 y=102" || vmids(r.Lock.Stacks.Get("b")) != "x=100 z=103" {
		t.Errorf("%s: %s; %s", said(r), vmids(r.Lock.Stacks.Get("a")), vmids(r.Lock.Stacks.Get("b")))
	}
	known, problems := Read("lock", []byte("version: 3\nstacks: {b: {spec: s, state_key: b, backend: {type: local}, vms: {t: {vmid: 555, template: {vmid: 100, name: ubuntu}}}}}\n"))
	if known == nil {
		t.Fatal(problems)
	}
	if r := decided(t, known, nil, head+"vms: {x: {}}\n"); vmids(r.Lock.Stacks.Get("a")) != "x=101" {
		t.Errorf("a template's VMID was handed out: %s", vmids(r.Lock.Stacks.Get("a")))
	}
}

// TestFingerprintOfAnotherVM: what was seen of one VM says nothing of another.
func TestFingerprintOfAnotherVM(t *testing.T) {
	old := decided(t, &Lock{Version: Version}, nil, head+"vms: {x: {}}\n").Lock
	old.Stacks[0].Value.VMs[0].Value.Fingerprint = &Fingerprint{UUID: "u"}
	if r := decided(t, old, nil, head+"vms: {x: {}}\n"); r.Lock.Stacks[0].Value.VMs[0].Value.Fingerprint == nil {
		t.Error("the fingerprint is lost")
	}
	if r := decided(t, old, nil, head+"vms: {x: {adopt: {vmid: 555}}}\n"); r.Lock.Stacks[0].Value.VMs[0].Value.Fingerprint != nil {
		t.Error("VM 555 has the fingerprint of VM 100")
	}
}

// TestStateMoves: what makes a state another one, and that saying so is enough.
func TestStateMoves(t *testing.T) {
	s3 := "backend: {type: s3, bucket: one, region: r}\n"
	for name, c := range map[string]struct {
		before, after string
		stop          bool
	}{
		"nothing":     {"", "", false},
		"environment": {"", "environment: prod\n", true},
		"backend":     {"", s3, true},
		"bucket":      {s3, strings.Replace(s3, "bucket: one", "bucket: two", 1), true},
		"prefix":      {s3, strings.Replace(s3, "}", ", prefix: p}", 1), true},
		"endpoint":    {s3, strings.Replace(s3, "}", `, endpoint: "https://s3"}`, 1), true},
		"region":      {s3, strings.Replace(s3, "region: r", "region: s", 1), false},
		"lock":        {s3, strings.Replace(s3, "}", ", lock: false}", 1), false},
	} {
		old := decided(t, &Lock{Version: Version}, nil, head+c.before+"vms: {x: {}}\n").Lock
		r := decided(t, old, nil, head+c.after+"vms: {x: {}}\n")
		if stop := said(r) == "stop: a"; stop != c.stop || !stop && said(r) != "" {
			t.Errorf("%s: %s", name, said(r))
		}
		if r := decided(t, old, []string{"a"}, head+c.after+"vms: {x: {}}\n"); said(r) != "" {
			t.Errorf("%s, moved: %s", name, said(r))
		}
	}
}
