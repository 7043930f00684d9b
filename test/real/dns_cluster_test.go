package real

import (
	"strings"
	"testing"

	"stackgen/internal/dnstest"
	"stackgen/internal/pvesim"
)

// A dnsCluster is a project with a simulated cluster for the real provider, and a DNS
// server.
type dnsCluster struct {
	*dnsProject
	sim *pvesim.Server
}

const dnsLive = `pool: {id: live, create: true}
defaults: {node: pve1, template: 9002, serial: socket, vga: {type: serial0}, disks: [{interface: scsi0, size: 8, datastore: local-lvm}]}
`

// dnsLivePair has a VM with an address from the agent, two names and a wildcard, and
// one with a static address and the zone's own name.
const dnsLivePair = dnsLive + `vms:
  a: {name: web, dns: {records: [web, www, "*.web"]}}
  b: {name: db, cloud_init: {ipv4: 10.0.0.8/24}, dns: {records: [db, "@"]}}
`

func newDNSCluster(t *testing.T, rest string, records ...string) *dnsCluster {
	t.Helper()
	c := &dnsCluster{dnsProject: &dnsProject{project: newProject(t, nil)}}
	c.serve(dnstest.Any, records...)
	t.Logf("DNS server: %s; provider: %s", c.server, dnsProvider(t))
	c.write("specs/live.yaml", c.liveText(rest))
	c.sim = c.simulate()
	c.render()
	return c
}

func (c *dnsCluster) liveText(rest string) string {
	return strings.NewReplacer("defaults: {node: pve1, template: 9000}\n", "", "guard: off\n", "").Replace(c.dnsText(rest)) // the guard is on
}

// TestDNSCluster runs preflight, imports and applies of records with the real VM
// provider.
func TestDNSCluster(t *testing.T) {
	t.Parallel()
	p := newDNSCluster(t, "DNS\n"+dnsLivePair, "web IN A 10.9.9.9", "db IN A 10.0.0.8")

	// Existing records: another address blocks, the VM's own address is adopted.
	p.step(3, "preflight", "blocked conflict live/web.lab.test.", "DNS has 10.9.9.9", "adopt live/db.lab.test.", "create live/www.lab.test.", "create live/*.web.lab.test.",
		"nsupdate -k KEYFILE")
	if err := p.server.Remove("web"); err != nil {
		t.Fatal(err)
	}

	// A key that the server rejects is reported before the first VM is created.
	p.tools = p.tools.With("DNS_UPDATE_KEYSECRET=AAAA")
	p.step(3, "preflight --verbose", "blocked unknown live/web.lab.test.", "rejects the key stackgen-test. (hmac-sha256)", "DNS_UPDATE_KEYSECRET")
	p.tools = p.tools.With("DNS_UPDATE_KEYSECRET=")
	p.step(3, "preflight --verbose", "blocked unknown live/web.lab.test.", "DNS_UPDATE_KEYSECRET is not set", "read -rs DNS_UPDATE_KEYSECRET && export DNS_UPDATE_KEYSECRET")
	p.tools = p.tools.With("DNS_UPDATE_KEYSECRET=" + p.server.Secret)
	p.step(2, "preflight --verbose", "create live/web.lab.test.", "import-blocks")
	p.step(3, "import-blocks --verify", "live/dns-b: 1 to import, 1 to add, 0 to change, 0 to destroy", `create dns_a_record_set.this["@"]`)
	p.step(0, "preflight", "safe to apply")
	p.apply()
	p.step(0, "import-blocks")
	p.step(0, "preflight --verbose", "managed live/web.lab.test.", "safe to apply (8 managed)")
	p.emptyPlans(4)
	web := p.address("web")
	p.has("www", web)
	p.has("any.web", web)
	p.has("db", "10.0.0.8")

	// The guest reports another address: an apply updates the record in place.
	p.setAddress(100, "10.0.0.77")
	output := p.apply()
	p.changed(output, "Modifying", 3)
	p.has("web", "10.0.0.77")
	p.emptyPlans(4)

	p.adoptAfterStateLoss()
	p.switchModes()
	p.retireVM()
	p.noSecretInFiles()
}

// address resolves a name to one address, which is not a mock.
func (c *dnsCluster) address(name string) string {
	c.Helper()
	got, err := c.server.Lookup(name)
	if err != nil || len(got) != 1 || got[0] == "192.0.2.1" {
		c.Fatalf("%s is %v (%v)", name, got, err)
	}
	return got[0]
}

