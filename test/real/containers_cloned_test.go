//go:build unix

package real

import (
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"stackgen/internal/pvesim"
)

// clonedContainers is a stack of two clones of a template container, beside a container from an archive, in a pool that
// the stack creates.
const clonedContainers = `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
pool: {id: live, create: true}
defaults:
  node: pve1
  containers: {template: {vmid: 9100}, features: {nesting: true}}
containers:
  a: {memory: 256, networks: [{bridge: vmbr0, ipv4: 10.0.0.53/24, gateway: 10.0.0.1}]}
  b: {description: second, tags: [lab]}
  c: {template: "local:vztmpl/alpine-3.20-default_20240908_amd64.tar.xz"}
`

// cloneContainer is the path of the request that clones the template.
const cloneContainer = "/nodes/pve1/lxc/9100/clone"

// addTemplateContainer gives the simulator the template, which has more than the clones may have.
func addTemplateContainer(t *testing.T, sim *pvesim.Server) {
	template := containerByHand(9100, "pve1", "base", "BC:24:11:91:00:01")
	for key, value := range map[string]string{
		"template": "1", "rootfs": "local-lvm:base-9100-disk-0,size=4G", "description": "of the template", "tags": "base", "nameserver": "192.0.2.1",
		"net1": "name=eth1,bridge=vmbr0,hwaddr=BC:24:11:91:00:02,type=veth",
	} {
		template.Config[key] = value
	}
	check(t, sim.Add(template))
	sim.Change(func(s *pvesim.Seed) {
		s.Volumes = append(s.Volumes, &pvesim.Volume{ID: "local-lvm:base-9100-disk-0", Node: "pve1", VMID: 9100, Size: 4 << 30, Format: "raw", Content: "rootdir"})
	})
}

// isClone fails unless a container is the clone of its spec, and runs.
func (p *project) isClone(sim *pvesim.Server, vmid int, want map[string]string) {
	p.Helper()
	is := stateOf(sim).guests[vmid]
	for key, value := range want {
		if is.config[key] != value {
			p.Errorf("container %d has %s %q, want %q", vmid, key, is.config[key], value)
		}
	}
	mac := strings.ToUpper(between(is.config["net0"], "hwaddr=", ","))
	if !is.running || is.config["net1"] != "" || is.config["lock"] != "" || mac == "" || !strings.Contains(p.read("stackgen.lock.yaml"), mac) {
		p.Errorf("container %d is %v", vmid, is)
	}
}

// between is what is between two parts of a text.
func between(text, from, to string) string {
	_, after, _ := strings.Cut(text, from)
	before, _, _ := strings.Cut(after, to)
	return before
}

// TestContainersCloned is the life of clones of a template container: OpenTofu never makes one, a stranger with the VMID
// stays as it is, and the state is lost.
func TestContainersCloned(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": clonedContainers})
	sim := p.simulate()
	p.render()
	p.deployed(3, "apply --yes", "blocked cannot-create live/a", "its template 9100 does not exist")
	addTemplateContainer(t, sim)
	template := stateOf(sim).guests[9100]

	// Terragrunt alone clones none.
	p.generate("live")
	refusal := p.fails(unitDir("live", "proxmox-container"), []string{"run", "--", "apply", "-auto-approve"},
		"blocked cannot-create live/a", "only `stackgen apply` clones template 9100")
	p.pastes(unitDir("live", "proxmox-container"), refusal, "stackgen apply specs/live.yaml", " --dry-run")

	// A stranger gets the VMID while the request is on its way.
	check(t, sim.AddFault(&pvesim.Fault{Method: http.MethodPost, Path: cloneContainer, Count: 1, Do: pvesim.DoLatency, Delay: 3 * time.Second}))
	var before guestState
	said, code := p.meanwhile(sim, func() {
		check(t, sim.Add(containerByHand(300, "pve1", "erp", "BC:24:11:AA:AA:01")))
		before = stateOf(sim).guests[300]
	})
	if code != 1 || !reflect.DeepEqual(stateOf(sim).guests[300], before) {
		t.Errorf("the apply that met a stranger ended with %d\n%s", code, said)
	}
	p.contains(said, "live/a could not be cloned: another guest has got its VMID in between")
	p.deployed(3, "apply --yes", "blocked conflict live/a", "container 300 (erp) on pve1")
	sim.Remove(300)

	p.deployed(0, "apply --yes", "cloning container 9100 to 300 for live/a", "starting 2 containers of live\n", "live is as its spec says")
	p.isClone(sim, 300, map[string]string{"hostname": "live-a", "memory": "256", "description": "", "tags": "", "nameserver": ""})
	p.isClone(sim, 301, map[string]string{"hostname": "live-b", "memory": "512", "description": "second\n", "tags": "lab"})
	sim.ResetLog()
	p.deployed(0, "apply --yes", "nothing to do")
	p.remove(".state/live/proxmox-container")
	p.deployed(0, "apply --yes")
	p.deployed(0, "apply --yes", "nothing to do")
	noWrites(t, sim)

	// While it is cloned, somebody changes another one by hand: the apply has confirmed only the description.
	p.deployed(0, "destroy --yes live/a")
	p.write("specs/live.yaml", strings.Replace(clonedContainers, "second", "third", 1))
	p.render()
	check(t, sim.AddFault(&pvesim.Fault{Method: http.MethodPost, Path: cloneContainer, Count: 1, Do: pvesim.DoLatency, Delay: 3 * time.Second}))
	said, code = p.meanwhile(sim, func() {
		sim.Change(func(s *pvesim.Seed) {
			i := slices.IndexFunc(s.Guests, func(g *pvesim.Guest) bool { return g.VMID == 301 })
			s.Guests[i].Config["tags"] = "mine"
		})
	})
	if is := stateOf(sim).guests[301].config; code != 3 || is["tags"] != "mine" || is["description"] != "second\n" {
		t.Errorf("the apply that met a change by hand ended with %d, and left %v\n%s", code, is, said)
	}
	p.contains(said, "more is to do now than was confirmed")
	p.deployed(0, "apply --yes", "live is as its spec says")
	p.isClone(sim, 300, map[string]string{"hostname": "live-a", "memory": "256"})
	p.isClone(sim, 301, map[string]string{"tags": "lab", "description": "third\n"})
	p.deployed(0, "destroy --yes")
	if is := stateOf(sim).guests; !reflect.DeepEqual(is[9100], template) || is[300].kind+is[301].kind+is[302].kind != "" {
		t.Errorf("after the destroy: %v", is)
	}
}

