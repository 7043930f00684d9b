//go:build unix

package real

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stackgen/internal/pvesim"
)

// A faultSeed is what was so in the cluster before anybody looked.
type faultSeed func(*pvesim.Seed)

// stateLost loses the state of the whole stack.
func stateLost(w *faultCell) { w.remove(".state") }

// vmStateLost loses the state of one unit.
func vmStateLost(w *faultCell) { w.remove(".state/live/proxmox-vm") }

// staleState brings back the state from before c was made.
func staleState(w *faultCell) {
	w.remove(".state")
	check(w.T, os.Rename(filepath.Join(w.dir, faultBackup), filepath.Join(w.dir, ".state")))
}

// staleImport leaves an import file from another day: it takes VM 123, which is
// somebody else's, for a.
func staleImport(w *faultCell) {
	stateLost(w)
	w.must(w.stackgen("import-blocks"))
	file := filepath.Join(w.dir, "stacks/live/imports/proxmox-vm.tf")
	body, err := os.ReadFile(file)
	check(w.T, err)
	other := strings.Replace(string(body), "pve1/300", "pve3/123", 1)
	if other == string(body) {
		w.Fatalf("the import file does not import VM 300:\n%s", body)
	}
	check(w.T, os.WriteFile(file, []byte(other), 0o666))
}

// grows asks for one more VM.
func grows(w *faultCell) { w.spec(faultSpec+faultLast+"  d: {node: pve1}\n", true) }

// shrinks drops a VM without a word about where it goes.
func shrinks(w *faultCell) { w.spec(faultSpec, false) }

// renames gives a VM another key.
func renames(w *faultCell) { w.spec(faultSpec+strings.Replace(faultLast, "c:", "z:", 1), false) }

// renamesIt says so, too.
func renamesIt(w *faultCell) {
	w.spec(faultSpec+strings.Replace(faultLast, "c:", "z:", 1)+"renamed: {c: z}\n", true)
}

// migrated moves a VM to another node.
func migrated(w *faultCell) { w.change(300, func(g *pvesim.Guest) { g.Node = "pve3" }) }

// deleted deletes a VM.
func deleted(w *faultCell) { w.sim.Remove(300) }

// recreated deletes a VM and makes one with its name and VMID.
func recreated(w *faultCell) {
	w.sim.Remove(300)
	w.add(guest(300, "pve1", "live-a"))
}

// replaced deletes a VM, and somebody else gets its VMID.
func replaced(w *faultCell) {
	w.sim.Remove(300)
	w.add(guest(300, "pve2", "erp"))
}

// taken lets a stranger have the VMID that the next VM is to get.
func taken(change func(*pvesim.Guest)) func(*faultCell) {
	return func(w *faultCell) {
		grows(w)
		g := guest(303, "pve2", "erp")
		change(g)
		w.add(g)
	}
}

func asVM(*pvesim.Guest) {}

func asTemplate(g *pvesim.Guest) { g.Running, g.Config["template"] = false, "1" }

func asContainer(g *pvesim.Guest) {
	g.Type = "lxc"
	g.Config = map[string]string{"hostname": "erp", "memory": "512", "ostype": "debian", "rootfs": "shared:303/vm-303-disk-0.raw,size=8G",
		"net0": "name=eth0,bridge=vmbr0,hwaddr=BC:24:11:77:01:2F,type=veth"}
}

// twins loses the state while another VM has the name of one of ours.
func twins(w *faultCell) {
	stateLost(w)
	w.add(guest(700, "pve2", "live-a"))
}

// five asks for a VM whose name five others have.
func five(w *faultCell) {
	grows(w)
	for i := range 5 {
		w.add(guest(700+i, []string{"pve1", "pve2", "pve3"}[i%3], "live-d"))
	}
}

// blind takes the right to see guests from the token, on every path or on one.
// It may still make, change and destroy them.
func blind(paths ...string) func(*faultCell) {
	return func(w *faultCell) {
		w.sim.Change(func(s *pvesim.Seed) {
			s.Users[0].Tokens = append(s.Users[0].Tokens, &pvesim.Token{ID: "narrow", Secret: faultSecret, Privsep: true})
			s.ACL = append(s.ACL, &pvesim.Grant{Path: "/", Type: "token", To: "root@pam!narrow", Role: "Administrator"})
			for _, path := range paths {
				s.ACL = append(s.ACL, &pvesim.Grant{Path: path, Type: "token", To: "root@pam!narrow", Role: "Blind"})
			}
		})
		w.tools = w.tools.With("PROXMOX_VE_API_TOKEN=root@pam!narrow=" + faultSecret)
	}
}

const faultSecret = "00000000-0000-0000-0000-000000000000"

// blindRole is a role that lets its owner do everything with guests but see them.
func blindRole(s *pvesim.Seed) {
	s.Roles = append(s.Roles, &pvesim.Role{ID: "Blind", Privileges: []string{"VM.Allocate", "VM.Clone", "VM.PowerMgmt", "VM.Config.Disk", "VM.Config.CPU",
		"VM.Config.Memory", "VM.Config.Network", "VM.Config.Options", "VM.Config.HWType", "VM.Config.Cloudinit", "VM.Monitor", "Pool.Allocate", "Pool.Audit",
		"Datastore.Audit", "Datastore.AllocateSpace", "Sys.Audit", "SDN.Use"}})
}

