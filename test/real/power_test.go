//go:build unix

package real

import (
	"path/filepath"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// TestPower applies three VMs, shuts them down and starts them by stackgen: the plan stays
// empty, and a guest that took a VMID gets no request.
func TestPower(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": strings.Replace(oneSpec, "vms: {a: {}}", "groups: {db: {count: 2, key: \"db{n}\"}}\nvms: {a: {}}", 1)})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes", "live is as its spec says")
	p.deployed(0, "status", "3 VMs: 3 running")
	p.deployed(1, "power shutdown live/db", "shutdown of 2 VMs was not confirmed, and nothing was sent")
	p.deployed(0, "power shutdown live/db --yes", "2 VMs: 2 shut down")
	p.deployed(0, "power shutdown live/db --yes", "2 VMs: 2 already so")
	p.deployed(0, "status live", "3 VMs: 1 running, 2 stopped")
	p.deployed(0, "apply --yes", "live is as its spec says") // an output of addresses may change
	p.deployed(3, "power resume db1", "refused  live/db1  it is stopped")
	p.deployed(0, "power start", "3 VMs: 2 started, 1 already so")
	answer := func() bool { code, _ := p.stackgen("preflight", p.dir); return code == 0 }
	waitUntil(t, "the agents answer", answer)

	p.write("specs/live.yaml", strings.Replace(p.read("specs/live.yaml"), "{a: {}}", "{a: {memory: 3072}}", 1))
	p.render()
	p.deployed(0, "apply --yes", "live is as its spec says")
	p.deployed(0, "status a", "memory", "1 with changes that wait for a restart")
	p.deployed(0, "power suspend a --yes", "done  live/a  paused")
	p.deployed(3, "restart --pending --yes", "refused  live/a  it is paused", "stackgen power resume live/a")
	p.deployed(0, "power resume live/a", "done  live/a  resumed")
	p.deployed(0, "restart --pending --dry-run", "1 VM: 1 would be rebooted")
	p.deployed(0, "restart --pending --yes", "done  live/a  rebooted")
	p.deployed(0, "restart --pending --yes", "nothing to do")
	waitUntil(t, "the agent answers", answer)
	p.deployed(0, "apply --yes", "live is as its spec says") // an output of addresses may change

	sim.Remove(301)
	check(t, sim.Add(guestByHand(301, "pve1", "live-db1")))
	sim.ResetLog()
	p.deployed(3, "power stop --yes", "refused  live/db2  its VMID 301 belongs to another guest", "2 stopped, 1 refused")
	p.deployed(3, "restart --pending live/db2 --yes", "refused  live/db2  its VMID 301")
	if n := sim.Writes(301); n != 0 {
		t.Errorf("%d writes to the stranger", n)
	}
}

// TestPlanOfRunningVM: a VM that a person shuts down after it was planned stays off. The provider would start it, whatever
// it updates. A new plan leaves it off.
func TestPlanOfRunningVM(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": oneSpec})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes", "live is as its spec says")
	p.write("specs/live.yaml", strings.Replace(oneSpec, "a: {}", "a: {tags: [blue]}", 1))
	p.render()
	p.generate("live")
	unit, plan := unitDir("live", "proxmox-vm"), filepath.Join(t.TempDir(), "plan")
	p.succeeds(unit, "terragrunt", "run", "--", "plan", "-out="+plan)

	power := func(on bool) {
		sim.Change(func(s *pvesim.Seed) {
			for _, g := range s.Guests {
				g.Running = on && g.VMID == 300
			}
		})
	}
	power(false)
	p.fails(unit, []string{"apply", plan}, "blocked would-harm live/a", "it was shut down after the plan was made", "for a saved plan after another plan")
	power(true)
	p.succeeds(unit, "terragrunt", "apply", plan)
	p.write("specs/live.yaml", strings.Replace(oneSpec, "a: {}", "a: {tags: [green]}", 1))
	p.render()
	power(false)
	p.deployed(0, "apply --yes", "live is as its spec says")
	if g := stateOf(sim).guests[300]; g.running || g.config["tags"] != "green" {
		t.Errorf("it runs: %t, with tags %q", g.running, g.config["tags"])
	}
}
