//go:build unix

package real

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stackgen/internal/pvesim"
)

// moreWayStates are states for findings that no row of the fault matrix shows.
func moreWayStates() []*wayState {
	var out []*wayState
	add := func(name string, event func(*faultCase), change ...func(*wayState)) {
		s := &wayState{name: name, event: event}
		for _, c := range change {
			c(s)
		}
		out = append(out, s)
	}
	// What a render refuses.
	add("VMID changed in the spec", func(w *faultCase) {
		w.must(w.stackgen("resolve")) // which sees the VM
		w.spec(withLine("vmid: 310"), false)
	}, render, func(s *wayState) { s.not = "if the VM with the new VMID exists" })
	add("VMID changed in the spec to that of another VM", func(w *faultCase) {
		w.must(w.stackgen("resolve"))
		w.spec(withLine("vmid: 310"), false)
		w.add(guestByHand(310, "pve2", "live-b"))
	}, render)
	add("other VMID adopted under a profile that creates", func(w *faultCase) {
		w.add(guestByHand(310, "pve2", "live-b"))
		w.spec(withLine("adopt: {vmid: 310}, profile: default"), false)
	}, render)
	add("lock lost", loseLock, render, func(s *wayState) { s.not = "if nothing of this stack was ever applied" })
	add("lock lost of a stack that was never applied", loseLock, render, func(s *wayState) { s.world = &faultWorld{build: renderedOnly} })
	add("mount points added to the spec of a container", func(w *faultCase) {
		w.spec(strings.Replace(containerSpec, "memory: 1024", "memory: 1024, mounts: [{path: /data, size: 2}, {path: /srv, size: 1, backup: false}]", 1), true)
	}, func(s *wayState) { s.world = &faultWorld{build: appliedContainers, containers: true} })
	add("pool of the stack replaced", func(w *faultCase) {
		w.sim.Change(func(s *pvesim.Seed) { s.Pools = append(s.Pools, &pvesim.Pool{ID: "other"}) })
		w.spec(strings.Replace(faultSpec, "id: live,", "id: other,", 1)+faultLast, false)
	}, render, pooled)
	add("pool removed from the spec", func(w *faultCase) {
		w.spec(strings.Replace(faultSpec, faultPool, "", 1)+faultLast, false)
	}, render, pooled)
	add("spec file removed", func(w *faultCase) { w.remove("specs/live.yaml") }, render, stackGone)
	add("environment added to a live stack", func(w *faultCase) { w.spec(faultSpec+faultLast+"environment: prod\n", false) }, render)
	// What was not rendered, or misleads a run.
	add("spec changed and not rendered", func(w *faultCase) { w.spec(withLine("memory: 3072"), false) })
	for _, env := range []string{"TF_CLI_ARGS_apply=-destroy", `TF_CLI_ARGS_apply=-replace=proxmox_virtual_environment_vm.this["b"]`, "TF_WORKSPACE=dev"} {
		add("environment has "+strings.SplitN(env, "[", 2)[0], func(w *faultCase) { w.tools = w.tools.With(env) }, refusedApply)
	}
	// States that do not fit.
	add("VMID changed in the spec and not seen by stackgen", func(w *faultCase) { w.spec(withLine("vmid: 310"), true) }, func(s *wayState) { s.not = "if the lock was lost" })
	add("template changed in the spec", func(w *faultCase) { w.spec(withLine("template: {vmid: 9002, node: pve1}"), true) })
	add("clone mode changed in the spec", func(w *faultCase) { w.spec(withLine("clone: linked"), true) })
	add("power state changed in the spec", func(w *faultCase) {
		w.must(w.stackgen("resolve")) // which sees the VM, as an apply does
		w.spec(withLine("started: false"), true)
	})
	add("placement changed in the spec", func(w *faultCase) {
		w.spec(strings.Replace(faultSpec, "b: {node: pve2}", "b: {placement: {nodes: [pve1, pve3]}}", 1)+faultLast, true)
	})
	add("forgotten VM in state", func(w *faultCase) { w.spec(withoutVM()+"forgotten: [b]\n", true) })
	add("state has another VMID", func(w *faultCase) {
		w.add(guestByHand(311, "pve2", "live-b"))
		w.editState(func(r map[string]any) []map[string]any { return []map[string]any{withVMID(r, "b", 311)} })
	}, func(s *wayState) {
		s.acts = map[string]func(*faultCase){"restore the right one": func(w *faultCase) { w.restoreState() }}
		s.foreign, s.not = []int{311}, "if the lock was lost"
	})
	add("state has a VM twice", func(w *faultCase) {
		w.editState(func(r map[string]any) []map[string]any { return []map[string]any{r, onlyKey(r, "adopted", "b", "b")} })
	})
	add("state has a VM at an unknown address", func(w *faultCase) {
		w.editState(func(r map[string]any) []map[string]any {
			return []map[string]any{withoutKey(r, "b"), onlyKey(r, "adopted", "b", "b")}
		})
	})
	add("state has a VM that neither spec nor lock has", func(w *faultCase) {
		w.add(guestByHand(311, "pve2", "live-ghost"))
		w.editState(func(r map[string]any) []map[string]any {
			return []map[string]any{r, withVMID(onlyKey(r, "adopted", "b", "ghost"), "ghost", 311)}
		})
	}, func(s *wayState) { s.foreign, s.not = []int{311}, "this checkout is old" })
	// Guests.
	add("VM without its NICs", func(w *faultCase) { w.change(301, func(g *pvesim.Guest) { delete(g.Config, "net0") }) })
	add("retired VM in no state", func(w *faultCase) {
		w.spec(withoutVM()+"retired: [b]\n", true)
		w.editState(func(r map[string]any) []map[string]any { return []map[string]any{withoutKey(r, "b")} })
	})
	add("retired VM destroyed", func(w *faultCase) {
		w.spec(withoutVM()+"retired: [b]\n", true)
		w.editState(func(r map[string]any) []map[string]any { return []map[string]any{withoutKey(r, "b")} })
		w.sim.Remove(301)
	}, func(s *wayState) {
		s.acts = map[string]func(*faultCase){"remove it from `retired`": func(w *faultCase) { w.spec(withoutVM(), false) }}
	})
	add("VM in the pool of the stack and in no spec", func(w *faultCase) {
		w.add(guestByHand(700, "pve2", "somebody"))
		w.sim.Change(func(s *pvesim.Seed) {
			for _, p := range s.Pools {
				p.Guests = append(p.Guests, 700)
			}
		})
	}, pooled)
	add("VM adopted that does not exist", func(w *faultCase) {
		w.spec(faultSpec+faultLast+"  x: {node: pve3, adopt: {vmid: 124}}\n", true)
	}, func(s *wayState) { s.words = map[string]string{"N": "123", "VMID": "9000"} })
	add("import file names a VM that was deleted", func(w *faultCase) {
		loseUnitState(w)
		w.must(w.stackgen("import-blocks"))
		w.sim.Remove(301)
	})
	add("change that waits for a restart", func(w *faultCase) {
		w.spec(withLine("memory: 3072"), true)
		w.must(w.apply())
	})
	add("node of a new VM does not exist", func(w *faultCase) { w.spec(faultSpec+faultLast+"  d: {node: pve9}\n", true) },
		func(s *wayState) { s.words = map[string]string{"NAME": "pve1"} })
	add("pool of a new VM does not exist", func(w *faultCase) { w.spec(faultSpec+faultLast+"  d: {node: pve1, pool: team}\n", true) })
	add("VM moved by hand, and its profile manages the node", func(w *faultCase) {
		w.spec(withLine("profile: own")+"profiles: {own: {ignore_changes: [clone]}}\n", true)
		w.must(w.apply())
		w.change(301, func(g *pvesim.Guest) { g.Node = "pve3" })
	})
	add("adopted VM with other hardware", func(w *faultCase) {
		g := guestByHand(310, "pve2", "handmade")
		g.Config["tags"] = "Zeta;alpha"
		w.add(g)
		w.spec(faultSpec+faultLast+"  x: {node: pve2, adopt: {vmid: 310}, profile: default}\n", true)
	}, func(s *wayState) {
		s.report = func(w *faultCase) commandResult { return w.stackgen("adopt", "--match", "live/x") }
	})
	// Clusters and states of somebody else.
	add("stack that was restored in another cluster", func(w *faultCase) {
		w.listenAsRecorded()
		seed := w.copyOfCluster()
		seed.Cluster, seed.CA = "elsewhere", "11111111-2222-4333-8444-555555555555"
		renumber(seed, "198.51.100.")
		w.connectTo(seed)
	})
	add("endpoint of another cluster in the spec", func(w *faultCase) {
		connectToOtherCluster(w)
		w.spec(faultSpec+faultLast+fmt.Sprintf("proxmox: {endpoint: %q, insecure: true}\n", faultEnv(w.tools, "PROXMOX_VE_ENDPOINT")), true)
		w.tools = w.tools.With("PROXMOX_VE_ENDPOINT=")
	}, func(s *wayState) { s.not = "if the stack is in this cluster now" })
	add("another state than the recorded one", func(w *faultCase) {
		w.must(w.stackgen("resolve"))
		loseState(w)
		w.must(w.stackgen("import-blocks"))
		w.must(w.apply())
	})
	// Destroys.
	destroys := func(s *wayState) {
		s.report = func(w *faultCase) commandResult { return w.destroy() }
		s.command = s.report
	}
	add("destroy of a stack with a protected VM", func(*faultCase) {}, destroys)
	add("destroy of a VM that Proxmox VE protects", func(w *faultCase) {
		w.spec(faultSpec, false)
		w.spec(faultSpec+strings.Replace(faultLast, ", profile: protected", "", 1), true)
		w.must(w.apply())
		w.change(301, func(g *pvesim.Guest) { g.Config["protection"] = "1" })
	}, destroys)
	// Plans.
	add("plan that replaces a VM", func(*faultCase) {}, func(s *wayState) {
		s.report = func(w *faultCase) commandResult {
			return w.run("stacks/live", nil, "terragrunt", "stack", "run", "apply", "--non-interactive", "--", `-replace=proxmox_virtual_environment_vm.this["b"]`)
		}
	})
	return slices.Concat(out, diskWayStates())
}