// lost cuts nodes off, and waits until the others have noticed.
func lost(nodes ...string) func(*faultCell) {
	return func(w *faultCell) {
		for _, n := range nodes {
			check(w.T, w.sim.SetNode(n, pvesim.NodeLost))
		}
		w.until("the nodes are seen offline", func() bool {
			return strings.Count(w.get("/cluster/resources?type=node"), `"status":"offline"`) == len(nodes)
		})
	}
}

// oldLists are lists that do not know the last changes yet.
func oldLists(s *pvesim.Seed) {
	s.Reports = append(s.Reports, &pvesim.Report{VMID: 300, Name: "debian-12", Status: "stopped"})
	for _, g := range s.Guests {
		g.Silent = g.VMID == 301
	}
}

// lagging lets lists stand still at first, and then come from an old and a
// current server by turns.
func lagging(then func(*faultCell)) func(*faultCell) {
	return func(w *faultCell) {
		then(w)
		for _, f := range []pvesim.Fault{
			{Path: "/cluster/resources", Count: 1, Do: pvesim.DoStale, Delay: 30 * time.Second},
			{Path: "/cluster/resources", Do: pvesim.DoAlternate},
		} {
			check(w.T, w.sim.AddFault(&f))
		}
	}
}

// cutOff lets the clone of an apply go wrong, and the apply with it.
func cutOff(do string) func(*faultCell) {
	return func(w *faultCell) {
		grows(w)
		w.before = w.guests()
		check(w.T, w.sim.AddFault(&pvesim.Fault{Method: "POST", Path: "/nodes/*/qemu/*/clone", Count: 1, Do: do}))
		if r := w.apply(); r.code == 0 {
			w.Fatalf("the apply succeeds\n%s", r.said)
		}
		w.still(303)
	}
}

// halfMade lets the apply fail when the clone is there and is to get its
// configuration: the state then marks it, and the next plan replaces it.
func halfMade(w *faultCell) {
	grows(w)
	w.before = w.guests()
	check(w.T, w.sim.AddFault(&pvesim.Fault{Method: "PUT", Path: "/nodes/*/qemu/303/config", Do: pvesim.DoError, Status: 500, Message: "out of luck"}))
	if r := w.apply(); r.code == 0 {
		w.Fatalf("the apply succeeds\n%s", r.said)
	}
	w.sim.ClearFaults()
	w.still(303)
}

// killed kills an apply of three VMs as soon as all of them are being cloned.
func killed(w *faultCell) {
	killedEarly(w)
	w.still(303, 304, 305)
}

// stillCloning does that to clones that go on for long.
func stillCloning(w *faultCell) {
	w.slow.Store(true)
	killedEarly(w)
	w.until("the clones have begun", func() bool { return len(w.guests()) == len(w.before)+3 })
}

func killedEarly(w *faultCell) {
	w.spec(faultSpec+faultLast+"  d: {node: pve1}\n  e: {node: pve2}\n  f: {node: pve3}\n", true)
	w.before = w.guests()
	w.run("stacks/live", func() bool { return w.clonesOf(9000) >= 3 }, "terragrunt", "stack", "run", "apply", "--non-interactive")
}

// still waits until guests are there and no task works on them.
func (w *faultCell) still(vmids ...int) {
	w.Helper()
	w.until("the clones have ended", func() bool {
		there := w.guests()
		return !slices.ContainsFunc(vmids, func(id int) bool { _, ok := there[id]; return !ok }) && w.ended()
	})
}

// ended reports whether no task is in flight.
func (w *faultCell) ended() bool {
	tasks := w.get("/cluster/tasks")
	return strings.Count(tasks, `"upid":`) == strings.Count(tasks, `"endtime":`)
}

// templateGone asks for one more VM while its template is gone.
func templateGone(w *faultCell) {
	grows(w)
	w.sim.Remove(9000)
}

// agentSilent stops the agent in a guest.
func agentSilent(w *faultCell) { w.change(300, func(g *pvesim.Guest) { g.Agent.Mode = "silent" }) }

// nicHole loses the state of a VM to which somebody added a NIC, leaving one out.
func nicHole(w *faultCell) {
	stateLost(w)
	w.change(301, func(g *pvesim.Guest) { g.Config["net2"] = "virtio=BC:24:11:77:01:2D,bridge=vmbr0" })
}

// poolGone deletes the pool, not its VMs.
func poolGone(w *faultCell) { w.sim.Change(func(s *pvesim.Seed) { s.Pools = nil }) }

func (w *faultCell) add(guests ...*pvesim.Guest) {
	w.Helper()
	for _, g := range guests {
		check(w.T, w.sim.Add(g))
	}
}

// change edits a guest's configuration, as a person at the console would.
func (w *faultCell) change(vmid int, edit func(*pvesim.Guest)) {
	w.sim.Change(func(s *pvesim.Seed) {
		for _, g := range s.Guests {
			if g.VMID == vmid {
				edit(g)
			}
		}
	})
}
