//go:build unix

package real

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"stackgen/internal/pvesim"
)

// fullGuard are settings with the guard, which asks for the grant of each destroy of a part.
const fullGuard = "apiVersion: stackgen/v1\nkind: Project\nguard: full\n"

// TestDestroyPart destroys VMs of a class one by one: nothing is written to another guest, and
// the next apply makes the same ones again. The grant of each is for this run only.
func TestDestroyPart(t *testing.T) {
	t.Parallel()
	c := &classroom{project: newProject(t, map[string]string{"stackgen.yaml": fullGuard, "specs/art.yaml": `apiVersion: stackgen/v1
kind: Class
name: art
vmids: 300-399
template: 9002
clone: linked
placement: {nodes: [pve1]}
defaults: {started: false, disks: [{interface: scsi0, size: 8, datastore: local-lvm}]}
teacher: {}
students: {roster: [Ana Prva, Bo]}
outputs: {registration: registration/art.json}
`})}
	c.sim = c.simulate()
	c.render()
	c.deployed(0, "apply --yes art", "art is as its spec says")
	seen := func() int { return strings.Count(c.read("stackgen.lock.yaml"), "fingerprint") }
	onlyWrites := func(vmids ...int) {
		t.Helper()
		writes := 0
		for _, vmid := range vmids {
			writes += c.sim.Writes(vmid)
		}
		all := 0
		for _, r := range c.sim.Requests() {
			if r.Method != http.MethodGet {
				all++
			}
		}
		if writes != all || writes == 0 {
			t.Errorf("%d writes, %d of them to %v", all, writes, vmids)
		}
		c.sim.ResetLog()
	}
	c.sim.ResetLog()
	c.deployed(1, "destroy art/teacher", "standard input is no terminal")
	c.deployed(1, "apply --yes art/teacher", "`stackgen apply art`")
	c.deployed(0, "destroy --dry-run --member Bo", "destroy art: destroy 1 VM", "VM 302 ",
		"afterwards Bo leaves the class: out of the roster, and `retired: [bo]`, in specs/art.yaml")
	noWrites(t, c.sim)
	c.deployed(0, "destroy --yes art/bo", "destroyed art/bo; ", "specs/art.yaml still has it: the next apply creates it again",
		"remove it from the roster of specs/art.yaml and retire it in the spec:\n  retired: [bo]\n  stackgen render")
	onlyWrites(302)
	if got := c.guests(300, 399); len(got) != 2 {
		t.Errorf("the cluster has %v", got)
	}
	if n := seen(); n != 2 {
		t.Errorf("the lock has %d fingerprints", n)
	}
	if text := c.read("registration/art.csv"); strings.Contains(text, "Bo") {
		t.Errorf("the registration has what was destroyed:\n%s", text)
	}
	c.sim.ResetLog()
	c.deployed(0, "destroy --yes art/bo", "nothing to destroy: no state has art/bo")
	noWrites(t, c.sim)
	c.deployed(0, "apply --yes art", "create 1 VM", "art is as its spec says")
	callAPI(t, c.sim, "DELETE", "/nodes/pve1/qemu/302", nil)
	c.sim.ResetLog()
	c.deployed(0, "destroy --yes art --students", "destroy art: forget 1 VM; destroy 1 VM", "VM 302 is gone already", "destroyed art/ana-prva, art/bo; ")
	onlyWrites(301)
	if got := c.guests(300, 399); len(got) != 1 {
		t.Errorf("the cluster has %v", got)
	}
	c.deployed(0, "apply --yes art", "create 2 VMs", "art is as its spec says")
	c.leaves(onlyWrites)
}

// leaves destroys the VM of a member for good. A kill between the destroy and the change of the
// spec is that spec after it; the same command ends right.
func (c *classroom) leaves(onlyWrites func(vmids ...int)) {
	c.Helper()
	before := c.read("specs/art.yaml")
	c.sim.ResetLog()
	c.deployed(0, "destroy --yes --member Bo", "destroyed art/bo\nBo left the class, by specs/art.yaml\nnext:\n  stackgen render specs/art.yaml && stackgen apply specs/art.yaml")
	onlyWrites(302)
	after := c.read("specs/art.yaml")
	c.write("specs/art.yaml", before)
	c.deployed(0, "destroy --yes --member Bo", "nothing to destroy: no state has art/bo\nBo left the class, by specs/art.yaml")
	if got := c.read("specs/art.yaml"); got != after || !strings.Contains(got, "roster: [Ana Prva]}") || !strings.Contains(got, "retired: [bo]\n") {
		c.Errorf("the spec is\n%s", got)
	}
	c.render()
	c.deployed(0, "apply --yes art", "art is as its spec says")
	noWrites(c.T, c.sim)
	c.write("specs/art.yaml", strings.Replace(after, "retired: [bo]\n", "", 1))
	c.render()
	c.deployed(0, "apply --yes art", "nothing to do")
	noWrites(c.T, c.sim)
}

