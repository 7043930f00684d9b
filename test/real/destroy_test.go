//go:build unix

package real

import (
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"stackgen/internal/pvesim"
)

// TestDestroyStack destroys a stack: the records first, then the VMs, then the pool. The
// lock keeps the decisions, so that an apply creates the same VMs again.
func TestDestroyStack(t *testing.T) {
	t.Parallel()
	p := newDNSCluster(t, "DNS\n"+dnsLivePair)
	decided := p.read("stackgen.lock.yaml")
	p.deployed(0, "apply --yes")
	web := p.address("web")
	p.sim.ResetLog()
	p.deployed(1, "destroy", "standard input is no terminal")
	noWrites(t, p.sim)
	p.has("web", web)

	// Rendered for another cluster, and corrected since: OpenTofu would destroy the VMs 100 and 101 of that one.
	spec := p.read("specs/live.yaml")
	p.write("specs/live.yaml", spec+"proxmox: {endpoint: \"https://127.0.0.1:1/\"}\n")
	p.render()
	p.write("specs/live.yaml", spec)
	p.deployed(3, "destroy --yes", "blocked unrendered  live  the last render has another state, cluster or DNS server", "stackgen render")
	p.render()

	p.deployed(0, "destroy --yes", "destroy live: destroy 1 pool, 2 VMs, 5 records", "VM 100 web on pve1", "VM 101 db on pve1", "live is destroyed")
	for _, name := range []string{"web", "www", "db"} {
		p.has(name)
	}
	for vmid := range stateOf(p.sim).guests {
		if vmid == 100 || vmid == 101 {
			t.Errorf("VM %d is still there", vmid)
		}
	}
	got := p.read("stackgen.lock.yaml")
	if strings.Contains(got, "fingerprint") || strings.Contains(got, "lineage") {
		t.Errorf("the lock has observations of what was destroyed:\n%s", got)
	}
	for line := range strings.Lines(decided) {
		if strings.Contains(line, "vmid:") && !strings.Contains(got, strings.TrimSpace(line)) {
			t.Errorf("the lock lacks the decision %s", line)
		}
	}
	p.sim.ResetLog()
	p.deployed(0, "destroy --yes", "nothing to destroy")
	noWrites(t, p.sim)
	p.deployed(0, "apply --yes", "live is as its spec says")
	p.address("web")
}

// TestDestroyGone destroys a stack of which somebody has deleted a VM, a record and the pool by hand, and then one of which
// nothing is left but its states. The states have nothing afterwards, so an apply creates all of it again.
func TestDestroyGone(t *testing.T) {
	t.Parallel()
	p := newDNSCluster(t, "DNS\n"+dnsLivePair)
	p.deployed(0, "apply --yes")
	p.sim.Remove(100)
	check(t, p.server.Remove("www"))
	p.deployed(0, "destroy --dry-run", "destroy live: forget 1 VM, 1 record; destroy 1 pool, 1 VM, 4 records", "VM 100 is gone already")
	p.deployed(0, "destroy --yes", "live is destroyed")
	p.has("web")
	p.has("db")
	p.deployed(0, "destroy --yes", "nothing to destroy")
	p.deployed(0, "apply --yes", "live is as its spec says")

	p.sim.Remove(100)
	p.sim.Remove(101)
	callAPI(t, p.sim, "DELETE", "/pools/live", nil)
	for _, name := range []string{"web", "www", "*.web", "db", "@"} {
		check(t, p.server.Remove(name))
	}
	p.sim.ResetLog()
	p.deployed(0, "destroy --yes", "destroy live: forget 1 pool, 2 VMs, 5 records", "live is destroyed")
	noWrites(t, p.sim)
	p.deployed(0, "destroy --yes", "nothing to destroy")
	p.deployed(0, "apply --yes", "live is as its spec says")
}

// TestDestroyProtected refuses to destroy a stack with a protected VM before anything of
// it is gone.
func TestDestroyProtected(t *testing.T) {
	t.Parallel()
	p := newDNSCluster(t, "DNS\n"+strings.Replace(dnsLivePair, "b: {name: db,", "b: {name: db, profile: protected,", 1))
	p.deployed(0, "apply --yes")
	web := p.address("web")
	p.sim.ResetLog()
	p.deployed(3, "destroy --yes", "blocked would-destroy live/b", "profile protected prevents its destroy")
	noWrites(t, p.sim)
	p.has("web", web)
	p.has("db", "10.0.0.8")
}

