package schema

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"stackgen/guest"
)

const stackHead = "apiVersion: stackgen/v1\nkind: Stack\nname: a\n"

// TestJoinProblems: a spec and its problems. A spec without a kind gets the head
// of a stack whose defaults have a node and a template.
func TestJoinProblems(t *testing.T) {
	const head = stackHead + "defaults: {node: n, template: 9000}\n"
	for name, c := range map[string]struct {
		spec string
		want []string
	}{
		"nothing wrong":    {"vms: {x: {}}", nil},
		"no VM":            {"vms: {}", []string{`3:7 no-vms: stack "a" has no VM and no container`}},
		"all VMs retired":  {"retired: [x]", nil},
		"no node":          {"vms: {x: {placement: {nodes: []}}}", []string{"5:22 no-node: VM x: the placement has no nodes"}},
		"HCL keyword":      {"vms: {for: {}}", []string{`5:7 bad-value: VM for: "for" is an HCL keyword, and Terragrunt writes keys without quotes`}},
		"no Template":      {"vms: {x: {template: {name: y, release: '1'}}}", []string{`5:21 bad-template: VM x: the project has no Template "y"`}},
		"unknown profile":  {"vms: {x: {profile: gold}}", []string{`5:20 unknown-profile: VM x: the profile "gold" does not exist`}},
		"built-in profile": {"profiles: {default: {}}\nvms: {x: {}}", []string{`5:12 profile-clash: the profile "default" is built in and cannot be redefined`}},
		"vmid and adopt":   {"vms: {x: {vmid: 101, adopt: {vmid: 102}}}", []string{"5:17 vmid-clash: VM x: vmid is 101, but adopt is 102"}},
		"range":            {"vmids: 200-100\nvms: {x: {}}", []string{`5:8 out-of-range: "200-100" is not a range of VMIDs`}},
		"S3":               {"backend: {type: s3, bucket: bbb}\nvms: {x: {}}", []string{`5:10 missing-key: a backend of type s3 lacks the key "region"`}},
		"local":            {"backend: {bucket: bbb}\nvms: {x: {}}", []string{"5:11 bad-value: a backend of type local does not use bucket"}},
		"prefix":           {"backend: {prefix: a/../b}\nvms: {x: {}}", []string{`5:19 bad-value: the prefix "a/../b" is not the beginning of a state key`}},
		"branch":           {"catalog: {source: s, ref: main}\nvms: {x: {}}", []string{`5:27 branch-ref: "main" looks like a branch: its content can change while the spec stays the same`}},
		"tag as ref":       {"catalog: {source: s, ref: v1.2}\nvms: {x: {}}", nil},
		"commit as ref":    {"catalog: {source: s, ref: 0123abc}\nvms: {x: {}}", nil},
		"old engine":       {"engine: {opentofu: '>= 1.9'}\nvms: {x: {}}", []string{`5:20 engine-too-old: ">= 1.9" allows versions of opentofu before 1.10, which cannot run the rendered project`}},
		"network address":  {"vms: {x: {cloud_init: {ipv4: 10.0.0.0/24}}}", []string{"5:30 bad-address: VM x: 10.0.0.0 is the network or broadcast address of 10.0.0.0/24"}},
		"point to point":   {"vms: {x: {cloud_init: {ipv4: 10.0.0.0/31}}}", nil},
		"gateway":          {"vms: {x: {cloud_init: {ipv4: 10.0.0.5/24, gateway: 10.0.1.1}}}", []string{"5:52 bad-gateway: VM x: the gateway 10.0.1.1 is not in the subnet of 10.0.0.5/24"}},
		"own gateway":      {"vms: {x: {cloud_init: {ipv4: 10.0.0.5/24, gateway: 10.0.0.5}}}", []string{"5:30 bad-gateway: VM x: 10.0.0.5 is the address of the gateway"}},
		"gateway of DHCP":  {"vms: {x: {cloud_init: {gateway: 10.0.1.1}}}", nil},
		"ip_configs":       {"vms: {x: {networks: [{}, {}], cloud_init: {ip_configs: [{ipv4: 10.0.0.5/24, gateway: 10.0.1.1}]}}}", []string{"5:86 bad-gateway: VM x: the gateway 10.0.1.1 is not in the subnet of 10.0.0.5/24"}},
		"one NIC twice":    {"vms: {x: {networks: [{}, {}], cloud_init: {ip_configs: [{ipv4: dhcp}, {device: net1, ipv6: auto}]}}}", []string{"5:71 device-clash: VM x: two ip_configs are of net1"}},
		"no such NIC":      {"vms: {x: {cloud_init: {ip_configs: [{ipv4: dhcp}]}}}", []string{"5:37 device-clash: VM x: ip_configs has addresses for net1, and networks has only 1"}},
		"no address":       {"vms: {x: {networks: [{}, {}], cloud_init: {ip_configs: [{device: net1}]}}}", []string{`5:57 missing-key: VM x: ip_configs has no address for net1`}},
		"other networks":   {"defaults: {node: n, template: 9000, networks: [{}, {bridge: vmbr1}], cloud_init: {ip_configs: [{ipv4: 10.0.0.5/24}]}}\nvms: {x: {}, y: {networks: [{}, {bridge: vmbr2}]}}", nil},
		"same network":     {"vms: {x: {networks: [{}, {}], cloud_init: {ip_configs: [{ipv4: 10.0.0.5/24}]}}, y: {networks: [{}, {}], cloud_init: {ip_configs: [{ipv4: 10.0.0.5/24}]}}}", []string{"5:138 address-clash: VM y: the address 10.0.0.5 is already used at specs/a.yaml:5:64 (VM x)"}},
		"upper case":       {"vms: {x: {name: DB.lab}, y: {name: db.lab}}", []string{`5:36 name-clash: VM y: the name "db.lab" is already used at specs/a.yaml:5:17 (VM x)`}},
		"name of the zone": {"dns: {zone: z.example, server: s}\nvms: {x: {name: Z.Example}}", []string{`6:17 bad-value: VM x: the name "Z.Example" cannot be a DNS record of the zone z.example`}},
		"balloon":          {"vms: {x: {balloon: 4096}}", []string{"5:20 bad-hardware: VM x: balloon (4096 MiB) is larger than memory (2048 MiB)"}},
		"slot":             {"vms: {x: {disks: [{interface: scsi0, size: 1}, {interface: scsi0, size: 1}]}}", []string{"5:60 device-clash: VM x: two devices use the interface scsi0"}},
		"records, no DNS":  {"vms: {x: {dns: {records: [x]}}}", []string{"5:16 no-dns: VM x: the VM has DNS records, but the stack has no dns"}},
		"no agent":         {"dns: {zone: z, server: s}\nvms: {x: {agent: false}}", []string{"6:18 agent-needed: VM x: the VM has a DNS record, but its address cannot be read: it comes from DHCP, and the guest agent is off"}},
		"ignored change":   {"vms: {x: {adopt: {vmid: 101}, cores: 4}}", []string{"5:31 ignored-change: VM x: a change of cores has no effect: profile adopted ignores cpu"}},
		"same key":         {"vms: {x1: {}}\ngroups: {x: {count: 2}}", []string{"6:10 key-clash: VM x1: the key is already used at specs/a.yaml:5:7"}},
		"same name":        {"vms: {x: {name: n}, y: {name: n}}", []string{`5:31 name-clash: VM y: the name "n" is already used at specs/a.yaml:5:17 (VM x)`}},
		"same MAC":         {"vms: {x: {networks: [{mac: 'bc:24:11:00:00:01'}, {mac: 'BC:24:11:00:00:01'}]}}", []string{"5:56 mac-clash: VM x: the MAC address BC:24:11:00:00:01 is already used at specs/a.yaml:5:28 (VM x)"}},
		"own DNS server":   {"dns: {zone: z, server: x.z}\nvms: {x: {name: x}}", []string{"6:7 self-hosted: VM x: x.z is this stack's own DNS server: while it is down, the stack cannot be applied"}},
		"arithmetic":       {"groups: {x: {count: 3, description: '{n-1} {10+n} {n'}}", nil},
		"bad arithmetic":   {"groups: {x: {count: 3, description: '{2n}'}}", []string{`5:37 bad-placeholder: 3 VMs of group x, such as x1: "{2n}" is not arithmetic with the ordinal n`}},
		"naming":           {"naming: {pattern: '{stack}-{kee}'}\nvms: {x: {}, y: {}}", []string{`5:19 bad-placeholder: 2 VMs of stack a, such as x: the naming pattern "{stack}-{kee}" has an unknown placeholder`}},
		"retired, in spec": {"retired: [x]\nvms: {x: {}}", []string{"5:11 list-clash: x is in retired and also in the spec"}},
		"retired twice":    {"retired: [y]\nforgotten: [y]\nvms: {x: {}}", []string{"6:13 list-clash: y is in retired and also in forgotten"}},
		"renamed to none":  {"renamed: {y: z}\nvms: {x: {}}", []string{"5:11 list-clash: y is renamed to z, but the spec has no VM or container z"}},
		"renamed in turn":  {"renamed: {v: w, w: x}\nvms: {x: {}}", nil},
		"renamed to one":   {"renamed: {v: x, w: x}\nvms: {x: {}}", []string{"5:17 list-clash: v and w are both renamed to x"}},
		"key file":         {"vms: {x: {cloud_init: {ssh_keys: [k.pub]}}, y: {cloud_init: {ssh_keys: [gone.pub]}}}", []string{"5:73 missing-file: specs/gone.pub contains no public key"}},
		"numbered file":    {"groups: {x: {count: 2, cloud_init: {ssh_keys: ['k{n}.pub']}}}", []string{"5:48 missing-file: the path of a file with public keys cannot have {n}"}},
		"private key file": {"defaults: {node: n, template: 9000, cloud_init: {ssh_keys: [k]}}\nvms: {x: {}, y: {}}", []string{"4:61 secret: specs/k contains a private key"}},
	} {
		t.Run(name, func(t *testing.T) {
			spec := head + c.spec + "\n"
			if strings.HasPrefix(c.spec, "defaults:") {
				spec = stackHead + c.spec + "\n"
			}
			_, text := joined(t, spec, map[string]string{"specs/gone.pub": "", "specs/k.pub": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOGf5oyqYiE6i2O2ljzHFAXlkdO5yHNNRSpk7Fz9vZq4 a@b\n", "specs/k": "-----BEGIN OPENSSH PRIVATE KEY-----\n"})
			var got []string
			for line := range strings.Lines(text) {
				line = strings.TrimSpace(line)
				place, rest, _ := strings.Cut(strings.TrimPrefix(line, "specs/a.yaml:"), ": ")
				_, message, _ := strings.Cut(rest, ": ")
				at := strings.LastIndex(message, " [")
				got = append(got, fmt.Sprintf("%s %s: %s", place, strings.Trim(message[at:], " []"), message[:at]))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// TestJoinedVMs: a spec and the properties of its VMs.
func TestJoinedVMs(t *testing.T) {
	of := func(v *VM) string {
		var records []string
		for _, r := range v.Records {
			records = append(records, r.Name)
		}
		return fmt.Sprintf("%s name=%s node=%s profile=%s vmid=%d cores=%s tags=%s ip=%s records=%s", v.Key, v.Name, v.Node, v.Profile, v.VMID,
			v.Values.Get("cores").Str(), strings.Join(v.Values.Get("tags").Strings(), "+"), v.Values.Get("cloud_init", "ipv4").Str(), strings.Join(records, "+"))
	}
	for name, c := range map[string]struct {
		spec string
		want []string
	}{
		"built-in defaults": {"vms: {x: {}}", []string{"x name=a-x node=n profile=default vmid=0 cores=2 tags= ip=dhcp"}},
		"names and records": {"dns: {zone: lab.example, server: s}\nvms: {x: {name: DB-1.Lab.Example}, y: {name: Web.Apps}}", []string{
			"x name=DB-1.Lab.Example node=n profile=default vmid=0 cores=2 tags= ip=dhcp records=db-1", "y name=Web.Apps node=n profile=default vmid=0 cores=2 tags= ip=dhcp records=web.apps"}},
		"own over defaults": {"vms: {x: {node: m, cores: 8, name: db}}", []string{"x name=db node=m profile=default vmid=0 cores=8 tags= ip=dhcp"}},
		"tags add up":       {"groups: {x: {count: 1, tags: [B, a]}}", []string{"x1 name=a-x1 node=n profile=default vmid=0 cores=2 tags=a+b ip=dhcp"}},
		"adopted":           {"vms: {x: {adopt: {vmid: 300}}}", []string{"x name=a-x node=n profile=adopted vmid=300 cores=2 tags= ip=dhcp"}},
		"group": {"groups: {x: {count: 2, key: 'w{n}', cloud_init: {ipv4: '10.0.0.{10+n}/24'}}}", []string{
			"w1 name=a-w1 node=n profile=default vmid=0 cores=2 tags= ip=10.0.0.11/24", "w2 name=a-w2 node=n profile=default vmid=0 cores=2 tags= ip=10.0.0.12/24"}},
		"naming":            {"environment: prod\nnaming: {pattern: '{env}-{key}-{n}'}\ngroups: {x: {count: 1, key: 'y{n}'}}", []string{"y1 name=prod-y1-1 node=n profile=default vmid=0 cores=2 tags= ip=dhcp"}},
		"order of the spec": {"vms: {b: {}, a: {}}\ngroups: {c: {count: 1}}", []string{"b name=a-b", "a name=a-a", "c1 name=a-c1"}},
	} {
		t.Run(name, func(t *testing.T) {
			vms, problems := joined(t, stackHead+"defaults: {node: n, template: 9000}\n"+c.spec+"\n", nil)
			if problems != "" {
				t.Fatal(problems)
			}
			if len(vms) != len(c.want) {
				t.Fatalf("got %d VMs, want %d", len(vms), len(c.want))
			}
			for i, v := range vms {
				if got := of(v); !strings.HasPrefix(got, c.want[i]) {
					t.Errorf("got  %s\nwant %s", got, c.want[i])
				}
			}
		})
	}
}

// TestOverrides: the properties of one student, over those of all.
func TestOverrides(t *testing.T) {
	spec := strings.Split(class, "students")[0] + "students: {roster: [Ana, Bo], cores: 4, overrides: {bo: {cores: 8, tags: ['s{n}']}}}\n"
	vms, problems := joined(t, spec, nil)
	if problems != "" || len(vms) != 2 {
		t.Fatal(len(vms), problems)
	}
	for i, want := range []string{"ana 4 [] students Ana", "bo 8 [s2] students.overrides.bo Bo"} {
		v := vms[i]
		if got := fmt.Sprint(v.Key, " ", v.Values.Get("cores").Str(), " ", v.Values.Get("tags").Strings(), " ", v.Path, " ", v.Member); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if _, problems := joined(t, strings.Replace(spec, "bo:", "cy:", 1), nil); problems != `specs/a.yaml:5:53: error: no student has the key "cy" [unknown-key]` {
		t.Error(problems)
	}
}

// TestGroupOverrides: the properties of one VM of a group, over those of all.
func TestGroupOverrides(t *testing.T) {
	spec := stackHead + "defaults: {node: n, template: 9000, tags: [x]}\ngroups:\n  web: {count: 2, cores: 4, overrides: {web2: {cores: 8, tags: ['s{n}']}}}\n"
	vms, problems := joined(t, spec, nil)
	if problems != "" || len(vms) != 2 {
		t.Fatal(len(vms), problems)
	}
	for i, want := range []string{"web1 4 [x] groups.web", "web2 8 [s2 x] groups.web.overrides.web2"} {
		v := vms[i]
		if got := fmt.Sprint(v.Key, " ", v.Values.Get("cores").Str(), " ", v.Values.Get("tags").Strings(), " ", v.Path); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if _, problems := joined(t, strings.Replace(spec, "web2:", "web3:", 1), nil); !strings.HasSuffix(problems, `error: no member of the group has the key "web3" [unknown-key]`) {
		t.Error(problems)
	}
	if _, problems := joined(t, strings.Replace(spec, "web2:", "web3:", 1)+"retired: [web3]\n", nil); problems != "" {
		t.Error(problems)
	}
}

func TestEvaluate(t *testing.T) {
	//nolint:gocritic // spaces are allowed
	for expr, want := range map[string]int{"n": 7, "10+n": 17, "n-1": 6, " 100 + n ": 107, "20-n": 13, "n+n": 14, "+n": 7, "-n": -7, "n-1-1": 5} {
		if got, err := evaluate(expr, 7); err != nil || got != want {
			t.Errorf("%q is %d, %v; want %d", expr, got, err, want)
		}
	}
	for _, expr := range []string{"nn", "n+", "2n", "n9", "n--1", "99999999999", "n+x"} {
		if got, err := evaluate(expr, 7); err == nil {
			t.Errorf("%q is %d", expr, got)
		}
	}
}

func TestCheckProperty(t *testing.T) {
	for text, want := range map[string]string{
		"cores: 4":            "",
		"cores: 0":            "cores takes a whole number from 1 to 1024, but this is 0",
		"core: 4":             `unknown key "core"`,
		`name: "a\u202eb"`:    "text contains the invisible character U+202E, which changes lines or the direction of text",
		"agent: {enabld: 1}":  `unknown key "enabld" in agent`,
		"tags: [a, b c]":      `tags[1] takes a tag: letters, digits and _ . + -, beginning with a letter, digit or _, but this is "b c"`,
		"tags: a":             "tags takes a list, but this is text",
		"disks: [{size: 5}]":  `disks[0] lacks the key "interface"`,
		"description: 'a\tb'": "",
	} {
		n, problems := ParseYAML("f", []byte(text))
		if n == nil {
			t.Fatal(problems)
		}
		got := ""
		if problems := CheckProperty(guest.VM, n.Keys[0].Text, n.Items[0]); len(problems) > 0 {
			got = problems[0].Message
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
