package test

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
// address.
const dnsLivePair = dnsLive + `vms:
  a: {name: web, dns: {records: [web, www, "*.web"]}}
  b: {name: db, cloud_init: {ipv4: 10.0.0.8/24}}
`

func dnsWorld(t *testing.T, rest string, records ...string) *dnsCluster {
	t.Helper()
	c := &dnsCluster{dnsProject: &dnsProject{realProject: realNew(t, nil)}}
	c.serve(dnstest.Any, records...)
	t.Logf("DNS server: %s; provider: %s", c.server, dnsProvider(t))
	c.write("specs/live.yaml", c.liveText(rest))
	c.render()
	c.sim = c.realCluster()
	return c
}

func (c *dnsCluster) liveText(rest string) string {
	text := c.dnsText(rest)
	return strings.Replace(text, "defaults: {node: pve1, template: 9000}\n", "", 1)
}

// step runs a command that must end with a code and say some things.
func (c *dnsCluster) step(want int, command string, says ...string) {
	c.Helper()
	code, said := c.stackgen(append(strings.Fields(command), c.dir)...)
	if code != want {
		c.Fatalf("%s: exit %d, want %d\n%s", command, code, want, said)
	}
	c.says(said, says...)
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
	p.step(2, "preflight", "create live/web.lab.test.", "import-blocks")
	p.step(0, "import-blocks --verify", "live/dns-b: 1 to import, 0 to add, 0 to change, 0 to destroy")
	p.step(0, "preflight", "Apply now.")
	p.apply()
	p.step(0, "import-blocks")
	p.step(0, "preflight", "2 VMs", "managed live/web.lab.test.")
	p.quiet(4)
	t.Log(p.server.Lookup("web"))
}
