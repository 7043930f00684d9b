package discover

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/lock"
)

// newContainer is a container whose configuration a spec can say, with other lines. A line without a value
// removes an entry.
func newContainer(vmid int, name, lines string) cluster.Guest {
	usual := fmt.Sprintf("arch: amd64\ncores: 2\nhostname: %s\nmemory: 1024\nostype: debian\nswap: 512\nunprivileged: 1\nrootfs: local-lvm:vm-%d-disk-0,size=8G\n"+
		"net0: name=eth0,bridge=vmbr0,hwaddr=BC:24:11:0C:%02X:%02X,ip=dhcp,type=veth\n", name, vmid, vmid/256%256, vmid%256)
	raw := map[string]string{}
	for l := range strings.Lines(usual + lines) {
		key, value, _ := strings.Cut(strings.TrimSuffix(l, "\n"), ":")
		if raw[key] = strings.TrimSpace(value); raw[key] == "" {
			delete(raw, key)
		}
	}
	g := cluster.Guest{VMID: vmid, Node: "pve1", Kind: guest.Container, Name: name, Status: "running", CPUs: 8, Config: &cluster.Config{Raw: raw}}
	g.Config.MACs = macsOf(raw)
	return g
}

// macsOf are the MAC addresses of a container, as an inventory has them.
func macsOf(raw map[string]string) (out []string) {
	for i := range 10 {
		for part := range strings.SplitSeq(raw[fmt.Sprintf("net%d", i)], ",") {
			if mac, has := strings.CutPrefix(part, "hwaddr="); has {
				out = append(out, strings.ToUpper(mac))
			}
		}
	}
	return out
}

