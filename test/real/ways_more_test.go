//go:build unix

package real

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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
	add("VMID changed in the spec", func(w *faultCase) { w.spec(withLine("vmid: 310"), false) }, render, func(s *wayState) { s.not = "if the VM with the new VMID exists" })
	add("VMID changed in the spec to that of another VM", func(w *faultCase) {
		w.spec(withLine("vmid: 310"), false)
		w.add(guest(310, "pve2", "live-b"))
	}, render)
	add("other VMID adopted under a profile that creates", func(w *faultCase) {
		w.add(guest(310, "pve2", "live-b"))
		w.spec(withLine("adopt: {vmid: 310}, profile: default"), false)
	}, render)
	add("lock lost", loseLock, render, func(s *wayState) { s.not = "if nothing of this stack was ever applied" })
	add("lock lost of a stack that was never applied", loseLock, render, func(s *wayState) { s.world = &faultWorld{build: renderedOnly} })
	add("pool of the stack replaced", func(w *faultCase) {
		w.sim.Change(func(s *pvesim.Seed) { s.Pools = append(s.Pools, &pvesim.Pool{ID: "other"}) })
		w.spec(strings.Replace(faultSpec, "id: live,", "id: other,", 1)+faultLast, false)
	}, render)
	add("pool removed from the spec", func(w *faultCase) {
		w.spec(strings.Replace(faultSpec, "pool: {id: live, create: true}\n", "", 1)+faultLast, false)
	}, render)
	add("spec file removed", func(w *faultCase) { w.remove("specs/live.yaml") }, render, stackGone)
	add("environment added to a live stack", func(w *faultCase) { w.spec(faultSpec+faultLast+"environment: prod\n", false) }, render)
	// What was not rendered, or misleads a run.
	add("spec changed and not rendered", func(w *faultCase) { w.spec(withLine("memory: 3072"), false) })
	for _, env := range []string{"TF_CLI_ARGS_apply=-destroy", `TF_CLI_ARGS_apply=-replace=proxmox_virtual_environment_vm.this["b"]`, "TF_WORKSPACE=dev"} {
		add("environment has "+strings.SplitN(env, "[", 2)[0], func(w *faultCase) { w.tools = w.tools.With(env) }, refusedApply)
	}
	// States that do not fit.
	add("forgotten VM in state", func(w *faultCase) { w.spec(withoutVM()+"forgotten: [b]\n", true) })
	add("state has another VMID", func(w *faultCase) {
		w.add(guest(311, "pve2", "live-b"))
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
		w.add(guest(311, "pve2", "live-ghost"))
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
		w.add(guest(700, "pve2", "somebody"))
		w.sim.Change(func(s *pvesim.Seed) {
			for _, p := range s.Pools {
				p.Guests = append(p.Guests, 700)
			}
		})
	})
	add("VM adopted that does not exist", func(w *faultCase) {
		w.spec(faultSpec+faultLast+"  x: {node: pve3, adopt: {vmid: 124}}\n", true)
	}, func(s *wayState) { s.words = map[string]string{"N": "123", "VMID": "9000"} })
	add("node of a new VM does not exist", func(w *faultCase) { w.spec(faultSpec+faultLast+"  d: {node: pve9}\n", true) },
		func(s *wayState) { s.words = map[string]string{"NAME": "pve1"} })
	add("pool of a new VM does not exist", func(w *faultCase) { w.spec(faultSpec+faultLast+"  d: {node: pve1, pool: team}\n", true) })
	add("VM moved by hand, and its profile manages the node", func(w *faultCase) {
		w.spec(withLine("profile: own")+"profiles: {own: {ignore_changes: [clone]}}\n", true)
		w.must(w.apply())
		w.change(301, func(g *pvesim.Guest) { g.Node = "pve3" })
	})
	add("adopted VM with other hardware", func(w *faultCase) {
		g := guest(310, "pve2", "handmade")
		g.Config["tags"] = "Zeta;alpha"
		w.add(g)
		w.spec(faultSpec+faultLast+"  x: {node: pve2, adopt: {vmid: 310}, profile: default}\n", true)
	}, func(s *wayState) {
		s.report = func(w *faultCase) commandResult { return w.stackgen("adopt", "--match", "live/x") }
	})
	// Clusters and states of somebody else.
	add("another cluster", func(w *faultCase) {
		w.must(w.stackgen("resolve"))
		seed, err := pvesim.DefaultSeed()
		check(w.T, err)
		seed.Cluster = "elsewhere"
		for i, n := range seed.Nodes {
			n.Address = fmt.Sprintf("198.51.100.%d", 11+i)
		}
		w.connectTo(seed)
	}, func(s *wayState) {
		s.not = "if the stack is in this cluster now"
		s.rewrite = func(w *faultCase, line string) string {
			endpoint, token := w.sim.URL(), w.sim.Token()
			return recordedEndpoint.ReplaceAllString(line, endpoint) + "\nexport PROXMOX_VE_API_TOKEN='" + token + "'"
		}
	})
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
	return out
}