// setAddress sets the address that a guest's agent reports.
func (c *dnsCluster) setAddress(vmid int, address string) {
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

// adoptAfterStateLoss removes all state and adopts everything, without a write.
func (c *dnsCluster) adoptAfterStateLoss() {
	c.Helper()
	c.remove(".state")
	c.step(2, "preflight --verbose", "adopt live/a", "adopt live/web.lab.test.", "adopt live/*.web.lab.test.", "adopt live/db.lab.test.")
	c.step(0, "import-blocks --verify", "live/proxmox-vm: 2 to import, 0 to add, 0 to change, 0 to destroy", "live/dns-a: 3 to import", "live/dns-b: 2 to import, 0 to add, 0 to change, 0 to destroy")
	c.sim.ResetLog()
	output := c.apply()
	c.changed(output, "Creating", 0)
	c.changed(output, "Modifying", 0)
	c.has("web", "10.0.0.77")
	if n := c.sim.Counters().Writes; n != 0 {
		c.Errorf("the adoption made %d writes", n)
	}
	c.step(0, "import-blocks")
	c.apply() // sets what only the provider knows
	c.step(0, "preflight", "safe to apply (8 managed)")
	c.emptyPlans(4)
}

// switchModes changes dns.mode to per-stack and back, with the documented commands.
func (c *dnsCluster) switchModes() {
	c.Helper()
	watch := c.watch("web", "10.0.0.77", "any.web", "10.0.0.77", "db", "10.0.0.8")
	for _, mode := range []string{"per-stack", "per-vm"} {
		c.write("specs/live.yaml", c.liveText("DNS, mode: "+mode+"\n"+dnsLivePair))
		c.step(0, "render", "its records move")
		c.step(2, "preflight --verbose", "adopt live/web.lab.test.", "hands it over", "adopt live/db.lab.test.")
		c.fails("stacks/live", []string{"stack", "run", "apply", "--non-interactive"}, "stackgen guard refuses", "hands it over", "stackgen import-blocks")
		c.step(3, "preflight --verbose --plan "+c.plans(), "the plan creates dns_a_record_set.this[\"db\"]", "import-blocks")
		c.step(0, "import-blocks --verify", map[string]string{"per-stack": "live/dns: 5 to import, 0 to add, 0 to change, 0 to destroy", "per-vm": "live/dns-a: 3 to import, 0 to add, 0 to change, 0 to destroy"}[mode])
		c.step(0, "preflight --plan "+c.plans(), "5 adopt")
		output := c.applyWithWarnings()
		for _, what := range []string{"Creating", "Modifying", "Destroying"} {
			c.changed(output, what, 0)
		}
		c.step(0, "import-blocks", "0 resources to import")
		c.step(0, "preflight", "safe to apply (8 managed)")
		c.step(0, "render --records-moved live")
		c.step(0, "preflight", "safe to apply (8 managed)")
		c.emptyPlans(map[string]int{"per-stack": 3, "per-vm": 4}[mode])
	}
	watch()
}

// plans plans the whole stack and returns the folder of the plans.
func (c *dnsCluster) plans() string {
	c.Helper()
	dir := c.TempDir()
	r := c.run("stacks/live", "terragrunt", "stack", "run", "plan", "--non-interactive", "--json-out-dir", dir, "--out-dir", dir)
	if r.Code != 0 {
		c.Fatalf("plan: exit %d\n%s", r.Code, r.Text())
	}
	return dir
}

// retireVM retires a VM: one apply destroys its records and then the VM.
func (c *dnsCluster) retireVM() {
	c.Helper()
	c.write("specs/live.yaml", c.liveText("DNS\n"+dnsLive+"retired: [a]\nvms:\n  b: {name: db, cloud_init: {ipv4: 10.0.0.8/24}, dns: {records: [db, \"@\"]}}\n"))
	c.step(0, "render")
	c.step(0, "preflight", "retiring live/a", "retiring live/web.lab.test.")
	output := c.apply()
	c.changed(output, "Destroying", 3)
	record, vm := strings.LastIndex(output, "dns_a_record_set.this[\"web\"]: Destruction complete"), strings.Index(output, "proxmox_virtual_environment_vm.this[\"a\"]: Destroying")
	if record < 0 || vm < 0 || record > vm {
		c.Errorf("the record is destroyed at %d, the VM at %d\n%s", record, vm, output)
	}
	c.has("web")
	c.has("any.web")
	c.has("db", "10.0.0.8")
}