// TestContainerChoice: how far a spec goes for a container, and which ones get none.
func TestContainerChoice(t *testing.T) {
	net := func(options string) string {
		return "net0: name=eth0,bridge=vmbr0,hwaddr=BC:24:11:0C:00:64,type=veth" + options
	}
	for _, c := range []struct{ name, lines, want string }{
		{"nothing special", "", "managed"},
		{"kept by an import", "mp0: tank:vm-1-disk-1,mp=/data\ndev0: /dev/fuse\nhookscript: local:snippets/x.pl\nlxc: [[\"lxc.idmap\",\"u 0 1 1\"]]\nfeatures: nesting=1,keyctl=1\n" +
			"cmode: shell\ntty: 4\nconsole: 0\nenv: A=1\nentrypoint: /init\ntimezone: host\ndebug: 1\nparent: s1\nunused0: tank:vm-1-disk-9", "managed"},
		{"the defaults of the provider", "arch: amd64\ncpulimit: 0", "managed"},
		{"privileged", "unprivileged:", "managed"},
		{"a gap", "net2: name=eth2,bridge=vmbr0,hwaddr=BC:24:11:0C:01:02,ip=dhcp", "there is no net1"},
		{"IPv6", net(",ip6=auto"), "managed"},
		{"set in the container", net(",ip=manual"), "ipv4 takes dhcp"},
		{"a gateway of DHCP", net(",ip=dhcp,gw=10.0.0.1"), "cannot"},
		{"a gateway elsewhere", net(",ip=10.0.0.2/24,gw=10.0.1.1"), "gateway"},
		{"no address", net(""), "managed"},
		{"an address after none", net("") + "\nnet1: name=eth1,bridge=vmbr0,hwaddr=BC:24:11:0C:01:02,ip=dhcp", "has no address, and comes before one that has"},
		{"no bridge", strings.Replace(net(",ip=dhcp"), "bridge=vmbr0,", "", 1), "bridge takes"},
		{"VLANs", net(",trunks=2;3"), `option "trunks"`},
		{"a rate", net(",ip=dhcp,rate=5"), `option "rate"`},
		{"unplugged", net(",ip=dhcp,link_down=1"), `option "link_down"`},
		{"lower case", strings.ToLower(net(",ip=dhcp")), "lower case"},
		{"no memory", "memory:", "--memory 512"},
		{"no swap", "swap:", "--swap 512"},
		{"all cores", "cores:", "--cores 8"},
		{"a limit", "cpulimit: 1.5", "a spec has no property for `cpulimit`"},
		{"a weight", "cpuunits: 50", "a spec has no property for `cpuunits`"},
		{"arm64", "arch: arm64", "a spec has no property for `arch`"},
		{"quotas", "rootfs: local-lvm:vm-100-disk-0,quota=1,size=8G", `option "quota"`},
		{"megabytes", "rootfs: local-lvm:vm-100-disk-0,size=2252M", "managed"},
		{"less than one", "rootfs: local-lvm:vm-100-disk-0,size=512M", "whole GiB"},
		{"no size", "rootfs: local-lvm:vm-100-disk-0", "whole GiB"},
		{"a folder", "rootfs: /srv/ct,size=0", "no volume of a storage"},
		{"no host name", "hostname:", "no name"},
		{"two search domains", "searchdomain: a.test b.test", "search_domain takes"},
		{"name servers with commas", "nameserver: 10.0.0.1,10.0.0.2", "nameservers[0] takes an IP address"},
		{"no order", "startup: up=5", "order"},
		{"upper case", "tags: A;b", "tags in lower case"},
		{"an entry of tomorrow", "novelty: 1", "stackgen does not know this entry"},
		{"a secret", "description: (secret)", "looks like a secret"},
		{"a secret of its own", "env: PASSWORD=(secret)", "managed"},

		{"no network", "net0:", "no-network"},
		{"no MAC address", "net0: name=eth0,bridge=vmbr0,ip=dhcp", "not-known"},
		{"multicast", "net0: name=eth0,bridge=vmbr0,hwaddr=01:24:11:0C:00:64,ip=dhcp", "not-known"},
		{"a quote in a path", "mp0: /srv/a\"b,mp=/media", "not-fit"},
		{"a range of VLANs", net(",trunks=2-5"), "not-fit"},
		{"a limit without cores", "cores:\ncpulimit: 2", "not-fit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &world{t: t, guests: []cluster.Guest{newContainer(100, "box", c.lines)}}
			p, err := w.propose(Request{})
			if err != nil {
				t.Fatal(err)
			}
			got := "managed"
			for _, l := range p.Left {
				got = string(l.Kind)
				for _, command := range l.Reason.Commands {
					if strings.Contains(command, "--net") {
						t.Errorf("printed %s", command)
					}
				}
			}
			for _, s := range p.Stacks {
				for _, r := range s.VMs[0].Reasons {
					got = r.Why + " " + strings.Join(r.Commands, " ")
					if len(r.Settings) > 0 || strings.Contains(got, "--net") {
						t.Errorf("it would write %v: %s", r.Settings, got)
					}
				}
				if len(s.VMs[0].Defaults) > 0 {
					t.Errorf("it would write %v", s.VMs[0].Defaults)
				}
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestContainersLeft: a container of another entry, of another project, or with the name or the MAC address
// of something else.
func TestContainersLeft(t *testing.T) {
	locked := newContainer(101, "busy", "")
	locked.Lock = "backup"
	twin := newContainer(102, "twin", "")
	twin.Config.MACs = newContainer(103, "", "").Config.MACs
	other := newContainer(300, "of-vm", "")
	other.Kind, other.Config.MACs = guest.VM, newContainer(104, "", "").Config.MACs
	for _, c := range []struct {
		name, specs string
		guests      []cluster.Guest
		want        string
	}{
		{"locked", "", []cluster.Guest{locked}, "locked 101"},
		{"one MAC address twice", "", []cluster.Guest{twin, newContainer(103, "first", ""), newContainer(105, "alone", "")}, "specs/lab.yaml alone; not-known 102; not-known 103"},
		{"that of a VM", "", []cluster.Guest{newContainer(104, "ct", ""), other}, "specs/lab.yaml of-vm!; not-known 104"},
		{"in a spec", labSpec + "containers: {ct: {adopt: {vmid: 100}, networks: [{mac: 'BC:24:11:0C:00:64'}]}}\n", []cluster.Guest{newContainer(100, "ct", "")}, "in-spec 100"},
		{"a MAC address of a spec", labSpec + "containers: {x: {template: 'local:vztmpl/debian-12.tar.zst', networks: [{ipv4: dhcp, mac: 'BC:24:11:0C:00:64'}]}}\n",
			[]cluster.Guest{newContainer(100, "ct", "")}, "not-known 100"},
		{"the name of a container", labSpec + "containers: {x: {name: ct, template: 'local:vztmpl/debian-12.tar.zst'}}\n", []cluster.Guest{newContainer(100, "ct", "")}, "unclear 100"},
		{"the name of a VM", labSpec + "vms: {x: {name: ct}}\n", []cluster.Guest{newContainer(100, "ct", "")}, "unclear 100"},
		{"the VMID of a VM", labSpec + "vms: {x: {vmid: 100}}\n", []cluster.Guest{newContainer(100, "ct", "")}, "unclear 100"},
		{"the VMID of a container", labSpec + "containers: {x: {vmid: 100, template: 'local:vztmpl/debian-12.tar.zst'}}\n", []cluster.Guest{newGuest(100, "vm", "")}, "unclear 100"},
		{"records", strings.Replace(labSpec, "vmids", "dns: {zone: a.test, server: 192.0.2.53}\nvmids", 1), []cluster.Guest{newContainer(100, "ct", ""), newContainer(101, "odd", "arch: arm64"),
			newContainer(102, "bare", "net0: name=eth0,bridge=vmbr0,hwaddr=BC:24:11:0C:00:66,type=veth")}, "specs/lab.yaml ct,odd!,bare"},
		{"keys of VMs", "", []cluster.Guest{newGuest(100, "web", ""), newContainer(101, "Web", ""), newContainer(102, "", "hostname:")}, "specs/lab.yaml web-100,web-101!,ct-102!"},
		{"a key of the spec", labSpec + "vms: {web: {name: x}}\n", []cluster.Guest{newContainer(101, "web", "")}, "specs/lab.yaml web-101"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &world{t: t, guests: c.guests}
			if c.specs != "" {
				w.specs = map[string][]byte{"specs/lab.yaml": []byte(c.specs)}
			}
			p, err := w.propose(Request{})
			if err != nil {
				t.Fatal(err)
			}
			if got := said(p); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if body := string(p.Files["specs/lab.yaml"]); c.name == "records" && strings.Count(body, "dns: false") != 3 {
				t.Errorf("the first plan would create records:\n%s", body)
			}
		})
	}
	w := &world{t: t, guests: []cluster.Guest{newContainer(100, "a", "")}}
	w.others = []lock.Other{{File: "../x/stackgen.lock.yaml", Lock: &lock.Lock{Stacks: lock.Ordered[lock.Stack]{{Key: "s", Value: lock.Stack{VMs: lock.Ordered[lock.VM]{
		{Key: "a", Value: lock.VM{Kind: guest.Container, VMID: 7, MACs: w.guests[0].Config.MACs}}}}}}}}}
	if p, err := w.propose(Request{}); err != nil || said(p) != "elsewhere 100" {
		t.Errorf("of another project: %v, %v", said(p), err)
	}
}

// TestContainerSpec shows the spec of VMs and containers, a new one and one with an archive for new containers.
func TestContainerSpec(t *testing.T) {
	guests := []cluster.Guest{newGuest(100, "vm1", "memory: 8192\ntags: site"), newGuest(101, "vm2", "memory: 8192\ntags: site"), newContainer(102, "ns", "cores: 1\nnameserver: 10.0.0.1 10.0.0.2"),
		newContainer(103, "proxy", "tags: site;web\nonboot: 1\nnet0: name=wan,bridge=vmbr1,firewall=1,hwaddr=BC:24:11:0C:00:67,ip=10.0.0.9/24,gw=10.0.0.1,tag=5"),
		newContainer(104, "old", "arch: arm64"), newContainer(105, "two", "net1: name=eth1,bridge=vmbr9,hwaddr=BC:24:11:0C:01:69,type=veth")}
	for i := range guests {
		guests[i].Pool, guests[i].Tags = "lab", nil
	}
	w := &world{t: t, guests: guests}
	p, err := w.propose(Request{})
	if err != nil {
		t.Fatal(err)
	}
	const want = `# VMs and containers that existed before this spec. ` + "`stackgen discover`" + ` wrote it; edit it as you like.
apiVersion: stackgen/v1
kind: Stack
name: lab
pool: {id: lab}
naming: {pattern: "{key}"}

defaults:
  node: pve1
  boot_order: [scsi0]
  memory: 8192
  agent: false
  cloud_init: false
  disks: [{interface: scsi0, datastore: local-lvm, size: 32}]
  containers: {on_boot: false, cores: 2, memory: 1024, rootfs: {datastore: local-lvm, size: 8}}

vms:
  vm1: {adopt: {vmid: 100}, profile: default, tags: [site]}
  vm2: {adopt: {vmid: 101}, profile: default, tags: [site]}

containers:
  ns: {adopt: {vmid: 102}, profile: default, cores: 1,
      networks: [{bridge: vmbr0, mac: "BC:24:11:0C:00:66", ipv4: dhcp}], nameservers: ["10.0.0.1", "10.0.0.2"]}
  proxy: {adopt: {vmid: 103}, profile: default, tags: [site, web], on_boot: true,
      networks: [{interface: wan, bridge: vmbr1, vlan: 5, mac: "BC:24:11:0C:00:67", ipv4: "10.0.0.9/24", gateway: "10.0.0.1", firewall: true}]}
  old: {adopt: {vmid: 104}, networks: [{mac: "BC:24:11:0C:00:68"}]}
  two: {adopt: {vmid: 105}, profile: default,
      networks: [{bridge: vmbr0, mac: "BC:24:11:0C:00:69", ipv4: dhcp}, {bridge: vmbr9, mac: "BC:24:11:0C:01:69"}]}
`
	if got := string(p.Files["specs/lab.yaml"]); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	const existing = labSpec + "pool: {id: lab}\nnaming: {pattern: '{key}'}\ncontainers:\n  made: {template: 'local:vztmpl/debian-12.tar.zst'}  # by us\n"
	w.specs = map[string][]byte{"specs/lab.yaml": []byte(existing)}
	if p, err = w.propose(Request{VMIDs: []int{102, 104}}); err != nil {
		t.Fatal(err)
	}
	const wantAdded = existing + `  ns: {adopt: {vmid: 102}, profile: default, on_boot: false, memory: 1024, rootfs: {size: 8},
      networks: [{bridge: vmbr0, mac: "BC:24:11:0C:00:66", ipv4: dhcp}], nameservers: ["10.0.0.1", "10.0.0.2"]}
  old: {adopt: {vmid: 104}, networks: [{mac: "BC:24:11:0C:00:68"}]}
`
	if got := string(p.Files["specs/lab.yaml"]); got != wantAdded {
		t.Errorf("got\n%s\nwant\n%s", got, wantAdded)
	}
}

// TestSharedMACs: a VM with the MAC address of a guest that was not asked for gets its entry, and that is said; a
// container gets none. What was not read may have it.
func TestSharedMACs(t *testing.T) {
	ct, vm := newContainer(100, "ct", ""), newGuest(101, "vm", "")
	ct.Pool, vm.Pool = "lab", "lab"
	vm.Config.MACs = []string{"BC:24:11:0C:00:65"}
	stranger := func(g cluster.Guest) cluster.Guest {
		return cluster.Guest{VMID: g.VMID + 100, Node: g.Node, Kind: guest.Container, Name: "stranger", Pool: "other",
			Identity: &cluster.Identity{MACs: g.Config.MACs}}
	}
	unread := cluster.Guest{VMID: 300, Node: "pve1", Kind: guest.VM, Name: "unread"}
	w := &world{t: t, guests: []cluster.Guest{ct, vm, stranger(ct), stranger(vm), unread}}
	p, err := w.propose(Request{Pools: []string{"lab"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := said(p), "specs/lab.yaml vm; not-known 100"; got != want || p.Unread != 1 {
		t.Errorf("got %s, %d not read, want %s and 1", got, p.Unread, want)
	}
	if got, want := p.Stacks[0].VMs[0].SharedMACs, []string{"BC:24:11:0C:00:65 of container 201"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
