//go:build unix

package real

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"stackgen/internal/pvesim"
)

// deployed runs stackgen as a process in the project, which must end with an exit code.
// It returns what was printed: results, then messages.
func (p *project) deployed(want int, command string, contains ...string) string {
	p.Helper()
	c := p.command(command)
	var out, errOut bytes.Buffer
	c.Stdout, c.Stderr = &out, &errOut
	err := c.Run()
	output := out.String() + errOut.String()
	if code := c.ProcessState.ExitCode(); code != want {
		p.Fatalf("stackgen %s: exit %d (%v), want %d\n%s", command, code, err, want, output)
	}
	p.contains(output, contains...)
	return output
}

// command is stackgen as a process in the project.
func (p *project) command(line string) *exec.Cmd {
	p.Helper()
	args := strings.Fields(line)
	c := exec.Command(stackgen, args...)
	c.Dir, c.Env = p.dir, attach(p.T, p.tools, "stackgen", args[0])
	return c
}

// noWrites fails if requests changed the cluster since the log was reset.
func noWrites(t *testing.T, sim *pvesim.Server) {
	t.Helper()
	if got := writes(sim); len(got) > 0 {
		t.Errorf("writes: %q, want none", got)
	}
}

// TestApply creates VMs with their records from nothing: those whose address is known
// and those that wait for it. A second apply does nothing.
func TestApply(t *testing.T) {
	t.Parallel()
	p := newDNSCluster(t, "DNS\n"+dnsLivePair)
	p.deployed(0, "apply --dry-run", "apply live: create 1 pool, 2 VMs, 5 records", "after its VM has an address")
	noWrites(t, p.sim)
	for _, path := range []string{"stacks/live/.terragrunt-stack", ".state"} {
		if p.exists(path) {
			t.Errorf("a dry run leaves %s", path)
		}
	}
	p.deployed(1, "apply", "standard input is no terminal", "nothing was written")
	decided, tools := p.read("stackgen.lock.yaml"), p.tools
	p.tools = tools.With("TG_FILTER=./.terragrunt-stack/proxmox-pool", "TF_WORKSPACE=other")
	p.deployed(1, "apply --dry-run", "unset TF_WORKSPACE TG_FILTER")
	for _, env := range []string{"TF_CLI_ARGS=-destroy", "TF_CLI_ARGS_apply=-replace=this", "TF_VAR_vms={}"} {
		name, _, _ := strings.Cut(env, "=")
		p.tools = tools.With(env)
		p.deployed(1, "apply --yes", name, "`unset "+name+"`, then run the same command again; nothing was read or changed")
	}
	p.tools = tools.With("TF_CLI_ARGS_apply=-lock-timeout=soon")
	p.deployed(1, "apply --yes", "unit live/proxmox-pool", `invalid value "soon" for flag -lock-timeout`)
	p.tools = tools
	noWrites(t, p.sim)
	p.deployed(0, "apply --yes", "live is as its spec says", "2 of 2 VMs done")
	web := p.address("web")
	p.has("www", web)
	p.has("db", "10.0.0.8")
	p.step(0, "preflight --verbose", "managed live/web.lab.test.", "safe to apply (8 managed)")
	if !strings.Contains(p.read("stackgen.lock.yaml"), "fingerprint:") {
		t.Error("the apply records no fingerprint")
	}
	p.write("stackgen.lock.yaml", decided)
	p.deployed(0, "apply --dry-run", "nothing to do: live is as its spec says")
	if p.read("stackgen.lock.yaml") != decided {
		t.Error("a dry run records in the lock what it sees")
	}
	p.sim.ResetLog()
	p.deployed(0, "apply --yes", "nothing to do: live is as its spec says")
	p.write("stacks/live/.terragrunt-filters", "./.terragrunt-stack/proxmox-pool\n")
	p.deployed(1, "apply --dry-run", "was left out by Terragrunt")
	p.remove("stacks/live/.terragrunt-filters")
	noWrites(t, p.sim)

	// The guest reports another address: the record follows in the same command.
	p.setAddress(100, "10.0.0.77")
	p.deployed(0, "apply --yes", "correct")
	p.has("web", "10.0.0.77")
	p.deployed(0, "apply --yes", "nothing to do")
}

// TestApplyOneFails: one VM that fails stops neither the others nor their records, and
// the same command completes it when the reason is gone.
func TestApplyOneFails(t *testing.T) {
	t.Parallel()
	p := newDNSCluster(t, "DNS\n"+dnsLive+"vms:\n  a: {name: web}\n  b: {name: db, cloud_init: {ipv4: 10.0.0.8/24}}\n  c: {name: bad}\noutputs: {registration: registration/live.json}\n")
	check(t, p.sim.AddFault(&pvesim.Fault{Method: "PUT", Path: "/nodes/*/qemu/102/config", Do: pvesim.DoError, Status: 500, Message: "out of luck"}))
	out := p.deployed(1, "apply --yes", "VM c (VMID 102, node pve1) was created, but not completed", "2 of 3 VMs done, 1 failed",
		"warning: live: not in the files, because the apply has not completed it: c")
	if strings.Contains(out, "was not created") { // of a VM that exists
		t.Errorf("the apply says two things:\n%s", out)
	}
	if got := p.read("registration/live.csv"); !strings.Contains(got, "\na,web,") || !strings.Contains(got, "\nb,db,") || strings.Contains(got, "\nc,") {
		t.Errorf("the registration is\n%s", got)
	}
	p.address("web")
	p.has("db", "10.0.0.8")
	p.has("bad")
	p.sim.ClearFaults()
	p.sim.ResetLog()
	p.deployed(0, "apply --yes", "change live: VM c", "start live: VM c: made by a run that was interrupted", "live is as its spec says")
	p.address("bad")
	if got := p.read("registration/live.csv"); !strings.Contains(got, "\nc,bad,") {
		t.Errorf("the registration is\n%s", got)
	}
	if got := p.sim.Writes(100) + p.sim.Writes(101); got != 0 {
		t.Errorf("%d writes to the VMs that were complete", got)
	}
	if slices.ContainsFunc(writes(p.sim), func(w string) bool { return strings.HasPrefix(w, "DELETE") }) {
		t.Errorf("the second apply destroys: %q", writes(p.sim))
	}
}

// TestApplyPerStack: of records that are one unit, those whose VM reports an address are
// published; the others follow when it does.
func TestApplyPerStack(t *testing.T) {
	t.Parallel()
	p := newDNSCluster(t, "DNS, mode: per-stack\n"+dnsLive+"vms: {a: {name: web}, b: {name: db, started: false}}\n")
	p.deployed(0, "apply --yes", "live is as its spec says")
	p.address("web")
	p.has("db")
	p.sim.ResetLog()
	p.deployed(0, "apply --yes", "nothing to do")
	noWrites(t, p.sim)
	callAPI(t, p.sim, "POST", "/nodes/pve1/qemu/101/status/start", nil)
	time.Sleep(5 * time.Second) // its guest boots
	p.deployed(0, "apply --yes", "live is as its spec says")
	p.address("db")
}
