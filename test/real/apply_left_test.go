//go:build unix

package real

import (
	"strings"
	"testing"
	"time"

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

	p.movesState("prod")
	p.deployed(0, "apply --yes", "nothing to do")
}

// movesState moves the state of the stack into an environment, by the lines that render
// prints.
func (p *project) movesState(environment string) {
	p.Helper()
	p.write("specs/live.yaml", strings.Replace(p.read("specs/live.yaml"), "name: live\n", "name: live\nenvironment: "+environment+"\n", 1))
	_, refusal := p.stackgen("render", p.dir)
	_, way, found := strings.Cut(refusal, "  > or move the state, then confirm it\n")
	if !found {
		p.Fatalf("render does not say how to move the state:\n%s", refusal)
	}
	commands, _, _ := strings.Cut(way, "note:")
	p.succeeds("", "sh", "-ec", commands)
}

// TestTerragruntAfterUnitLeft does the same with Terragrunt alone: what stackgen prints is
// enough.
func TestTerragruntAfterUnitLeft(t *testing.T) {
	t.Parallel()
	const b = "  b: {name: db, cloud_init: {ipv4: 10.0.0.8/24}}\n"
	p := newDNSCluster(t, "DNS\n"+dnsLive+"vms:\n  a: {name: web, cloud_init: {ipv4: 10.0.0.7/24}}\n"+b)
	p.apply()
	p.write("specs/live.yaml", p.liveText("DNS\n"+dnsLive+"retired: [a]\nvms:\n"+b))
	p.render()
	p.apply()
	p.has("web")
	p.step(0, "resolve")
	p.write("specs/live.yaml", p.liveText("DNS\n"+dnsLive+"vms:\n"+b))
	p.render()
	p.emptyPlans(3)
	if p.exists("stacks/live/.terragrunt-stack/dns-a") {
		t.Error("the folder of the unit that left the stack is kept")
	}

	p.movesState("prod")
	p.emptyPlans(3)

	// On another machine, the lock and the files come by Git. The folders stay.
	unit := "stacks/live/.terragrunt-stack/proxmox-vm"
	unstored := unit + "/.terragrunt-cache/errored.tfstate"
	p.write("stacks/live/.terragrunt-stack/dns-a/terragrunt.hcl", p.read(unit+"/terragrunt.hcl"))
	p.step(0, "render")
	p.emptyPlans(3)

	// A state that was not stored is in no other place.
	p.write("specs/live.yaml", strings.Replace(p.read("specs/live.yaml"), "environment: prod\n", "", 1))
	p.step(3, "render", "blocked state-moved live")
	p.succeeds("", "sh", "-c", "mv .state/prod/live/* .state/live/") // where that of dns-a was left
	p.write(unstored, "{}")
	p.step(1, "render --state-moved live", unstored, "tofu state push")
	p.remove(unstored)
	p.step(0, "render")
	p.emptyPlans(3)
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
	stranger := guestByHand(300, "pve1", "live-a")
	stranger.Running = false
	check(t, sim.Add(stranger))
	sim.ResetLog()
	p.deployed(3, "apply --yes", "blocked conflict live/a", "stackgen adopt live/a=300")
	noWrites(t, sim)
}

// TestApplyTaken: somebody gets the VMID of a VM, and gives a guest its name, while an apply asks for the clone. That guest
// is not what the apply has begun.
func TestApplyTaken(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": oneSpec})
	sim := p.simulate()
	p.render()
	check(t, sim.AddFault(&pvesim.Fault{Method: "POST", Path: "/nodes/*/qemu/*/clone", Count: 1, Do: pvesim.DoLatency, Delay: 3 * time.Second}))
	said, code := p.meanwhile(sim, func() {
		stranger := guestByHand(300, "pve1", "live-a")
		stranger.Running = false
		check(t, sim.Add(stranger))
	})
	if code != 1 {
		t.Errorf("the apply that met a stranger ended with %d\n%s", code, said)
	}
	p.contains(said, "another VM or container has VMID 300 already")
	sim.ClearFaults()
	sim.ResetLog()
	p.deployed(3, "apply --yes", "blocked conflict live/a", "stackgen adopt live/a=300")
	noWrites(t, sim)
}

