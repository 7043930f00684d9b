package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// mutationBase is a good document with most properties.
const mutationBase = `apiVersion: stackgen/v1
kind: Stack
name: base
environment: prod
engine: {opentofu: ">= 1.11"}
backend: {type: s3, bucket: states, region: eu, endpoint: "https://s3.example.org", prefix: team/a}
proxmox: {endpoint: "https://pve.example.org:8006/", insecure: false}
dns: {zone: example.org, server: ns.example.org, port: 53, ttl: 300, tsig: {key_name: k., algorithm: hmac-sha256}}
pool: {id: team, create: true}
naming: {pattern: "{stack}-{key}"}
profiles: {golden: {ignore_changes: [node_name, started], prevent_destroy: true}}
vmids: 2100-2199
defaults:
  node: pve1
  template: {vmid: 9000, node: pve1}
  cores: 2
  memory: 2048
  balloon: 1024
  bios: ovmf
  efi: {datastore: local-lvm, type: 4m}
  agent: {enabled: true, timeout: 3m}
  cloud_init: {datastore: local-lvm, interface: ide2, user: admin, ipv4: dhcp, nameservers: [192.168.1.1]}
  boot_order: [scsi0, net0]
  disks: [{interface: scsi0, size: 16, datastore: local-lvm, ssd: true, iothread: true}, {interface: virtio1, size: 8, iothread: true}]
  networks: [{bridge: vmbr0, vlan: 10, mac: auto, trunks: [20, "30-40"]}]
  tags: [a, b]
groups:
  web: {count: 2, key: "web{n}", cloud_init: {ipv4: "192.168.1.{10+n}/24", gateway: 192.168.1.1}}
vms:
  db01: {name: db-1, vmid: 2150, profile: golden, dns: {records: [db, "*.db"], ttl: 60}, startup: {order: 1, up: 10}}
  gpu: {usb: [{host: spice}], serial: [socket], vga: serial0, cpu_flags: [+aes], description: text}
  nas: {adopt: {vmid: 105}, placement: {strategy: fixed, nodes: [pve1]}}
retired: [old1]
forgotten: [old2]
renamed: {older: db01}
`

// mutationClass is the same for a class.
const mutationClass = `apiVersion: stackgen/v1
kind: Class
name: class
vmids: 2100-2199
template: 9000
clone: full
placement: {strategy: round-robin, nodes: [pve1, pve2], max_per_node: 10}
teacher: {cores: 4}
students: {count: 3, key: "student{n}", overrides: {student1: {memory: 4096}}}
apply: {parallelism: 4}
outputs: {registration: registration/class.json}
rollout: {wave: 25%, healthy: {agent: true, tcp: [22], timeout: 5m}, pause: 10m, on_failure: stop}
`

// onlyStackgen says why a JSON Schema cannot express the problems of a code.
var onlyStackgen = map[string]string{
	CodeNoProfile: "the profile is defined elsewhere, also in stackgen.yaml", CodeProfileClash: "two places",
	CodeNoNode: "the node may come from the defaults or stackgen.yaml", CodeNoTemplate: "the template may come from the defaults or stackgen.yaml",
	CodeNoVMs: "VMs and groups may be empty while their stack is retired", CodeNoDNS: "dns may come from stackgen.yaml", CodeAgent: "agent, address and dns are merged first",
	CodeGateway: "arithmetic with addresses", CodeAddress: "arithmetic with addresses", CodeRange: "the order of two numbers",
	CodeDevice: "two places", CodeHardware: "two keys that are merged first", CodeKeyClash: "two places", CodeVMIDClash: "two places",
	CodeNameClash: "two places", CodeAddressClash: "two places", CodeMACClash: "two places", CodeDNSClash: "two places", CodeListClash: "two places",
	CodePlaceholder: "the text is expanded first", CodeEngine: "the order of versions", CodeMissingKey: "the key may come from the defaults or stackgen.yaml",
	CodeValue: "the text is expanded first", CodeRoster: "two keys that exclude each other may be merged", CodeType: "JSON has no difference",
	CodeTooBig: "the number of VMs is computed", CodeLargeStack: "the number of VMs is computed", CodeNoVMIDs: "vmids may come from stackgen.yaml", CodeFile: "other files", CodeUnknownKey: "the keys of students are numbered first",
}

