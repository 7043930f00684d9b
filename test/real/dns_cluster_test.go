package real

import (
	"strings"
	"testing"

	"stackgen/internal/dnstest"
	"stackgen/internal/pvesim"
)

// A dnsCluster is a project with both: a simulated cluster, which the real provider
// works on, and a DNS server.
type dnsCluster struct {
	*dnsProject
	sim *pvesim.Server
}

const dnsLive = `pool: {id: live, create: true}
defaults: {node: pve1, template: 9002, serial: socket, vga: {type: serial0}, disks: [{interface: scsi0, size: 8, datastore: local-lvm}]}
`

// dnsLivePair has an address from the agent, two names and a wildcard, and a static
// address with the zone's own name.
const dnsLivePair = dnsLive + `vms:
  a: {name: web, dns: {records: [web, www, "*.web"]}}
  b: {name: db, cloud_init: {ipv4: 10.0.0.8/24}, dns: {records: [db, "@"]}}
`

func dnsWorld(t *testing.T, rest string, records ...string) *dnsCluster {
	t.Helper()
	c := &dnsCluster{dnsProject: &dnsProject{realProject: realNew(t, nil)}}
	c.serve(dnstest.Any, records...)
	t.Logf("DNS server: %s; provider: %s", c.server, dnsProvider(t))
	c.write("specs/live.yaml", c.liveText(rest))
	c.sim = c.realCluster()
	c.render()
	return c
}

func (c *dnsCluster) liveText(rest string) string {
	return strings.NewReplacer("defaults: {node: pve1, template: 9000}\n", "", "guard: off\n", "").Replace(c.dnsText(rest)) // the guard is on
}

// TestRealDNSCluster takes records through preflight, import and apply, with the
// real VM provider.
func TestRealDNSCluster(t *testing.T) {
	p := dnsWorld(t, "DNS\n"+dnsLivePair, "web IN A 10.9.9.9", "db IN A 10.0.0.8")

	// What DNS has already: a stranger's address stops, the VM's own is adopted.
	p.step(3, "preflight", "STOP taken live/web.lab.test.", "DNS has 10.9.9.9", "adopt live/db.lab.test.", "create live/www.lab.test.", "create live/*.web.lab.test.",
		"nsupdate -k KEYFILE")
	if err := p.server.Remove("web"); err != nil {
		t.Fatal(err)
	}

	// A key that the server does not take is known before the first VM is made.
	t.Setenv("DNS_UPDATE_KEYSECRET", "AAAA")
	p.step(3, "preflight", "STOP unknown live/web.lab.test.", "rejects the key stackgen-test. (hmac-sha256)", "DNS_UPDATE_KEYSECRET")
	t.Setenv("DNS_UPDATE_KEYSECRET", "")
	p.step(2, "preflight", "DNS_UPDATE_KEYSECRET is not set")
	t.Setenv("DNS_UPDATE_KEYSECRET", p.server.Secret)
	p.step(2, "preflight", "create live/web.lab.test.", "import-blocks")
	p.step(3, "import-blocks --verify", "live/dns-b: 1 to import, 1 to add, 0 to change, 0 to destroy", `create dns_a_record_set.this["@"]`)
	p.step(0, "preflight", "Apply now.")
	p.apply()
	p.step(0, "import-blocks")
	p.step(0, "preflight", "managed live/web.lab.test.", "8 managed. Apply now.")
	p.quiet(4)
	web := p.address("web")
	p.has("www", web)
	p.has("any.web", web)
	p.has("db", "10.0.0.8")

	// The guest gets another address; an apply follows it, in place.
	p.guest(100, "10.0.0.77")
	said := p.apply()
	p.did(said, "Modifying", 3)
	p.has("web", "10.0.0.77")
	p.quiet(4)

	p.lost()
	p.switched()
	p.retired()
	p.leaks()
}

// address is what a name resolves to: one address, and no mock.
func (c *dnsCluster) address(name string) string {
	c.Helper()
	got, err := c.server.Lookup(name)
	if err != nil || len(got) != 1 || got[0] == "192.0.2.1" {
		c.Fatalf("%s is %v (%v)", name, got, err)
	}
	return got[0]
}

// guest gives a guest an address, as its agent reports it.
func (c *dnsCluster) guest(vmid int, address string) {
	c.Helper()
	c.sim.Change(func(seed *pvesim.Seed) {
		for _, g := range seed.Guests {
			if g.VMID == vmid {
				mac := strings.SplitN(strings.TrimPrefix(g.Config["net0"], "virtio="), ",", 2)[0]
				g.Agent.Interfaces = []pvesim.AgentInterface{{Name: "eth0", MAC: mac, Addresses: []string{address + "/24"}}}
			}
		}
	})
}