func render(s *wayState) {
	s.report = func(w *faultCase) commandResult { return w.stackgen("render", "--verbose") }
}

func refusedApply(s *wayState) {
	s.report = func(w *faultCase) commandResult { return w.apply() }
}

func pooled(s *wayState) { s.pool = true }

// stackGone is a state after which the project may have no stack.
func stackGone(s *wayState) {
	s.over = func(r commandResult) bool { return strings.Contains(r.output, "there is no spec in specs") }
	s.command = func(w *faultCase) commandResult {
		if _, err := os.Stat(filepath.Join(w.dir, "stacks/live/terragrunt.stack.hcl")); err != nil {
			return commandResult{} // forgotten
		}
		return w.apply()
	}
}

// withLine is the spec with more properties of VM b.
func withLine(text string) string {
	return strings.Replace(faultSpec+faultLast, "  b: {", "  b: {"+text+", ", 1)
}

// withoutVM is the spec without VM b.
func withoutVM() string {
	var out strings.Builder
	for line := range strings.Lines(faultSpec + faultLast) {
		if !strings.HasPrefix(line, "  b: ") {
			out.WriteString(line)
		}
	}
	return out.String()
}

// loseLock removes the lock, and changes the specs so that other VMIDs are decided.
func loseLock(w *faultCase) {
	w.remove("stackgen.lock.yaml")
	w.spec(strings.Replace(faultSpec+faultLast, "vmids: 300-399", "vmids: 320-399", 1), false)
}

// renderedOnly is a world in which nothing was applied.
func renderedOnly(w *faultCase) {
	w.settings("")
	w.spec(faultSpec+faultLast, true)
}

func (w *faultCase) destroy() commandResult {
	w.Helper()
	return w.run("stacks/live", nil, "terragrunt", "stack", "run", "destroy", "--non-interactive")
}