// TestDNSDestroyPart destroys one VM with its records, which are a unit of their own, or a part of
// the unit of all records.
func TestDNSDestroyPart(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"per-vm", "per-stack"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			dns := "DNS\n"
			if mode == "per-stack" {
				dns = "DNS, mode: per-stack\n"
			}
			p := newDNSCluster(t, dns+dnsLivePair)
			p.write("stackgen.yaml", fullGuard)
			p.render()
			p.deployed(0, "apply --yes live")
			db := p.address("db")
			p.sim.ResetLog()
			p.deployed(0, "destroy --yes live/a", "VM 100 web on pve1", "destroyed live/a")
			p.has("web")
			p.has("www")
			p.has("db", db)
			if n := p.sim.Writes(101); n != 0 {
				t.Errorf("%d writes to VM 101", n)
			}
			p.deployed(0, "apply --yes live", "live is as its spec says")
			p.address("web")
		})
	}
}

// TestDestroyPartKilled kills a destroy of one VM before each request that changes it, and before
// it writes the state. The same command ends right.
func TestDestroyPartKilled(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"stackgen.yaml": fullGuard, "specs/live.yaml": `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
defaults: {node: pve1, template: 9002, clone: linked, disks: [{interface: scsi0, size: 8, datastore: local-lvm}]}
vms: {a: {}, b: {started: false}}
`})
	sim := p.simulate()
	p.render()
	ends := func(says string) {
		t.Helper()
		sim.ClearFaults()
		t.Log(p.deployed(0, "destroy --yes live/a", says))
		if _, left := stateOf(sim).guests[300]; left || strings.Contains(p.read(".state/live/proxmox-vm/tofu.tfstate"), `"this[\"a\"]"`) {
			t.Errorf("VM 300 is left: %v", left)
		}
	}
	p.deployed(0, "apply --yes", "live is as its spec says")
	sim.ResetLog()
	p.deployed(0, "destroy --yes live/a", "destroyed live/a")
	var all []string
	for _, r := range sim.Requests() {
		if r.Write {
			all = append(all, r.Method+" "+strings.TrimPrefix(r.Path, "/api2/json"))
		}
	}
	if len(all) < 2 || sim.Writes(300) != len(all) {
		t.Fatalf("not all requests are about VM 300: %v", all)
	}
	for _, request := range all {
		p.deployed(0, "apply --yes", "live is as its spec says")
		method, path, _ := strings.Cut(request, " ")
		check(t, sim.AddFault(&pvesim.Fault{Method: method, Path: path, Do: pvesim.DoError, Delay: time.Hour}))
		p.killedIn("destroy --yes live/a", func() bool { return sim.Faults()[0].Hits > 0 })
		ends("destroyed live/a")
	}
	p.deployed(0, "apply --yes", "live is as its spec says")
	p.killedIn("destroy --yes live/a", func() bool { _, left := stateOf(sim).guests[300]; return !left })
	ends("live/a")
	p.deployed(0, "apply --yes", "live is as its spec says")
}

// TestDestroyOfGroup destroys members of a group, and keeps them destroyed as it prints: the others stay as they are, also those
// that have a higher number.
func TestDestroyOfGroup(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: stackgen/v1\nkind: Stack\nname: live\nvmids: 300-399\nnaming: {pattern: \"n{n:02}-{key}\"}\n" +
		"defaults: {node: pve1, template: 9002, clone: linked, disks: [{interface: scsi0, size: 8, datastore: local-lvm}]}\nvms:\n  a: {}\n"
	const group = `groups:
  web:
    count: 4
    description: "the {n}: \"web\" # one"
    tags: [web]
    overrides:
      web3: {memory: 1024}
`
	p := newProject(t, map[string]string{"stackgen.yaml": fullGuard, "specs/live.yaml": head + group})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes", "live is as its spec says")
	was := stateOf(sim).guests
	keep := func(said, text string) (lines []string) {
		t.Helper()
		_, after, found := strings.Cut(said, text+"\n")
		if !found {
			t.Fatalf("it does not say %q:\n%s", text, said)
		}
		for line := range strings.Lines(after) {
			if line == "  stackgen render\n" {
				break
			}
			lines = append(lines, line)
		}
		return lines
	}
	unchanged := func(vmids ...int) {
		t.Helper()
		sim.ResetLog()
		p.render()
		p.deployed(0, "apply --yes")
		noWrites(t, sim)
		p.deployed(0, "preflight")
		for _, vmid := range vmids {
			if is := stateOf(sim).guests[vmid]; !reflect.DeepEqual(is, was[vmid]) {
				t.Errorf("VM %d was %v, and is %v", vmid, was[vmid], is)
			}
		}
	}

	said := p.deployed(0, "destroy --yes live/web4", "destroyed live/web4")
	lines := keep(said, "to keep web4 destroyed, set `count` of groups.web in specs/live.yaml to 3 and retire it there:")
	three := strings.Replace(group, "count: 4", "count: 3", 1)
	p.write("specs/live.yaml", head+three+strings.TrimLeft(strings.Join(lines, ""), " "))
	unchanged(300, 301, 302, 303)

	said = p.deployed(0, "destroy --yes live/web2", "destroyed live/web2")
	lines = keep(said, "to keep web2 destroyed, set `count` of groups.web in specs/live.yaml to 1, write its members that stay under vms "+
		"instead, remove them from its `overrides`, and retire it there:")
	one, _, _ := strings.Cut(strings.Replace(group, "count: 4", "count: 1", 1), "    overrides")
	p.write("specs/live.yaml", head+lines[0]+one+"retired: [web4, "+strings.TrimPrefix(lines[1], "  retired: ["))
	t.Log(p.read("specs/live.yaml"))
	unchanged(300, 301, 303)
}