// lost loses all state. Everything is adopted, and nothing is written.
func (c *dnsCluster) lost() {
	c.Helper()
	c.remove(".state")
	c.step(2, "preflight", "adopt live/a", "adopt live/web.lab.test.", "adopt live/*.web.lab.test.", "adopt live/db.lab.test.")
	c.step(0, "import-blocks --verify", "live/proxmox-vm: 2 to import, 0 to add, 0 to change, 0 to destroy", "live/dns-a: 3 to import", "live/dns-b: 2 to import, 0 to add, 0 to change, 0 to destroy")
	c.sim.ResetLog()
	said := c.apply()
	c.did(said, "Creating", 0)
	c.did(said, "Modifying", 0)
	c.has("web", "10.0.0.77")
	c.step(0, "import-blocks")
	c.step(0, "preflight", "8 managed. Apply now.")
	c.quiet(4)
	if n := c.sim.Counters().Writes; n != 0 {
		c.Errorf("adopting what was there has cost %d writes", n)
	}
}

// switched changes dns.mode there and back, by the documented commands.
func (c *dnsCluster) switched() {
	c.Helper()
	watch := c.watch("web", "10.0.0.77", "any.web", "10.0.0.77", "db", "10.0.0.8")
	for _, mode := range []string{"per-stack", "per-vm"} {
		c.write("specs/live.yaml", c.liveText("DNS, mode: "+mode+"\n"+dnsLivePair))
		c.step(0, "render", "its records move")
		c.step(2, "preflight", "adopt live/web.lab.test.", "hands it over", "adopt live/db.lab.test.")
		c.bad("stacks/live", "terragrunt", []string{"stack", "run", "apply", "--non-interactive"}, "stackgen guard refuses", "hands it over", "stackgen import-blocks")
		c.step(3, "preflight --plan "+c.plans(), "the plan creates dns_a_record_set.this[\"db\"]", "import-blocks")
		c.step(0, "import-blocks --verify", map[string]string{"per-stack": "live/dns: 5 to import, 0 to add, 0 to change, 0 to destroy", "per-vm": "live/dns-a: 3 to import, 0 to add, 0 to change, 0 to destroy"}[mode])
		c.step(0, "preflight --plan "+c.plans(), "5 adopt")
		said := c.handOver()
		for _, what := range []string{"Creating", "Modifying", "Destroying"} {
			c.did(said, what, 0)
		}
		c.step(0, "import-blocks", "0 resources to import")
		c.step(0, "preflight", "8 managed. Apply now.")
		c.step(0, "render --records-moved live")
		c.good("stacks/live", "terragrunt", "stack", "clean")
		c.step(0, "preflight", "8 managed. Apply now.")
		c.quiet(map[string]int{"per-stack": 3, "per-vm": 4}[mode])
	}
	watch()
}

// plans plans the whole stack and returns where.
func (c *dnsCluster) plans() string {
	c.Helper()
	dir := c.TempDir()
	r := c.run("stacks/live", "terragrunt", "stack", "run", "plan", "--non-interactive", "--json-out-dir", dir, "--out-dir", dir)
	if r.Code != 0 {
		c.Fatalf("plan: exit %d\n%s", r.Code, r.Text())
	}
	return dir
}

// retired retires a VM: its records go first, then it goes, in one apply.
func (c *dnsCluster) retired() {
	c.Helper()
	c.write("specs/live.yaml", c.liveText("DNS\n"+dnsLive+"retired: [a]\nvms:\n  b: {name: db, cloud_init: {ipv4: 10.0.0.8/24}, dns: {records: [db, \"@\"]}}\n"))
	c.step(0, "render")
	c.step(0, "preflight", "retiring live/a", "retiring live/web.lab.test.")
	said := c.apply()
	c.did(said, "Destroying", 3)
	record, vm := strings.LastIndex(said, "dns_a_record_set.this[\"web\"]: Destruction complete"), strings.Index(said, "proxmox_virtual_environment_vm.this[\"a\"]: Destroying")
	if record < 0 || vm < 0 || record > vm {
		c.Errorf("the record is gone at %d, the VM goes at %d\n%s", record, vm, said)
	}
	c.has("web")
	c.has("any.web")
	c.has("db", "10.0.0.8")
}