// recordedEndpoint is an endpoint of a recorded node, which no simulator listens on.
var recordedEndpoint = regexp.MustCompile(`https://192\.0\.2\.\d+:8006/?`)

func render(s *wayState) {
	s.report = func(w *faultCase) commandResult { return w.stackgen("render", "--verbose") }
}

func refusedApply(s *wayState) {
	s.report = func(w *faultCase) commandResult { return w.apply() }
}

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

const vmState = ".state/live/proxmox-vm/tofu.tfstate"

// editState replaces the resource block `this` in the state of the VMs.
func (w *faultCase) editState(edit func(map[string]any) []map[string]any) {
	w.Helper()
	body, err := os.ReadFile(filepath.Join(w.dir, vmState))
	check(w.T, err)
	w.write("backup.tfstate", string(body))
	var state map[string]any
	check(w.T, json.Unmarshal(body, &state))
	var out []any
	for _, r := range state["resources"].([]any) {
		if block := r.(map[string]any); block["name"] == "this" && block["type"] == "proxmox_virtual_environment_vm" {
			for _, e := range edit(block) {
				out = append(out, e)
			}
			continue
		}
		out = append(out, r)
	}
	state["resources"] = out
	state["serial"] = state["serial"].(float64) + 1
	body, err = json.Marshal(state)
	check(w.T, err)
	w.write(vmState, string(body))
}

// restoreState restores the state from before editState.
func (w *faultCase) restoreState() {
	body, err := os.ReadFile(filepath.Join(w.dir, "backup.tfstate"))
	check(w.T, err)
	w.write(vmState, string(body))
}

// instances is a copy of a resource block with the instances that edit returns.
func instances(r map[string]any, edit func(map[string]any) map[string]any) map[string]any {
	body, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	var out map[string]any
	if err := json.Unmarshal(body, &out); err != nil {
		panic(err)
	}
	var kept []any
	for _, i := range out["instances"].([]any) {
		if e := edit(i.(map[string]any)); e != nil {
			kept = append(kept, e)
		}
	}
	out["instances"] = kept
	return out
}

// onlyKey is the block with another label and one instance, which gets another key.
func onlyKey(r map[string]any, label, key, to string) map[string]any {
	out := instances(r, func(i map[string]any) map[string]any {
		if i["index_key"] != key {
			return nil
		}
		i["index_key"] = to
		return i
	})
	out["name"] = label
	return out
}

func withoutKey(r map[string]any, key string) map[string]any {
	return instances(r, func(i map[string]any) map[string]any {
		if i["index_key"] == key {
			return nil
		}
		return i
	})
}

// withVMID is the block with another VMID of an instance, and the MAC address of the
// guest that has it.
func withVMID(r map[string]any, key string, vmid int) map[string]any {
	return instances(r, func(i map[string]any) map[string]any {
		if i["index_key"] == key {
			a := i["attributes"].(map[string]any)
			a["id"], a["vm_id"] = fmt.Sprint(vmid), vmid
			mac := fmt.Sprintf("BC:24:11:77:%02X:%02X", vmid/256, vmid%256)
			a["mac_addresses"] = []any{mac}
			a["network_device"].([]any)[0].(map[string]any)["mac_address"] = mac
		}
		return i
	})
}
