//go:build unix

package real

import (
	"strings"

	"stackgen/internal/pvesim"
)

// containerArchive is what the simulated cluster has to make containers from.
const containerArchive = "local:vztmpl/alpine-3.20-default_20240908_amd64.tar.xz"

// containerSpec is the stack of the faults of containers: n (300) and p (301), both running.
const containerSpec = `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
defaults:
  node: pve1
  containers:
    template: ` + containerArchive + `
containers:
  n: {networks: [{bridge: vmbr0, ipv4: 10.0.0.53/24}]}
  p: {memory: 1024}
`

// appliedContainers is the world of the faults of containers.
func appliedContainers(w *faultCase) {
	w.settings("")
	w.spec(containerSpec, true)
	w.must(w.apply())
	w.must(w.stackgen("preflight"))
}

// containerFaults are those of containers. The provider takes a container that has the VMID for the
// one that it creates, and does not find one that was moved.
func containerFaults() []fault {
	world := &faultWorld{build: appliedContainers, containers: true}
	edit := func(from, to string) func(*faultCase) {
		return func(w *faultCase) { w.spec(strings.Replace(containerSpec, from, to, 1), true) }
	}
	occupy := func(change func(*pvesim.Guest)) func(*faultCase) {
		return func(w *faultCase) {
			w.spec(containerSpec+"  q: {}\n", true)
			g := guestByHand(302, "pve1", "erp")
			change(g)
			g.Running = false
			w.add(g)
		}
	}
	stranger := func(w *faultCase) {
		w.sim.Remove(300)
		g := guestByHand(300, "pve1", "erp")
		asContainer(g)
		g.Running = false
		w.add(g)
	}
	archiveElsewhere := func(w *faultCase) {
		w.spec(containerSpec+"  q: {}\n", true)
		w.sim.Change(func(seed *pvesim.Seed) {
			for _, v := range seed.Volumes {
				if v.ID == containerArchive {
					v.Node = "pve2"
				}
			}
		})
	}
	return []fault{
		fault{name: "state of containers lost", world: world, event: func(w *faultCase) { w.remove(".state/live/proxmox-container") }}.fixedByImport("adopt n p", noState, "2 imported, 0 added"),
		fault{name: "container deleted by hand", world: world, event: deleteVM, harm: "creates 300"}.refusedInBoth("gone n", "a plan would create it again, empty"),
		fault{name: "container deleted, a stranger has its VMID", world: world, event: stranger, foreign: []int{300}, harm: "changes 300, which is not the stack's; destroys 300"}.refusedInBoth("conflict n", "its VMID belongs to another container"),
		fault{name: "VMID of a new container taken by a container", world: world, event: occupy(asContainer), foreign: []int{302}, harm: "changes 302, which is not the stack's"}.refusedInBoth("conflict q", "its VMID belongs to another container"),
		fault{name: "VMID of a new container taken by a VM", world: world, event: occupy(asVM), foreign: []int{302}, noHarmRun: "the provider waits 30 minutes"}.refusedInBoth("conflict q", "its VMID belongs to a VM"),
		fault{name: "archive of a new container on another node only", world: world, event: archiveElsewhere, words: map[string]string{"NAME": "pve2"}}.refusedInBoth("cannot-create q", "does not have the archive"),
		fault{name: "container migrated by hand", world: world, event: func(w *faultCase) {
			w.change(300, func(g *pvesim.Guest) { g.Node = "pve2" })
			w.sim.Change(func(s *pvesim.Seed) { // its volume comes along
				for _, v := range s.Volumes {
					if v.VMID == 300 {
						v.Node = "pve2"
					}
				}
			})
		}, noHarmRun: "the provider waits 30 minutes"}.refusedInBoth("moved n", "on another node than the state says"),
		fault{name: "memory of a running container changed in the spec", world: world, event: edit("1024", "2048"), harm: "restarts 301"}.refusedAlways("would-harm p", "an apply would restart it"),
		fault{name: "container stopped by hand", world: world, event: stopVM}.succeedsInBoth(nothingToDo),
		fault{name: "container started by hand, and its spec does not start it", world: world, event: edit("memory: 1024", "memory: 1024, started: false")}.succeedsInBoth(nothingToDo),
		fault{name: "quote in an entry of a container that is off", world: world, event: both(stopVM, func(w *faultCase) {
			w.change(300, func(g *pvesim.Guest) { g.Config["mp0"] = `local-lvm:vm-300-disk-1,mp=/a"b,size=1G` })
		})}.refusedInBoth("unknown n", "the provider cannot read it"),
		fault{name: "state of an adopted container lost", world: world, event: adoptedContainer(func(w *faultCase) { w.remove(".state/live/proxmox-container") })}.fixedByImport("adopt n p", noState, "2 imported, 0 added"),
		fault{name: "adopted container deleted by hand", world: world, event: adoptedContainer(deleteVM)}.refusedInBoth("gone n", "not in the cluster any more"),
		fault{name: "adopted container deleted, a stranger has its VMID", world: world, event: adoptedContainer(stranger), foreign: []int{300}, harm: "destroys 300", acts: map[string]func(*faultCase){
			"with a template instead of `adopt`": func(w *faultCase) { w.editSpec("adopt: {vmid: 300}, profile: default, ", "") },
		}}.refusedInBoth("conflict n", "its VMID belongs to another container"),
		fault{name: "adopted container restored from a backup under another VMID", world: world, event: adoptedContainer(restoreContainer), acts: map[string]func(*faultCase){
			"remove `profile` from its entry": func(w *faultCase) { w.editSpec("profile: default, ", "") },
		}}.refusedInBoth("gone n", "under another VMID"),
		fault{name: "adopted container stopped by hand", world: world, event: adoptedContainer(stopVM)}.succeedsInBoth(nothingToDo),
		fault{name: "backup of an adopted container", world: world, event: adoptedContainer(func(w *faultCase) { w.backup("pve1", 300) })}.succeedsInBoth(nothingToDo),
		fault{name: "memory of an adopted container changed in the spec", world: world, event: adoptedContainer(func(w *faultCase) {
			w.editSpec("profile: default", "profile: default, memory: 2048")
		}), harm: "restarts 300"}.refusedAlways("would-harm n", "an apply would restart it"),
		fault{name: "storage of a container changed in the spec", world: world, event: edit("memory: 1024", "memory: 1024, rootfs: {datastore: shared}"), harm: "destroys 301"}.refusedAlways("would-destroy p", "the plan replaces it"),
	}
}

// restoreContainer restores container n from a backup under another VMID, and deletes it.
func restoreContainer(w *faultCase) {
	config := w.guests()[300].config
	w.sim.Remove(300)
	config["rootfs"] = "local-lvm:vm-710-disk-0,size=4G"
	w.add(&pvesim.Guest{VMID: 710, Type: "lxc", Node: "pve1", Config: config, Running: true})
}

// adoptedContainer adopts container n in the spec, and then injects an event.
func adoptedContainer(event func(*faultCase)) func(*faultCase) {
	return func(w *faultCase) {
		_, mac, _ := strings.Cut(w.guests()[300].config["net0"], "hwaddr=")
		mac, _, _ = strings.Cut(mac, ",")
		w.spec(strings.Replace(containerSpec, "n: {networks: [{bridge: vmbr0,", "n: {adopt: {vmid: 300}, profile: default, networks: [{bridge: vmbr0, mac: \""+mac+"\",", 1), true)
		event(w)
	}
}

// refusedAlways is refusedByPlanOf for containers, whose plan is judged with `guard: fast`, too.
func (f fault) refusedAlways(verdicts, contains string) fault {
	f = f.refusedByPlanOf(verdicts, contains)
	f.byPlan = false
	return f
}