// TestDestroyOneStack destroys one of two classes. No request writes to a VM of the other
// one, and none writes to the template.
func TestDestroyOneStack(t *testing.T) {
	t.Parallel()
	const spec = `apiVersion: stackgen/v1
kind: Class
name: NAME
vmids: 300-399
template: 9002
clone: linked
placement: {nodes: [pve1]}
defaults: {started: false, disks: [{interface: scsi0, size: 8, datastore: local-lvm}]}
teacher: {}
students: {roster: [Ana Prva, Bo]}
outputs: {registration: registration/NAME.json}
`
	c := &classroom{project: newProject(t, map[string]string{
		"specs/art.yaml": strings.ReplaceAll(spec, "NAME", "art"), "specs/math.yaml": strings.ReplaceAll(spec, "NAME", "math")})}
	c.sim = c.simulate()
	c.render()
	c.deployed(0, "apply --yes", "apply art, math: create 6 VMs", "art is as its spec says", "math is as its spec says")
	c.placed("art", 300, 302, 3)
	c.placed("math", 303, 305, 3)
	c.sim.ResetLog()
	c.deployed(0, "destroy --yes specs/art.yaml", "destroy art: destroy 3 VMs", "removed registration/art.json", "art is destroyed")
	if c.exists("registration/art.csv") || !c.exists("registration/math.csv") {
		t.Error("not exactly the registration of art is gone")
	}
	c.placed("math", 300, 399, 3)
	if n := c.sim.Writes(9002); n != 0 {
		t.Errorf("%d writes to the template", n)
	}
	for _, v := range c.vms("math") {
		for _, r := range c.sim.Requests() {
			if r.Write && strings.Contains(r.Path+"/", "/"+strconv.Itoa(v.Value.VMID)+"/") {
				t.Errorf("%s %s", r.Method, r.Path)
			}
		}
	}
	if !strings.Contains(c.read("stackgen.lock.yaml"), "fingerprint") {
		t.Error("the observations of math are gone")
	}
}

// TestDestroyAfterKill kills an apply while the cluster clones a VM. No state has the VM then,
// so a destroy leaves it, and says how to destroy it, too.
func TestDestroyAfterKill(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
defaults: {node: pve1, template: 9002, started: false, disks: [{interface: scsi0, size: 8, datastore: local-lvm}]}
vms: {a: {}}
`})
	sim := p.simulate()
	sim.Change(func(s *pvesim.Seed) {
		for _, storage := range s.Storages {
			storage.Bandwidth = 300 << 20 // the clone takes about eight seconds
		}
	})
	p.render()
	p.killedOnce(func() bool { _, made := stateOf(sim).guests[300]; return made })
	if lock := stateOf(sim).guests[300].config["lock"]; lock != "clone" {
		t.Fatalf("the lock of the VM is %q: the clone has ended", lock)
	}
	const vm, next = "VM 300 on pve1, is in no state, so it is not destroyed", "complete them first: `stackgen apply specs/live.yaml`; then run this command again: `stackgen destroy --yes`"
	p.deployed(0, "destroy --yes", "a task that an interrupted run began is not complete: live/a", "waiting until it has ended", "nothing to destroy", vm, next)
	p.deployed(0, "apply --yes specs/live.yaml", "live is as its spec says")
	p.deployed(0, "destroy --yes", "destroy live: destroy 1 VM", "live is destroyed")
	if _, left := stateOf(sim).guests[300]; left {
		t.Error("VM 300 is still there")
	}
}

// killedOnce kills an apply, and everything that it has started, as soon as a function
// is true. It fails if that does not happen while the apply runs.
func (p *project) killedOnce(is func() bool) {
	p.Helper()
	p.killedIn("apply --yes", is)
}

// killedIn is killedOnce for any command.
func (p *project) killedIn(command string, is func() bool) {
	p.Helper()
	c := p.command(command)
	check(p.T, c.Start())
	was := is()
	for until := time.Now().Add(2 * time.Minute); !was && time.Now().Before(until); was = is() {
		time.Sleep(20 * time.Millisecond)
	}
	for _, pid := range append([]int{c.Process.Pid}, descendants(c.Process.Pid)...) {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	}
	killProvider(p.T)
	_ = c.Wait() // its status says how it ended
	if status, ok := c.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() {
		p.Fatalf("%s has ended before it was killed: %v", command, c.ProcessState)
	}
	if !was {
		p.Fatalf("%s was killed after 2 minutes, before what the test waits for", command)
	}
}

// killProvider kills the providers that commands of a test share, at once. The next command starts
// others.
func killProvider(t testing.TB) {
	t.Helper()
	attached.Range(func(key, value any) bool {
		if key.(providerKey).test != t.Name() {
			return true
		}
		p := value.(sharedProvider)
		address, err := p.start() // it has started
		check(t, err)
		pid, err := strconv.Atoi(providerPID.FindStringSubmatch(address)[1])
		check(t, err)
		check(t, syscall.Kill(pid, syscall.SIGKILL))
		attached.Store(key, newSharedProvider(t, p.environ))
		return true
	})
}

// providerPID is the number of the process in what reattachLine has.
var providerPID = regexp.MustCompile(`"Pid":(\d+)`)
