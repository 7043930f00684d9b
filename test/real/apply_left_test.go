//go:build unix

package real

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// TestApplyAfterUnitLeft applies after a unit has left the stack file, because its VM was
// retired and destroyed, and after the state was moved. Terragrunt keeps the folders of
// before: it would run the unit again, and OpenTofu refuses another backend.
func TestApplyAfterUnitLeft(t *testing.T) {
	t.Parallel()
	const (
		b = "  b: {name: db, cloud_init: {ipv4: 10.0.0.8/24}}\n"
		c = "  c: {name: mail, cloud_init: {ipv4: 10.0.0.9/24}}\n"
	)
	p := newDNSCluster(t, "DNS\n"+dnsLive+"vms:\n  a: {name: web, cloud_init: {ipv4: 10.0.0.7/24}}\n"+b)
	apply := func(rest string, contains ...string) {
		t.Helper()
		p.write("specs/live.yaml", p.liveText(rest))
		p.render()
		p.deployed(0, "apply --yes", contains...)
	}
	p.deployed(0, "apply --yes")
	apply("DNS\n"+dnsLive+"retired: [a]\nvms:\n"+b, "live is as its spec says")
	p.has("web")
	apply("DNS\n"+dnsLive+"vms:\n"+b+c, "live is as its spec says")
	p.has("mail", "10.0.0.9")
	if p.exists("stacks/live/.terragrunt-stack/dns-a") {
		t.Error("the folder of the unit that left the stack is kept")
	}

	p.write("specs/live.yaml", strings.Replace(p.read("specs/live.yaml"), "name: live\n", "name: live\nenvironment: prod\n", 1))
	p.step(3, "render", "blocked state-moved live")
	check(t, os.MkdirAll(filepath.Join(p.dir, ".state/prod"), 0o755))
	check(t, os.Rename(filepath.Join(p.dir, ".state/live"), filepath.Join(p.dir, ".state/prod/live")))
	p.step(0, "render --state-moved live")
	p.deployed(0, "apply --yes", "nothing to do")
}

// TestApplyNotMade: a VM that an apply began to create, and did not make before it ended by
// itself, is not proof of a guest that somebody makes under its name and VMID later.
func TestApplyNotMade(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": oneSpec})
	sim := p.simulate()
	p.render()
	check(t, sim.AddFault(&pvesim.Fault{Method: "POST", Path: "/nodes/*/qemu/*/clone", Do: pvesim.DoError, Status: 500, Message: "out of luck"}))
	p.deployed(1, "apply --yes", "out of luck", "was not created")
	sim.ClearFaults()
	stranger := guest(300, "pve1", "live-a")
	stranger.Running = false
	check(t, sim.Add(stranger))
	sim.ResetLog()
	p.deployed(3, "apply --yes", "blocked conflict live/a", "stackgen adopt live/a=300")
	noWrites(t, sim)
}
