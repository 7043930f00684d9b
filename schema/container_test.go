package schema

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"stackgen/guest"
)

const containerHead = "apiVersion: stackgen/v1\nkind: Stack\nname: a\nvmids: 100-109\n"

// containersOf joins one spec.
func containersOf(t *testing.T, body string) (*Project, []string) {
	t.Helper()
	s, problems := Parse("a.yaml", []byte(body))
	if s == nil {
		return nil, texts(problems)
	}
	p, problems := Join(nil, []Input{{Spec: s, Label: "specs/a.yaml"}}, nil, nil)
	return p, texts(problems)
}

// TestContainerDefaults: what a container inherits, and what it has without being told.
func TestContainerDefaults(t *testing.T) {
	p, problems := containersOf(t, containerHead+`defaults:
  node: pve1
  template: 9000
  memory: 4096
  tags: [lab]
  networks: [{bridge: vmbr7, model: e1000}]
  containers: {template: "local:vztmpl/debian-12-standard_12.7-1_amd64.tar.zst", swap: 0, tags: [ct]}
vms: {x: {}}
containers:
  y: {networks: [{bridge: vmbr1, ipv4: 10.0.0.9/24, gateway: 10.0.0.1}, {bridge: vmbr2}]}
`)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	v := p.Stacks[0].VMs[1]
	for path, want := range map[string]string{
		guest.Memory: "4096", guest.Swap: "0", guest.Cores: "1", guest.OSType: "debian", guest.Unprivileged: "true", guest.Name: "a-y",
		guest.RootFS + "." + guest.Size: "4", guest.RootFS + "." + guest.Datastore: "local-lvm",
	} {
		if got := v.Values.Get(strings.Split(path, ".")...).Str(); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	if !v.IsContainer() || v.Node != "pve1" || v.Address.String() != "10.0.0.9/24" || !slices.Equal(v.Values.Get(guest.Tags).Strings(), []string{"ct", "lab"}) {
		t.Errorf("it is %+v", v)
	}
	nics := v.Values.Get(guest.Networks).List()
	if len(nics) != 2 || nics[1].Get(guest.Interface).Str() != "eth1" || nics[0].Get(guest.Bridge).Str() != "vmbr1" || nics[0].Has(guest.Model) {
		t.Errorf("its networks are %v", nics)
	}
	if row, list := v.AddressesOf(); len(list.Items) != 1 || row.HCL != "initialization.ip_config" {
		t.Errorf("its addresses are %v", list)
	}
}

// TestContainerGroup: a group of containers has members with a number, as one of VMs.
func TestContainerGroup(t *testing.T) {
	p, problems := containersOf(t, containerHead+`defaults: {node: pve1, memory: 4096, containers: {memory: 256, template: "local:vztmpl/alpine-3.tar.xz"}}
naming: {pattern: "{stack}-{key}-{n:02}"}
groups:
  web:
    kind: container
    count: 3
    key: "web{n:02}"
    description: "number {n}"
    networks: [{bridge: vmbr0, ipv4: "10.0.0.{10+n}/24", mac: "BC:24:11:00:00:0{n}"}]
    overrides: {web02: {memory: 512, node: pve2}}
`)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var got []string
	for _, v := range p.Stacks[0].VMs {
		if !v.IsContainer() {
			t.Errorf("%s is a VM", v.Key)
		}
		got = append(got, strings.Join([]string{v.Key, v.Name, v.Node, v.Address.String(), v.MACs[0], v.Values.Get(guest.Description).Str(), v.Values.Get(guest.Memory).Str()}, " "))
	}
	want := []string{
		"web01 a-web01-01 pve1 10.0.0.11/24 BC:24:11:00:00:01 number 1 256",
		"web02 a-web02-02 pve2 10.0.0.12/24 BC:24:11:00:00:02 number 2 512",
		"web03 a-web03-03 pve1 10.0.0.13/24 BC:24:11:00:00:03 number 3 256",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestContainerPlacement: a container has the node or the placement that is the nearest to it.
func TestContainerPlacement(t *testing.T) {
	const archive = `template: "local:vztmpl/alpine-3.tar.xz"`
	const place = "placement: {strategy: score, nodes: [pve2, pve3]}"
	for name, c := range map[string]struct{ defaults, own, node string }{
		"placement for all":                      {place, "", ""},
		"placement of its own":                   {"node: pve1", place, ""},
		"node of its own":                        {place, "node: pve1", "pve1"},
		"placement for containers, node for all": {"node: pve1, containers: {" + place + "}", "", ""},
		"node for containers, placement for all": {place + ", containers: {node: pve1}", "", "pve1"},
		"node and placement for containers":      {"containers: {node: pve1, " + place + "}", "", "pve1"},
	} {
		body := containerHead + "defaults: {" + c.defaults + "}\ncontainers: {y: {" + strings.TrimSuffix(archive+", "+c.own, ", ") + "}}\n"
		p, problems := containersOf(t, body)
		if len(problems) > 0 {
			t.Fatal(name, problems)
		}
		if v := p.Stacks[0].VMs[0]; v.Node != c.node || (v.Placement == nil) != (c.node != "") {
			t.Errorf("%s: node %q, placement %v", name, v.Node, v.Placement)
		}
	}
}

// TestContainerProblems: what is wrong with a container, and what is shared with VMs.
func TestContainerProblems(t *testing.T) {
	const good = `template: "local:vztmpl/alpine-3.tar.xz", node: pve1`
	for name, c := range map[string]struct{ body, want string }{
		"no archive":           {"containers: {y: {node: pve1}}", "no archive to make the container from"},
		"no node":              {"containers: {y: {template: \"local:vztmpl/alpine-3.tar.xz\"}}", "no node"},
		"a name as template":   {"containers: {y: {template: base, node: pve1}}", "archive takes the volume of an archive"},
		"two templates":        {"containers: {y: {template: {vmid: 9100, archive: \"local:vztmpl/alpine-3.tar.xz\"}, node: pve1}}", "template"},
		"features of a clone":  {"containers: {y: {template: 9100, node: pve1, features: {nesting: true}}}", "a clone has the features of its template"},
		"keys of a clone":      {"containers: {y: {template: 9100, node: pve1, ssh_keys: [\"ssh-ed25519 AAAA a\"]}}", "a clone has the ssh_keys of its template"},
		"an unknown system":    {"containers: {y: {template: \"local:vztmpl/custom.tar.xz\", node: pve1}}", "does not say which distribution"},
		"a property of VMs":    {"containers: {y: {" + good + ", cloud_init: {}}}", `unknown key "cloud_init" in y`},
		"a key of a VM":        {"defaults: {template: 9000, node: pve1}\nvms: {y: {}}\ncontainers: {y: {" + good + "}}", "the key is already used"},
		"a VMID of a VM":       {"defaults: {template: 9000, node: pve1}\nvms: {x: {vmid: 100}}\ncontainers: {y: {" + good + ", vmid: 100}}", "VMID 100 is already used"},
		"a name of a VM":       {"defaults: {template: 9000, node: pve1}\nvms: {x: {name: n}}\ncontainers: {y: {" + good + ", name: N}}", `the name "N" is already used`},
		"no network":           {"containers: {y: {" + good + ", networks: []}}", "has no MAC address, by which it is known"},
		"a MAC by Proxmox VE":  {"containers: {y: {" + good + ", networks: [{mac: auto}]}}", "mac takes a unicast MAC address"},
		"addresses with a gap": {"containers: {y: {" + good + ", networks: [{bridge: vmbr0}, {ipv4: dhcp}]}}", "networks[0] has no address"},
		"one interface twice":  {"containers: {y: {" + good + ", networks: [{interface: lan, ipv4: dhcp}, {interface: lan}]}}", "two networks use the interface lan"},
		"a path below":         {"containers: {y: {" + good + ", mounts: [{path: /a/b, size: 1}, {path: /ab, size: 1}, {path: /a, size: 2}]}}", "/a is mounted after mounts[0], which is below it"},
		"one path twice":       {"containers: {y: {" + good + ", mounts: [{path: /a, size: 1}, {path: /a, size: 2}]}}", "two mount points are at /a"},
		"a bind mount":         {"containers: {y: {" + good + ", mounts: [{path: /a, size: 1, datastore: /mnt/nas}]}}", "datastore takes a datastore"},
		"a path that leaves":   {"containers: {y: {" + good + ", mounts: [{path: /a/../etc, size: 1}]}}", "path takes an absolute path"},
		"a mount, no size":     {"containers: {y: {" + good + ", mounts: [{path: /a}]}}", `lacks the key "size"`},
		"record, no address":   {"dns: {zone: a.test, server: 10.0.0.1}\ncontainers: {y: {" + good + ", networks: [{ipv6: auto}]}}", "has a DNS record, and no IPv4 address"},
		"adopted, no address":  {"dns: {zone: a.test, server: 10.0.0.1}\ncontainers: {y: {adopt: {vmid: 500}, profile: default, node: pve1, networks: [{mac: 'BC:24:11:00:00:01'}]}}", "has a DNS record, and no IPv4 address"},
		"an unknown profile":   {"containers: {y: {" + good + ", profile: x}}", `the profile "x" does not exist`},
	} {
		if _, got := containersOf(t, containerHead+c.body+"\n"); !slices.ContainsFunc(got, func(text string) bool { return strings.Contains(text, c.want) }) {
			t.Errorf("%s: %q lacks %q", name, got, c.want)
		}
	}
	class := strings.Replace(containerHead, "Stack", "Class", 1) + "students: {count: 1}\ncontainers: {}\n"
	s, problems := Parse("a.yaml", []byte(class))
	if s != nil || !strings.Contains(problems[0].Fix, "a class has VMs only") {
		t.Errorf("a class: %v", problems)
	}
}

// TestContainerAdopts: a container that existed is made from nothing, also where the defaults have an archive, and no plan
// changes it unless its entry says so.
func TestContainerAdopts(t *testing.T) {
	p, problems := containersOf(t, containerHead+`dns: {zone: a.test, server: 10.0.0.1}
defaults:
  node: pve1
  containers: {template: "local:vztmpl/debian-12-standard_12.7-1_amd64.tar.zst", profile: protected, os_type: debian}
containers:
  x: {adopt: {vmid: 500}, networks: [{mac: "BC:24:11:00:00:01"}, {mac: "bc:24:11:00:00:02"}]}
  y: {adopt: {vmid: 501}, profile: default, template: "local:vztmpl/debian-12.tar.zst", networks: [{mac: "BC:24:11:00:00:04", ipv4: dhcp}]}
  made: {}
`)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for i, want := range []string{"500 adopted []", "501 default []", "0 protected [template os_type]"} {
		v := p.Stacks[0].VMs[i]
		has := slices.DeleteFunc([]string{guest.Template, guest.OSType}, func(key string) bool { return !v.Values.Has(key) })
		if got := fmt.Sprintf("%d %s %v", v.VMID, v.Profile, has); got != want || v.Adopt != (v.VMID != 0) {
			t.Errorf("%s is %s, want %s", v.Key, got, want)
		}
	}
	if records := p.Stacks[0].VMs[0].Records; len(records) != 1 {
		t.Errorf("a container whose networks say no address has the records %v, want that of its name", records)
	}
	if macs := p.Stacks[0].VMs[0].MACs; !slices.Equal(macs, []string{"BC:24:11:00:00:01", "BC:24:11:00:00:02"}) {
		t.Errorf("its MAC addresses are %v", macs)
	}
	for body, want := range map[string]string{
		"{adopt: {vmid: 500}, node: pve1}":                                                    `networks[0] lacks the key "mac"`,
		"{adopt: {vmid: 500}, node: pve1, networks: [{mac: 'BC:24:11:00:00:01'}, {}]}":        `networks[1] lacks the key "mac"`,
		"{adopt: {vmid: 500}, node: pve1, networks: []}":                                      "has no MAC address, by which it is known",
		"{adopt: {vmid: 500}, vmid: 501, node: pve1, networks: [{mac: 'BC:24:11:00:00:01'}]}": "vmid is 501, but adopt is 500",
		"{adopt: {}, node: pve1}":                                                             `adopt lacks the key "vmid"`,
	} {
		if _, got := containersOf(t, containerHead+"containers: {y: "+body+"}\n"); !slices.ContainsFunc(got, func(text string) bool { return strings.Contains(text, want) }) {
			t.Errorf("%s: %q lacks %q", body, got, want)
		}
	}
}

// TestEntryOf: which entries of a configuration an import leaves as they are, and which nobody has listed.
func TestEntryOf(t *testing.T) {
	for _, c := range []struct {
		kind        guest.Kind
		key, text   string
		known, kept bool
	}{
		{guest.Container, "dev", "a", true, true}, {guest.Container, "console", "0", true, true}, {guest.Container, "entrypoint", "/x", true, true},
		{guest.Container, "lxc", "[]", true, true}, {guest.Container, "arch", "amd64", true, true}, {guest.Container, "arch", "arm64", true, false},
		{guest.Container, "cpulimit", "0", true, true}, {guest.Container, "cpulimit", "2", true, false}, {guest.Container, "cpuunits", "100", true, false},
		{guest.Container, "timezone", "host", true, true}, {guest.Container, "args", "-x", false, false}, {guest.Container, "", "", false, false},
		{guest.VM, "args", "-x", true, true}, {guest.VM, "arch", "x86_64", true, false}, {guest.VM, "vmgenid", "1", true, true}, {guest.VM, "mp", "a", false, false},
	} {
		if e, known := EntryOf(c.kind, c.key, c.text); known != c.known || e.Kept != c.kept {
			t.Errorf("%s %s: %s is known: %v, and kept: %v", c.kind, c.key, c.text, known, e.Kept)
		}
	}
}

// TestContainerProfiles: a profile ignores of a container what it ignores of the same properties, and
// what every profile ignores.
func TestContainerProfiles(t *testing.T) {
	p := Profile{Name: "x", IgnoreChanges: []string{"network_device", "memory", "on_boot", "disk", "clone"}}
	got := p.For(guest.Container)
	for attribute, want := range map[string]bool{
		"network_interface": true, "memory": true, "start_on_boot": true, "node_name": true, "operating_system": true, "pool_id": true,
		"initialization[0].user_account": true, "started": false, "cpu": false, "description": false, "network_device": false,
	} {
		if got.Ignores(attribute) != want {
			t.Errorf("%s is ignored: %v", attribute, !want)
		}
	}
	if p.For(guest.VM) != &p {
		t.Error("the profile of VMs is another one")
	}
}

// TestContainerAddressClash: no two guests have one address, whichever network and version of IP it is of.
func TestContainerAddressClash(t *testing.T) {
	const archive = `template: "local:vztmpl/debian-12.tar.zst"`
	for _, networks := range []string{
		"[{ipv4: 10.0.0.5/24}]", "[{ipv4: dhcp}, {ipv4: 10.1.0.5/24}]", "[{ipv4: dhcp, ipv6: 'fd00::5/64'}]",
	} {
		_, problems := containersOf(t, containerHead+"defaults: {node: pve1}\ncontainers:\n  x: {"+archive+", networks: "+networks+
			"}\n  y: {"+archive+", networks: "+networks+"}\n")
		if len(problems) != 1 || !strings.Contains(problems[0], "is already used") || strings.Contains(problems[0], ":7:3") {
			t.Errorf("%s: %q", networks, problems)
		}
	}
	_, problems := containersOf(t, containerHead+"defaults: {node: pve1}\nvms: {w: {template: 9000, cloud_init: {ipv4: 10.0.0.5/24}}}\ncontainers: {x: {"+
		archive+", networks: [{ipv4: 10.0.0.5/24}]}}\n")
	if len(problems) != 1 || !strings.Contains(problems[0], "is already used") {
		t.Errorf("of a VM and a container: %q", problems)
	}
}
