//go:build unix

package real

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"stackgen/internal/dnstest"
)

// TestStory applies specs/homelab.yaml and one adopted VM from nothing to an empty plan,
// loses the state, adopts everything without a write, and plans nothing again. Then a
// stranger takes the adopted VM's VMID: everything is refused, and nothing is written.
func TestStory(t *testing.T) {
	t.Parallel()
	p := &dnsCluster{dnsProject: &dnsProject{project: newProject(t, nil)}}
	p.serve(dnstest.Any)
	body, err := os.ReadFile(repository + "/specs/homelab.yaml")
	check(t, err)
	text := strings.NewReplacer("zone: home.sflab.io", "zone: lab.test", "server: 192.168.1.13", "server: "+p.server.Addr, "port: 53", "port: "+strconv.Itoa(p.server.Port),
		"key_name: ddnskey.", "key_name: "+p.server.KeyName, "algorithm: hmac-sha256", "algorithm: "+p.server.Algorithm).Replace(string(body))
	p.write("specs/homelab.yaml", text+"  registry: {node: pve3, adopt: {vmid: 123}, dns: false}\n")
	p.sim = p.simulate()
	p.render()
	apply := func(succeeds bool, contains ...string) {
		t.Helper()
		r := p.run("stacks/homelab", "terragrunt", "stack", "run", "apply", "--non-interactive")
		if (r.Code == 0) != succeeds {
			t.Fatalf("apply: exit %d\n%s", r.Code, r.Text())
		}
		p.contains(r.Text(), contains...)
	}
	nothingToDo := func() {
		t.Helper()
		p.step(0, "import-blocks")
		p.step(0, "preflight", "safe to apply")
		r := p.run("stacks/homelab", "terragrunt", "stack", "run", "plan", "--non-interactive", "--", "-detailed-exitcode")
		if r.Code != 0 {
			t.Fatalf("the plan is not empty: exit %d\n%s", r.Code, r.Text())
		}
	}

	// From nothing to an empty plan.
	p.step(2, "preflight", "create homelab/web01", "create homelab/db01", "adopt homelab/registry")
	p.step(0, "import-blocks")
	p.step(0, "preflight")
	apply(true)
	p.step(0, "resolve")
	nothingToDo()
	p.address("web-server-01")
	before := stateOf(p.sim)

	// The state is lost: what is adopted is what was there.
	p.remove(".state")
	p.sim.ResetLog()
	apply(false, "its import block is missing")
	p.step(2, "preflight", "8 adopt")
	p.step(0, "import-blocks", "stackgen resolve --new-state homelab")
	apply(true)
	if n := p.sim.Counters().Writes; n != 0 {
		t.Errorf("the adoption made %d writes", n)
	}
	p.step(0, "resolve --new-state homelab")
	p.step(0, "import-blocks")
	p.step(0, "preflight", "3 settling")
	apply(true)
	nothingToDo()
	for id, was := range before.guests {
		if is := stateOf(p.sim).guests[id]; is.identity() != was.identity() {
			t.Errorf("guest %d is another one: was %s, is %s", id, was.identity(), is.identity())
		}
	}

	// A stranger has the adopted VM's VMID, under its own name or that of the VM, also
	// where no state records a MAC address.
	for _, name := range []string{"erp", "registry"} {
		p.sim.Remove(123)
		check(t, p.sim.Add(guestByHand(123, "pve2", name)))
		p.refusesStranger(apply)
	}
	p.remove(".state/homelab/proxmox-vm")
	p.refusesStranger(apply)
}

// refusesStranger fails unless every command refuses the guest with VMID 123, without a
// write.
func (c *dnsCluster) refusesStranger(apply func(bool, ...string)) {
	c.Helper()
	c.sim.ResetLog()
	before := stateOf(c.sim).guests[123]
	c.step(3, "preflight", "blocked conflict homelab/registry")
	c.step(3, "import-blocks", "blocked conflict homelab/registry")
	apply(false, "blocked conflict homelab/registry")
	if n := c.sim.Counters().Writes; n != 0 {
		c.Errorf("the refused commands made %d writes", n)
	}
	if after := stateOf(c.sim).guests[123]; after.identity() != before.identity() || after.running != before.running {
		c.Errorf("the stranger was changed: %v, before %v", after, before)
	}
}
