//go:build unix

package real

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"stackgen/internal/pvesim"
)

// A seedChange changes the cluster before it starts.
type seedChange func(*pvesim.Seed)

// loseState removes the state of the stack.
func loseState(w *faultCase) { w.remove(".state") }

// loseUnitState removes the state of one unit.
func loseUnitState(w *faultCase) { w.remove(".state/live/proxmox-vm") }

// restoreOldState restores the state from before c was created.
func restoreOldState(w *faultCase) {
	w.remove(".state")
	check(w.T, os.Rename(filepath.Join(w.dir, faultBackup), filepath.Join(w.dir, ".state")))
}

// leaveWrongImport removes the state and leaves an old import file, of an older stackgen, that imports the
// unmanaged VM 123 as a.
func leaveWrongImport(w *faultCase) {
	loseState(w)
	w.must(w.stackgen("import-blocks"))
	const imports = "stacks/live/imports/proxmox-vm.tf"
	body, err := os.ReadFile(filepath.Join(w.dir, imports))
	check(w.T, err)
	other := strings.Replace(string(body), "pve1/300", "pve3/123", 1)
	if other == string(body) {
		w.Fatalf("the import file does not import VM 300:\n%s", body)
	}
	w.write(imports, importDigest.ReplaceAllString(other, "")) // an older stackgen wrote no digest
}

var importDigest = regexp.MustCompile(` Digest: [0-9a-f]{16}`)

// addVM adds a VM to the spec.
func addVM(w *faultCase) { w.spec(faultSpec+faultLast+"  d: {node: pve1}\n", true) }

// dropVM removes a VM from the spec without retired or forgotten.
func dropVM(w *faultCase) { w.spec(faultSpec, false) }

// renameKey changes the key of a VM.
func renameKey(w *faultCase) { w.spec(faultSpec+strings.Replace(faultLast, "c:", "z:", 1), false) }

// renameKeyDeclared changes the key of a VM and adds renamed.
func renameKeyDeclared(w *faultCase) {
	w.spec(faultSpec+strings.Replace(faultLast, "c:", "z:", 1)+"renamed: {c: z}\n", true)
}

// migrate moves a VM to another node.
func migrate(w *faultCase) { w.change(300, func(g *pvesim.Guest) { g.Node = "pve3" }) }

// deleteVM deletes a VM.
func deleteVM(w *faultCase) { w.sim.Remove(300) }

// recreateVM deletes a VM and creates another one with its name and VMID.
func recreateVM(w *faultCase) {
	w.sim.Remove(300)
	w.add(guestByHand(300, "pve1", "live-a"))
}

// replaceVM deletes a VM and creates an unmanaged one with its VMID.
func replaceVM(w *faultCase) {
	w.sim.Remove(300)
	w.add(guestByHand(300, "pve2", "erp"))
}