// TestContainersClonedKilled: everything is killed before each request of a clone. The next apply goes on with it: no
// container is cloned twice, and none stays without the MAC addresses of the lock.
func TestContainersClonedKilled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		method, path string
		after        int
	}{
		"before the clone":              {http.MethodPost, cloneContainer, 0},
		"while its task is followed":    {http.MethodGet, "/nodes/pve1/tasks/*/status", 0},
		"before its MAC addresses":      {http.MethodPut, "/nodes/pve1/lxc/300/config", 0},
		"before the next clone":         {http.MethodPost, cloneContainer, 1},
		"before the next MAC addresses": {http.MethodPut, "/nodes/pve1/lxc/301/config", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, map[string]string{"specs/live.yaml": clonedContainers})
			sim := p.simulate()
			addTemplateContainer(t, sim)
			p.render()
			check(t, sim.AddFault(&pvesim.Fault{Method: c.method, Path: c.path, After: c.after, Do: pvesim.DoError, Delay: time.Hour}))
			p.killedOnce(func() bool { return sim.Faults()[0].Hits > 0 })
			sim.ClearFaults()
			p.deployed(0, "apply --yes", "live is as its spec says")
			for vmid, tags := range map[int]string{300: "", 301: "lab"} {
				p.isClone(sim, vmid, map[string]string{"tags": tags})
			}
			clones := 0
			for _, r := range sim.Requests() {
				if r.Write && strings.HasSuffix(r.Path, "/clone") && r.Status < 300 {
					clones++
				}
			}
			if clones != 2 {
				t.Errorf("there were %d clones", clones)
			}
			p.deployed(0, "apply --yes", "nothing to do")
		})
	}
}

// TestContainersClonedLeft: the last request of a clone fails. What is left is told from a stranger by every command, until
// an apply completes it; without the lock of the project, and by a destroy, nothing is done to it.
func TestContainersClonedLeft(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": strings.Replace(clonedContainers, "pool: {id: live, create: true}\n", "", 1)})
	sim := p.simulate()
	addTemplateContainer(t, sim)
	p.render()
	check(t, sim.AddFault(&pvesim.Fault{Method: http.MethodPut, Path: "/nodes/pve1/lxc/300/config", Count: 1, Do: pvesim.DoError, Status: 500}))
	p.deployed(1, "apply --yes", "live/a could not be cloned", "OpenTofu did not apply the rest of live", "stackgen preflight specs/live.yaml")
	sim.ClearFaults()
	left := stateOf(sim).guests
	sim.ResetLog()
	p.deployed(3, "preflight live", "blocked busy live/a", "stackgen apply specs/live.yaml", "pvesh delete /nodes/pve1/lxc/300")
	lock := p.read("stackgen.lock.yaml")
	p.remove("stackgen.lock.yaml")
	p.deployed(3, "apply --yes", "git stash push -- stackgen.lock.yaml")
	p.write("stackgen.lock.yaml", lock)
	p.deployed(0, "destroy --yes", "container 300 on pve1, was never completed")
	if is := stateOf(sim).guests; is[300].config["net0"] != left[300].config["net0"] || is[301].kind+is[302].kind != "" {
		t.Errorf("before the apply that completes it: %v", is)
	}
	p.deployed(0, "apply --yes", "live/a was cloned by an apply that was interrupted; it gets its MAC addresses now", "live is as its spec says")
	p.isClone(sim, 300, map[string]string{"hostname": "live-a", "description": "", "tags": ""})

	// A worker that is killed leaves the lock of the template.
	p.deployed(0, "destroy --yes live/a")
	sim.Change(func(s *pvesim.Seed) {
		for _, g := range s.Guests {
			if g.VMID == 9100 {
				g.Config["lock"] = "disk"
			}
		}
	})
	p.deployed(3, "apply --yes", "blocked busy live/a", "template 9100", "pct unlock 9100")
}