// mutationsOnlyStackgenSees is how many mutations pass the JSON Schema and fail in
// stackgen. Lower it with each that the schema learns.
const mutationsOnlyStackgenSees = 39

// TestMutations changes one value, key or item of a good document at a time: what
// stackgen refuses, the JSON Schema refuses too, except for what it cannot express.
func TestMutations(t *testing.T) {
	s := compileSchema(t)
	total, refused := 0, 0
	missed := map[string][]string{}
	for _, base := range []string{mutationBase, mutationClass} {
		if problems := everything(base); len(problems) > 0 {
			t.Fatalf("the base is wrong: %v", problems)
		}
		if err := schemaSays(t, s, base); err != nil {
			t.Fatal(err)
		}
		for what, text := range mutations(t, base) {
			total++
			problems, err := everything(text), schemaSays(t, s, text)
			switch {
			case err != nil && len(problems) == 0:
				t.Errorf("%s: only the JSON Schema refuses it: %v", what, err)
			case len(problems) > 0:
				refused++
				if err == nil {
					code := problems[0].Code
					missed[code] = append(missed[code], what+": "+problems[0].Message)
					if onlyStackgen[code] == "" {
						t.Errorf("%s: the JSON Schema lets it pass: %v", what, problems[0])
					}
				}
			}
		}
	}
	n := 0
	for _, code := range slices.Sorted(maps.Keys(missed)) {
		slices.Sort(missed[code])
		n += len(missed[code])
		t.Logf("%s (%s): %d\n\t%s", code, onlyStackgen[code], len(missed[code]), strings.Join(missed[code], "\n\t"))
	}
	t.Logf("%d mutations, %d refused, %d of them by stackgen only", total, refused, n)
	if n != mutationsOnlyStackgenSees {
		t.Errorf("%d mutations pass the JSON Schema and fail in stackgen, want %d", n, mutationsOnlyStackgenSees)
	}
}

// everything are the errors of a spec by itself: those of its project are no part of it.
func everything(text string) []Problem {
	spec, problems := Parse("specs/base.yaml", []byte(text))
	if spec != nil {
		_, problems = Join(nil, []Input{{Spec: spec, Label: "specs/base.yaml"}}, Files{}, nil)
	}
	return slices.DeleteFunc(problems, func(p Problem) bool { return p.Severity != SeverityError })
}

// mutations are the documents with one change, by what is changed.
func mutations(t *testing.T, base string) map[string]string {
	t.Helper()
	out := map[string]string{}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(base), &doc); err != nil {
		t.Fatal(err)
	}
	add := func(what string) {
		body, err := yaml.Marshal(&doc)
		if err != nil {
			t.Fatal(err)
		}
		out[what] = string(body)
	}
	var walk func(n *yaml.Node, path string)
	walk = func(n *yaml.Node, path string) {
		saved := *n
		for _, value := range []string{"null", "true", "-1", "99999999999", "x", "a b", "'{m}'", "[]", "{}"} {
			var other yaml.Node
			if err := yaml.Unmarshal([]byte(value), &other); err != nil {
				t.Fatal(err)
			}
			*n = *other.Content[0]
			add(fmt.Sprintf("%s = %s", path, value))
		}
		*n = saved
		content := n.Content
		for i := 0; i < len(content); i++ {
			switch n.Kind {
			case yaml.MappingNode:
				key := *content[i]
				content[i].Value += "x"
				add(fmt.Sprintf("%s.%s renamed", path, key.Value))
				*content[i] = key
				n.Content = slices.Delete(slices.Clone(content), i, i+2)
				add(fmt.Sprintf("%s.%s removed", path, key.Value))
				n.Content = content
				walk(content[i+1], path+"."+key.Value)
				i++
			case yaml.SequenceNode:
				n.Content = append(slices.Clone(content), content[i])
				add(fmt.Sprintf("%s[%d] repeated", path, i))
				n.Content = content
				walk(content[i], fmt.Sprintf("%s[%d]", path, i))
			}
		}
	}
	walk(doc.Content[0], "")
	return out
}