// occupyVMID creates an unmanaged guest with the VMID of the next VM.
func occupyVMID(change func(*pvesim.Guest)) func(*faultCase) {
	return func(w *faultCase) {
		addVM(w)
		g := guestByHand(303, "pve2", "erp")
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

// duplicateName removes the state while another VM has the name of one of the stack.
func duplicateName(w *faultCase) {
	loseState(w)
	w.add(guestByHand(700, "pve2", "live-a"))
}

// fiveSameNames adds a VM whose name five others have.
func fiveSameNames(w *faultCase) {
	addVM(w)
	for i := range 5 {
		w.add(guestByHand(700+i, []string{"pve1", "pve2", "pve3"}[i%3], "live-d"))
	}
}

// hideGuests uses a token without VM.Audit on some paths. It can still create, change
// and destroy guests.
func hideGuests(paths ...string) func(*faultCase) {
	return func(w *faultCase) {
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

// roleWithoutAudit adds a role with all privileges on guests except VM.Audit.
func roleWithoutAudit(s *pvesim.Seed) {
	s.Roles = append(s.Roles, &pvesim.Role{ID: "Blind", Privileges: []string{"VM.Allocate", "VM.Clone", "VM.PowerMgmt", "VM.Config.Disk", "VM.Config.CPU",
		"VM.Config.Memory", "VM.Config.Network", "VM.Config.Options", "VM.Config.HWType", "VM.Config.Cloudinit", "VM.Monitor", "Pool.Allocate", "Pool.Audit",
		"Datastore.Audit", "Datastore.AllocateSpace", "Sys.Audit", "SDN.Use"}})
}

// disconnectNodes disconnects nodes, and waits until the others report them as offline.
func disconnectNodes(nodes ...string) func(*faultCase) {
	return func(w *faultCase) {
		for _, n := range nodes {
			check(w.T, w.sim.SetNode(n, pvesim.NodeLost))
		}
		w.waitUntil("the nodes are seen offline", func() bool {
			return strings.Count(w.get("/cluster/resources?type=node"), `"status":"offline"`) == len(nodes)
		})
	}
}

// staleLists makes lists report old data.
func staleLists(s *pvesim.Seed) {
	s.Reports = append(s.Reports, &pvesim.Report{VMID: 300, Name: "debian-12", Status: "stopped"})
	for _, g := range s.Guests {
		g.Silent = g.VMID == 301
	}
}

// withStaleLists makes lists stale for a while, and then alternate between an old and a
// current server.
func withStaleLists(event func(*faultCase)) func(*faultCase) {
	return func(w *faultCase) {
		event(w)
		for _, f := range []pvesim.Fault{
			{Path: "/cluster/resources", Count: 1, Do: pvesim.DoStale, Delay: 30 * time.Second},
			{Path: "/cluster/resources", Do: pvesim.DoAlternate},
		} {
			check(w.T, w.sim.AddFault(&f))
		}
	}
}

// failClone makes the clone of an apply fail, and so the apply.
func failClone(do string) func(*faultCase) {
	return func(w *faultCase) {
		addVM(w)
		w.before = stateOf(w.sim)
		check(w.T, w.sim.AddFault(&pvesim.Fault{Method: "POST", Path: "/nodes/*/qemu/*/clone", Count: 1, Do: do}))
		if r := w.apply(); r.code == 0 {
			w.Fatalf("the apply succeeds\n%s", r.output)
		}
		w.waitForClones(303)
	}
}

// failConfiguration makes an apply fail between the clone and its configuration: the
// state marks the VM as tainted, and the next plan replaces it.
func failConfiguration(w *faultCase) {
	addVM(w)
	w.before = stateOf(w.sim)
	check(w.T, w.sim.AddFault(&pvesim.Fault{Method: "PUT", Path: "/nodes/*/qemu/303/config", Do: pvesim.DoError, Status: 500, Message: "out of luck"}))
	if r := w.apply(); r.code == 0 {
		w.Fatalf("the apply succeeds\n%s", r.output)
	}
	w.sim.ClearFaults()
	w.waitForClones(303)
}

// killApply kills an apply of three VMs while all of them are cloned, and before one is configured.
func killApply(w *faultCase) {
	check(w.T, w.sim.AddFault(&pvesim.Fault{Method: "PUT", Path: "/nodes/*/qemu/*/config", Do: pvesim.DoError, Delay: time.Hour}))
	startAndKillApply(w)
	w.sim.ClearFaults()
	w.waitForClones(303, 304, 305)
}

// killApplyWhileCloning does the same with clones that do not finish.
func killApplyWhileCloning(w *faultCase) {
	w.slow.Store(true)
	startAndKillApply(w)
	w.waitUntil("the clones have begun", func() bool { return len(w.guests()) == len(w.before.guests)+3 })
}

func startAndKillApply(w *faultCase) {
	w.spec(faultSpec+faultLast+"  d: {node: pve1}\n  e: {node: pve2}\n  f: {node: pve3}\n", true)
	w.before = stateOf(w.sim)
	w.run("stacks/live", func() bool { return w.clonesOf(9000) >= 3 }, "terragrunt", "stack", "run", "apply", "--non-interactive")
}

// waitForClones waits until guests exist and no task is running.
func (w *faultCase) waitForClones(vmids ...int) {
	w.Helper()
	w.waitUntil("the clones have finished", func() bool {
		there := w.guests()
		return !slices.ContainsFunc(vmids, func(id int) bool { _, ok := there[id]; return !ok }) && w.noRunningTask()
	})
}

// noRunningTask reports whether no task is running.
func (w *faultCase) noRunningTask() bool {
	tasks := w.get("/cluster/tasks")
	return strings.Count(tasks, `"upid":`) == strings.Count(tasks, `"endtime":`)
}

// removeTemplate adds a VM and removes its template.
func removeTemplate(w *faultCase) {
	addVM(w)
	w.sim.Remove(9000)
}

// silenceAgent stops the agent in a guest.
func silenceAgent(w *faultCase) {
	w.change(300, func(g *pvesim.Guest) { g.Agent.Mode, g.Started = "silent", g.Started.Add(-time.Hour) }) // it has booted
}

// leaveNICGap removes the state and adds net2 to a VM without net1.
func leaveNICGap(w *faultCase) {
	loseState(w)
	w.change(301, func(g *pvesim.Guest) { g.Config["net2"] = "virtio=BC:24:11:77:01:2D,bridge=vmbr0" })
}

// deletePool deletes the pool, but not its VMs.
func deletePool(w *faultCase) { w.sim.Change(func(s *pvesim.Seed) { s.Pools = nil }) }

func (w *faultCase) add(guests ...*pvesim.Guest) {
	w.Helper()
	for _, g := range guests {
		check(w.T, w.sim.Add(g))
	}
}

// change edits a guest's configuration, as a person at the console would.
func (w *faultCase) change(vmid int, edit func(*pvesim.Guest)) {
	w.sim.Change(func(s *pvesim.Seed) {
		for _, g := range s.Guests {
			if g.VMID == vmid {
				edit(g)
			}
		}
	})
}
