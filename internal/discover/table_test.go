package discover

import (
	"fmt"
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/lock"
)

// said is what a proposal comes to, in a few words.
func said(p *Proposal) string {
	var out []string
	for _, s := range p.Stacks {
		var keys []string
		for _, v := range s.VMs {
			mark := "!"
			if v.Managed {
				mark = ""
			}
			keys = append(keys, v.Key+mark)
		}
		out = append(out, s.File+" "+strings.Join(keys, ","))
	}
	for _, l := range p.Left {
		out = append(out, fmt.Sprintf("%s %d", l.Kind, l.VMID))
	}
	return strings.Join(out, "; ")
}

// in puts a guest into a pool.
func in(pool string, g cluster.Guest) cluster.Guest {
	g.Pool = pool
	return g
}

const labSpec = "apiVersion: stackgen/v1\nkind: Stack\nname: lab\nvmids: 900-999\ndefaults: {node: pve1, template: 9000}\n"

// TestChoice covers which VMs get an entry, in which spec, and with which key.
func TestChoice(t *testing.T) {
	container := cluster.Guest{VMID: 300, Node: "pve1", Kind: guest.Container, Template: true, Name: "dns"}
	template := cluster.Guest{VMID: 301, Node: "pve1", Kind: guest.VM, Template: true, Name: "base"}
	unread := cluster.Guest{VMID: 302, Node: "pve3", Kind: guest.VM, Name: "far", Status: cluster.StatusUnknown}
	silent := newGuest(303, "nas", "agent: 1")
	silent.Status, silent.Config.Agent = "running", cluster.AgentSilent
	mute := newGuest(305, "mute", "agent: 1")
	mute.Status, mute.Config.Agent = "running", cluster.AgentNoAddress
	locked := newGuest(304, "busy", "")
	locked.Lock = "backup"
	for _, c := range []struct {
		name    string
		request Request
		specs   string
		guests  []cluster.Guest
		want    string
	}{
		{name: "nothing"},
		{name: "pool, tag, rest", guests: []cluster.Guest{in("Web.Pool", newGuest(100, "a", "tags: x")), newGuest(101, "b", "tags: x;y"), newGuest(102, "c", "tags: X"), newGuest(103, "d", "tags: y")},
			want: "specs/lab.yaml d; specs/web-pool.yaml a; specs/x.yaml b,c!"},
		{name: "stack for the rest", request: Request{Stack: "mine"}, guests: []cluster.Guest{newGuest(100, "a", "")}, want: "specs/mine.yaml a"},
		{name: "a tag that was asked for", request: Request{Tags: []string{"Y"}}, guests: []cluster.Guest{newGuest(101, "b", "tags: x;y"), newGuest(102, "c", "tags: x")}, want: "specs/y.yaml b"},
		{name: "pool", request: Request{Pools: []string{"p"}}, guests: []cluster.Guest{in("p", newGuest(100, "a", "")), newGuest(101, "b", "")}, want: "specs/p.yaml a"},
		{name: "node", request: Request{Nodes: []string{"pve2"}}, guests: []cluster.Guest{newGuest(100, "a", "")}},
		{name: "VMID", request: Request{VMIDs: []int{101}}, guests: []cluster.Guest{newGuest(100, "a", ""), newGuest(101, "b", ""), container}, want: "specs/lab.yaml b"},
		{name: "twins", guests: []cluster.Guest{newGuest(100, "web", ""), newGuest(101, "web", ""), newGuest(102, "web-101", ""), newGuest(103, "db", "")}, want: "specs/lab.yaml web-100,web-101!,web-101-102,db"},
		{name: "names that are no keys", guests: []cluster.Guest{newGuest(100, "Web_1", ""), newGuest(101, "for", ""), newGuest(102, "", ""), newGuest(103, "../../x", ""), newGuest(104, strings.Repeat("a", 50), ""), newGuest(105, "ж", "")},
			want: "specs/lab.yaml web-1!,for-101,vm-102!,x!," + strings.Repeat("a", 40) + ",vm-105!"},
		{name: "in a spec", specs: labSpec + "vms:\n  a: {adopt: {vmid: 100}}\n  b: {vmid: 900}\n", guests: []cluster.Guest{newGuest(100, "x", ""), newGuest(101, "a", ""), newGuest(102, "lab-b", "")},
			want: "specs/lab.yaml a-101; in-spec 100; unclear 102"},
		{name: "a pool that a spec has", specs: labSpec + "pool: {id: p}\nvms:\n  a: {adopt: {vmid: 100}}\n", guests: []cluster.Guest{in("p", newGuest(101, "b", "")), newGuest(102, "c", "")},
			want: "specs/lab.yaml b; specs/lab-2.yaml c"},
		{name: "a class has the name", specs: "apiVersion: stackgen/v1\nkind: Class\nname: lab\nvmids: 900-999\ntemplate: 9000\ndefaults: {node: pve1}\nstudents: {count: 1}\n", guests: []cluster.Guest{newGuest(102, "c", "")}, want: "specs/lab-2.yaml c"},
		{name: "others", guests: []cluster.Guest{container, template, unread, silent, mute, locked}, want: "specs/lab.yaml busy!; template 300; template 301; not-read 302; not-fit 303; not-fit 305"},
		{name: "a pool that no spec can name", guests: []cluster.Guest{in("null", newGuest(100, "a", "")), newGuest(101, "b", "")}, want: "specs/lab.yaml b; not-usable 100"},
		{name: "names that differ in their case", guests: []cluster.Guest{in("p", newGuest(100, "web", "")), in("q", newGuest(101, "Web", "")), in("r", newGuest(102, "WEB", ""))}, want: "specs/p.yaml web; specs/q.yaml web!; specs/r.yaml web!"},
		{name: "an address that a later spec has", specs: labSpec + "vms:\n  v: {cloud_init: {ipv4: 192.0.2.5/24, gateway: 192.0.2.1}}\n",
			guests: []cluster.Guest{in("a", newGuest(100, "w", "ide2: local-lvm:vm-1-cloudinit,media=cdrom\nipconfig0: ip=192.0.2.5/24,gw=192.0.2.1")), in("a", newGuest(101, "x", ""))}, want: "specs/a.yaml w!,x"},
		{name: "a default that several VMs cannot undo", guests: func() (all []cluster.Guest) {
			for i := range 9 {
				lines := fmt.Sprintf("ide2: local-lvm:vm-%d-cloudinit,media=cdrom\nipconfig0: ip=dhcp", 100+i)
				if i < 5 {
					lines += "\nciuser: debian"
				}
				all = append(all, newGuest(100+i, fmt.Sprintf("c%d", i), lines))
			}
			return all
		}(), want: "specs/lab.yaml c0,c1,c2,c3,c4,c5,c6,c7,c8"},
		{name: "VLANs", guests: []cluster.Guest{newGuest(100, "r", "net0: virtio=BC:24:11:00:00:01,bridge=vmbr0,trunks=5-7")}, want: "not-fit 100"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &world{t: t, guests: c.guests}
			if c.specs != "" {
				w.specs = map[string][]byte{"specs/lab.yaml": []byte(c.specs)}
			}
			p, err := w.propose(c.request)
			if err != nil {
				t.Fatal(err)
			}
			if got := said(p); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestRefusals covers requests that cannot be met as a whole.
func TestRefusals(t *testing.T) {
	w := &world{t: t, guests: []cluster.Guest{newGuest(100, "a", ""), {VMID: 300, Kind: guest.Container, Template: true}, {VMID: 301, Kind: guest.VM, Template: true}},
		specs: map[string][]byte{"specs/lab.yaml": []byte(labSpec + "pool: {id: p}\n")}}
	for _, c := range []struct {
		request Request
		want    string
	}{
		{Request{VMIDs: []int{99}}, "no guest 99"},
		{Request{VMIDs: []int{300}}, "300 is a template of containers"},
		{Request{VMIDs: []int{301}}, "a template"},
		{Request{Pools: []string{"p", "typo"}}, "--pool typo: the cluster has no such pool"},
		{Request{Nodes: []string{"pve9"}}, "--node pve9: the cluster has no such node"},
		{Request{Tags: []string{"typo"}}, "--tag typo: no guest"},
		{Request{Stack: "My Stack"}, "--stack My Stack"},
		{Request{Stack: "lab"}, "has a pool"},
	} {
		if p, err := w.propose(c.request); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, %v; want %s", c.request, p, err, c.want)
		}
	}
	w.specs = map[string][]byte{"specs/lab.yaml": []byte(labSpec)}
	w.lock = &lock.Lock{Stacks: lock.Ordered[lock.Stack]{{Key: "lab", Value: lock.Stack{Cluster: &lock.Cluster{Name: "other", Nodes: []lock.ClusterNode{{Name: "far", Address: "192.0.2.1"}}}}}}}
	if p, err := w.propose(Request{}); err == nil || !strings.Contains(err.Error(), "may not be the cluster") {
		t.Errorf("another cluster: got %v, %v", p, err)
	}
}

// TestLeaving leaves VMs alone that the lock has as forgotten.
func TestLeaving(t *testing.T) {
	w := &world{t: t, guests: []cluster.Guest{newGuest(100, "a", ""), newGuest(101, "b", "")}, specs: map[string][]byte{"specs/lab.yaml": []byte(labSpec + "forgotten: [a]\n")}}
	w.lock = &lock.Lock{Stacks: lock.Ordered[lock.Stack]{{Key: "lab", Value: lock.Stack{VMs: lock.Ordered[lock.VM]{{Key: "a", Value: lock.VM{VMID: 100, Status: lock.Forgotten}}, {Key: "b", Value: lock.VM{VMID: 7000, Status: lock.Forgotten}}}}}}}
	p, err := w.propose(Request{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := said(p), "specs/lab.yaml b-101; leaving 100"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestMissing names VMs of a spec that its plan creates because they were never applied, and
// none that was seen before: it was deleted, or is not visible.
func TestMissing(t *testing.T) {
	w := &world{t: t, guests: []cluster.Guest{in("p", newGuest(100, "a", ""))}, specs: map[string][]byte{"specs/lab.yaml": []byte(labSpec + "pool: {id: p}\nvms: {added: {}, decided: {}, deleted: {}}\n")}}
	w.lock = &lock.Lock{Stacks: lock.Ordered[lock.Stack]{{Key: "lab", Value: lock.Stack{VMs: lock.Ordered[lock.VM]{{Key: "decided", Value: lock.VM{VMID: 901}},
		{Key: "deleted", Value: lock.VM{VMID: 902, Fingerprint: &lock.Fingerprint{UUID: "u"}}}}}}}}
	p, err := w.propose(Request{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(said(p), p.Stacks[0].Missing), "specs/lab.yaml a[added decided]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestSpec shows what a spec says: what most have in common once, and what differs.
func TestSpec(t *testing.T) {
	cloud := "ide2: local-lvm:vm-%d-cloudinit,media=cdrom\nciuser: ops\ncpu: host\nboot: order=scsi0\ntags: site\nipconfig0: "
	at := func(vmid int, name, lines string) cluster.Guest {
		return newGuest(vmid, name, strings.ReplaceAll(cloud, "%d", fmt.Sprint(vmid))+lines)
	}
	other := at(105, "odd", "ip=dhcp\nmemory: 8192\ntags: site;odd\nciuser:\nscsihw:\n")
	other.Node = "pve2"
	guests := []cluster.Guest{at(101, "web1", "ip=192.0.2.1/24,gw=192.0.2.254"), at(102, "web2", "ip=192.0.2.2/24,gw=192.0.2.254\nonboot: 0"), at(103, "db", "ip=dhcp\nballoon:\nmemory: 4096"),
		newGuest(104, "plain", "tags: site;x\ncpu: host\ndescription: the \"boss's\" {n}: #1"), other}
	for i := range guests {
		guests[i].Tags = nil
	}
	w := &world{t: t, guests: guests}
	p, err := w.propose(Request{})
	if err != nil {
		t.Fatal(err)
	}
	const want = `# VMs that existed before this spec. ` + "`stackgen discover`" + ` wrote it; edit it as you like.
apiVersion: stackgen/v1
kind: Stack
name: lab
naming: {pattern: "{key}"}

defaults:
  node: pve1
  tags: [site]
  boot_order: [scsi0]
  cpu_type: host
  agent: false
  cloud_init: {datastore: local-lvm, interface: ide2, user: ops, gateway: "192.0.2.254"}
  disks: [{interface: scsi0, datastore: local-lvm, size: 32}]

vms:
  web1: {adopt: {vmid: 101}, profile: default, cloud_init: {ipv4: "192.0.2.1/24"}}
  web2: {adopt: {vmid: 102}, profile: default, on_boot: false, cloud_init: {ipv4: "192.0.2.2/24"}}
  db: {adopt: {vmid: 103}, profile: default, memory: 4096}
  plain: {adopt: {vmid: 104}, profile: default, description: "the \"boss's\" {n}: #1", tags: [x], cloud_init: false}
  odd: {adopt: {vmid: 105}, node: pve2}
`
	if got := string(p.Files["specs/lab.yaml"]); !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestGroups makes groups of equal VMs with consecutive numbers only.
func TestGroups(t *testing.T) {
	guests := []cluster.Guest{newGuest(101, "web01", ""), newGuest(102, "web02", ""), newGuest(103, "web03", "cores: 4"), newGuest(104, "w-9", ""), newGuest(105, "w-10", ""), newGuest(106, "w-12", ""), newGuest(107, "n", ""),
		newGuest(108, "d1", "description: on {n}"), newGuest(109, "d2", "description: on {n}")}
	w := &world{t: t, guests: guests}
	p, err := w.propose(Request{Groups: true})
	if err != nil {
		t.Fatal(err)
	}
	w.add(p)
	if managed, adopted := w.compare(0); managed != len(guests) || adopted != 0 {
		t.Errorf("%d managed, %d adopted", managed, adopted)
	}
	got := string(p.Files["specs/lab.yaml"])
	_, got, _ = strings.Cut(got, "groups:\n")
	const want = `  w: {count: 2, key: "w-{8+n}", profile: default, overrides: {w-9: {adopt: {vmid: 104}}, w-10: {adopt: {vmid: 105}}}}
  web: {count: 2, key: "web0{n}", profile: default,
      overrides: {web01: {adopt: {vmid: 101}}, web02: {adopt: {vmid: 102}}}}

vms:
`
	if !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