// TestRunNotMade is TestApplyNotMade for Terragrunt without stackgen apply: somebody answers no
// to OpenTofu, or a clone fails.
func TestRunNotMade(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": oneSpec})
	sim := p.simulate()
	p.render()
	p.generate("live")
	p.succeeds(unitDir("live", "proxmox-pool"), "terragrunt", "apply", "-auto-approve")
	unit, noLuck := unitDir("live", "proxmox-vm"), &pvesim.Fault{Method: "POST", Path: "/nodes/*/qemu/*/clone", Do: pvesim.DoError, Status: 500, Message: "out of luck"}
	isStranger := func() {
		t.Helper()
		g := guestByHand(300, "pve1", "live-a")
		g.Running = false
		check(t, sim.Add(g))
		sim.ResetLog()
		p.deployed(3, "apply --yes", "blocked conflict live/a", "stackgen adopt live/a=300")
		noWrites(t, sim)
		sim.Remove(300)
	}
	p.with("TG_NON_INTERACTIVE=", func() {
		p.contains(p.run(unit, "sh", "-c", "echo no | terragrunt apply").Text(), "OpenTofu asks you next", "Apply cancelled")
	})
	isStranger()

	check(t, sim.AddFault(noLuck))
	p.fails(unit, []string{"apply", "-auto-approve"}, "out of luck")
	sim.ClearFaults()
	isStranger()

	// Where the cluster does not answer afterwards, the output says so.
	check(t, sim.AddFault(noLuck))
	check(t, sim.AddFault(&pvesim.Fault{Method: "GET", Path: "/cluster/status", After: 1, Do: pvesim.DoError, Status: 503, Message: "not now"}))
	p.fails(unit, []string{"apply", "-auto-approve"}, "out of luck", "cannot see which VMs the failed run has made")
}

// TestRunTaken is TestApplyTaken for Terragrunt without stackgen apply. OpenTofu prints with colors, as for most people.
func TestRunTaken(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": strings.Replace(oneSpec, "vms: {a: {}}", "vms: {a: {}, b: {}}", 1)})
	sim := p.simulate()
	p.render()
	p.generate("live")
	p.succeeds(unitDir("live", "proxmox-pool"), "terragrunt", "apply", "-auto-approve")
	check(t, sim.AddFault(&pvesim.Fault{Method: "POST", Path: "/nodes/*/qemu/*/clone", Do: pvesim.DoLatency, Delay: 3 * time.Second}))
	go func() {
		for sim.Faults()[0].Hits == 0 {
			time.Sleep(20 * time.Millisecond)
		}
		stranger := guestByHand(300, "pve1", "live-a")
		stranger.Running = false
		_ = sim.Add(stranger) // the run fails if it is not there
		sim.ClearFaults()
	}()
	p.with("TG_NO_COLOR=false", func() {
		p.fails(unitDir("live", "proxmox-vm"), []string{"apply", "-auto-approve"}, "already exists")
	})
	sim.ResetLog()
	p.step(3, "import-blocks", "blocked conflict live/a", "stackgen adopt live/a=300")
	p.deployed(3, "apply --yes", "blocked conflict live/a", "stackgen adopt live/a=300")
	noWrites(t, sim)
}

// TestRunRetried: Terragrunt runs a unit again, in the same run, after an error that it expects to pass. What the first attempt
// has created is not gone because nobody had read it before.
func TestRunRetried(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": strings.Replace(oneSpec, "vms: {a: {}}", "vms: {a: {}, b: {}}", 1)})
	sim := p.simulate()
	p.render()
	const passes = "Client.Timeout exceeded while awaiting headers"
	check(t, sim.AddFault(&pvesim.Fault{Method: "POST", Path: "/nodes/*/qemu/*/clone", After: 1, Count: 1, Do: pvesim.DoError, Status: 500, Message: passes}))
	p.with("TG_NO_AUTO_RETRY=false", func() {
		r := p.run("stacks/live", "terragrunt", "stack", "run", "apply", "--non-interactive")
		if p.contains(r.Text(), passes, "Encountered retryable error"); r.Code != 0 {
			t.Errorf("the second attempt ends with %d\n%s", r.Code, r.Text())
		}
	})
	p.step(0, "preflight", "3 managed")
}
