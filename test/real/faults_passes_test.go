//go:build unix

package real

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"stackgen/internal/pvesim"
)

// passesFaults are what must not stop an apply, and what stops it only where a planned
// write meets it.
func passesFaults() []fault {
	return []fault{
		fault{name: "backup lock on an adopted VM", event: both(adoptVM, func(w *faultCase) { w.backup("pve1", 700) })}.succeedsInBoth(nothingToDo),
		fault{name: "backup of all VMs runs, nothing to change", event: backupAll}.succeedsInBoth(nothingToDo),
		fault{name: "backup of all VMs runs, a VM that it does not lock changes", event: both(backupAll, tagVM("b"))}.succeedsInBoth("0 added, 1 changed, 0 destroyed"),
		fault{name: "backup of all VMs runs, the VM that it locks is retired", event: both(backupAll, retireVM("a")), acts: map[string]func(*faultCase){"wait until": (*faultCase).stopTasks}}.refusedInBoth("busy a", "locked: backup; and it would be destroyed"),
		fault{name: "noVNC console open on all VMs, one changes and another is created", event: both(openConsoles, tagVM("a"), addToSpec)}.succeedsInBoth("1 added, 1 changed, 0 destroyed", 303),
		fault{name: "VM hibernated", event: hibernate}.succeedsInBoth(nothingToDo),
		fault{name: "VM hibernated, and its profile manages started", event: both(manageStarted, hibernate)}.refusedInBoth("busy a", "hibernated (locked: suspended); and an apply would start it"),
		fault{name: "adopted VM hibernated", event: both(adoptVM, hibernateAdopted)}.succeedsInBoth(nothingToDo),
		fault{name: "hibernated VM retired", event: both(hibernate, retireVM("a")), noHarmRun: "Proxmox VE refuses the destroy"}.refusedInBoth("busy a", "hibernated (locked: suspended); and it would be destroyed"),
		fault{name: "HA-managed VM retired", seed: addHA, event: retireVM("b"), removed: []int{301}}.succeedsInBoth("0 added, 0 changed, 1 destroyed"),
		fault{name: "another apply of the stack is running", event: applyBeside, acts: otherApplyEnds, created: []int{303}}.refusedInBoth("busy proxmox-vm", "another apply of this stack is running"),
		fault{name: "another apply of the stack is running, state in S3", world: &faultWorld{build: stackInS3, fresh: true}, event: applyBeside, acts: otherApplyEnds, created: []int{303}}.refusedInBoth("busy proxmox-vm", "another apply of this stack is running"),
	}
}

// stackInS3 is the stack live, applied, with its state in a bucket.
func stackInS3(w *faultCase) {
	w.settings(fmt.Sprintf("backend: {type: s3, bucket: states, region: eu-central-1, endpoint: %q, path_style: true}\n", startS3(w.T).url))
	w.spec(faultSpec+faultLast, true)
	w.must(w.apply())
}

// both causes several events.
func both(events ...func(*faultCase)) func(*faultCase) {
	return func(w *faultCase) {
		for _, event := range events {
			event(w)
		}
	}
}

// editSpec changes the spec, and renders it.
func (w *faultCase) editSpec(old, replacement string) {
	w.Helper()
	body, err := os.ReadFile(filepath.Join(w.dir, "specs/live.yaml"))
	check(w.T, err)
	changed := strings.Replace(string(body), old, replacement, 1)
	if changed == string(body) {
		w.Fatalf("the spec has no %q", old)
	}
	w.spec(changed, true)
}

// tagVM gives a VM a tag, which changes it without a restart.
func tagVM(key string) func(*faultCase) {
	return func(w *faultCase) { w.editSpec("  "+key+": {", "  "+key+": {tags: [new], ") }
}

// addToSpec adds a VM to the spec as it is now.
func addToSpec(w *faultCase) { w.editSpec(faultLast, faultLast+"  d: {node: pve1}\n") }

// retireVM removes a VM from the spec and retires it.
func retireVM(key string) func(*faultCase) {
	return func(w *faultCase) {
		lines := strings.SplitAfter(faultSpec+faultLast, "\n")
		lines = slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, "  "+key+": {") })
		w.spec(strings.Join(lines, "")+"retired: ["+key+"]\n", true)
	}
}

// adoptVM adopts VM 700.
func adoptVM(w *faultCase) {
	g := guestByHand(700, "pve1", "erp")
	g.Running = true
	w.add(g)
	w.editSpec(faultLast, faultLast+"  d: {adopt: {vmid: 700}, node: pve1, name: erp}\n")
	w.must(w.stackgen("import-blocks"))
	w.must(w.apply())
	w.must(w.stackgen("import-blocks"))
}

// backupAll begins the backup of all VMs of pve1: one task without a VMID, which locks
// VM 300 first.
func backupAll(w *faultCase) { w.backup("pve1", 300, 9002) }

func (w *faultCase) backup(node string, vmids ...int) {
	w.Helper()
	_, err := w.sim.Backup(node, vmids...)
	check(w.T, err)
	w.waitUntil("the backup has begun", func() bool { return w.guests()[vmids[0]].config["lock"] == "backup" })
}

// openConsoles opens the console of all VMs.
func openConsoles(w *faultCase) {
	for id, g := range w.guests() {
		if g.running && id >= 300 && id <= 399 {
			w.post("POST", fmt.Sprintf("/nodes/%s/qemu/%d/vncproxy", g.node, id), "websocket", "1")
		}
	}
	if n := strings.Count(w.get("/cluster/tasks"), `"type":"vncproxy"`); n != 3 {
		w.Fatalf("%d consoles are open, want 3", n)
	}
}

// hibernate saves the memory of VM 300 to disk.
func hibernate(w *faultCase) {
	w.post("POST", "/nodes/pve1/qemu/300/status/suspend", "todisk", "1")
	if got := w.guests()[300]; got.config["lock"] != "suspended" || got.running {
		w.Fatalf("VM 300 is not hibernated: %v", got)
	}
}

// manageStarted gives VM 300 a profile that keeps it running.
func manageStarted(w *faultCase) {
	w.editSpec("vms:", "profiles: {running: {ignore_changes: [node_name, clone]}}\nvms:")
	w.editSpec("  a: {", "  a: {profile: running, ")
	w.must(w.apply())
}

// hibernateAdopted leaves VM 700 as a hibernation does. The log of requests then has
// only what stackgen and the tools write to it.
func hibernateAdopted(w *faultCase) {
	w.change(700, func(g *pvesim.Guest) { g.Running, g.Config["lock"] = false, "suspended" })
}

// addHA makes a VM an HA resource.
func addHA(s *pvesim.Seed) {
	s.HA = append(s.HA, &pvesim.HAEntry{SID: "vm:301", State: "started", CRM: "started"})
	s.HANodes = []string{"pve1", "pve2", "pve3"}
}

// applyBeside begins another apply of the stack, which creates a VM and does not end
// before the test.
func applyBeside(w *faultCase) {
	w.endless.Store(true)
	addToSpec(w)
	w.before = stateOf(w.sim)
	writes := w.sim.Counters().Writes
	path, err := w.tools.Path("terragrunt")
	check(w.T, err)
	c := exec.Command(path, "stack", "run", "apply", "--non-interactive")
	c.Dir, c.Env = filepath.Join(w.dir, "stacks/live"), attach(w.T, w.tools, "terragrunt")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	check(w.T, c.Start())
	w.other = c
	w.Cleanup(w.killOther)
	w.waitUntil("the other apply clones", func() bool { // a request is counted after it was answered
		return len(w.guests()) == len(w.before.guests)+1 && w.sim.Counters().Writes > writes
	})
}

// killOther kills the other apply, which then releases no lock.
func (w *faultCase) killOther() {
	_ = syscall.Kill(-w.other.Process.Pid, syscall.SIGKILL) // it may have ended
	_ = w.other.Wait()
}

// otherApplyEnds are what a person waits for, or knows, before a way out of another
// apply: its clone is aborted, so that it ends; or it was killed.
var otherApplyEnds = map[string]func(*faultCase){
	"wait until": func(w *faultCase) {
		w.stopTasks()
		_ = w.other.Wait() // it failed
		w.endless.Store(false)
	},
	"its lock is left behind": func(w *faultCase) {
		w.killOther()
		w.stopTasks()
		w.endless.Store(false)
	},
}

// stopTasks stops all running tasks.
func (w *faultCase) stopTasks() {
	w.Helper()
	var list struct {
		Data []struct {
			UPID, Node string
			EndTime    int64
		}
	}
	check(w.T, json.Unmarshal([]byte(w.get("/cluster/tasks")), &list))
	for _, t := range list.Data {
		if t.EndTime == 0 {
			w.post("DELETE", "/nodes/"+t.Node+"/tasks/"+url.PathEscape(t.UPID))
		}
	}
	w.waitUntil("all tasks have ended", w.noRunningTask)
}

// TestChangeOfLockedVM checks that a change that meets a lock is refused, and leaves the VM
// as it is. With `guard: fast`, which makes no plan, Proxmox VE refuses it.
func TestChangeOfLockedVM(t *testing.T) {
	t.Parallel()
	world := &faultWorld{build: faultStack, tools: findFaultTools(t)}
	for level, want := range map[string]string{
		"full": "locked: backup; and an apply would change it",
		"fast": "HTTP 500 response - Reason: VM is locked (backup)",
	} {
		t.Run(level, func(sub *testing.T) {
			w := world.copy(t, sub)
			w.level(level)
			both(backupAll, tagVM("a"))(w)
			w.before = stateOf(w.sim)
			if r := w.apply(); r.code == 0 || !strings.Contains(r.output, want) {
				sub.Errorf("exit %d, want the text %q\n%s", r.code, want, r.output)
			}
			w.checkInvariants(&fault{}, nil)
			if got := w.guests()[300]; fmt.Sprint(got) != fmt.Sprint(w.before.guests[300]) {
				sub.Errorf("VM 300 is %v, before %v", got, w.before.guests[300])
			}
			w.change(300, func(g *pvesim.Guest) { delete(g.Config, "lock") })
			w.must(w.apply())
			w.checkEmptyPlan()
		})
	}
}

// post sends a request with the simulator's first token, as a person at the console.
func (w *faultCase) post(method, path string, form ...string) {
	w.Helper()
	values := url.Values{}
	for i := 0; i+1 < len(form); i += 2 {
		values.Set(form[i], form[i+1])
	}
	h := http.Header{"Authorization": {"PVEAPIToken=" + w.sim.Token()}, "Content-Type": {"application/x-www-form-urlencoded"}}
	var body []byte
	if len(form) > 0 {
		body = []byte(values.Encode())
	}
	r := w.sim.Do(w.Context(), pvesim.Request{Method: method, Path: "/api2/json" + path, Header: h, Body: body})
	if r.Status != 200 {
		w.Fatalf("%s %s: %d %s", method, path, r.Status, r.Reason)
	}
	w.waitUntil("the tasks have ended", func() bool { return !strings.Contains(path, "/status/") || w.noRunningTask() })
}

// TestSilentAgentWaysOut runs each printed way out of a silent guest agent. Each must
// end with an empty plan and without a restart of the VM.
func TestSilentAgentWaysOut(t *testing.T) {
	t.Parallel()
	tools := findFaultTools(t)
	const disabled = `a: {node: pve1, agent: false,`
	for _, c := range []struct {
		name    string
		event   func(*faultCase)
		printed []string // lines of the refusal
		wayOut  func(*faultCase)
		imports bool
	}{
		{"agent started", silenceAgent, []string{"systemctl enable --now qemu-guest-agent"},
			func(w *faultCase) { w.change(300, func(g *pvesim.Guest) { g.Agent.Mode = "present" }) }, false},
		{"agent disabled", silenceAgent, []string{"agent: false  # vms.a", "stackgen render", "pvesh set /nodes/pve1/qemu/300/config --agent 0"}, func(w *faultCase) {
			w.spec(strings.Replace(faultSpec, "a: {node: pve1,", disabled, 1)+faultLast, true)
			w.post("PUT", "/nodes/pve1/qemu/300/config", "agent", "0")
		}, false},
		{"agent disabled, state lost", func(w *faultCase) { silenceAgent(w); loseState(w) }, []string{"agent: false  # vms.a", "stackgen render", "pvesh set /nodes/pve1/qemu/300/config --agent 0"}, func(w *faultCase) {
			w.spec(strings.Replace(faultSpec, "a: {node: pve1,", disabled, 1)+faultLast, true)
			w.post("PUT", "/nodes/pve1/qemu/300/config", "agent", "0")
		}, true},
		{"agent of an adopted VM disabled", func(w *faultCase) {
			g := guestByHand(700, "pve1", "erp")
			g.Config["agent"], g.Agent.Mode, g.Running = "1", "silent", true
			w.add(g)
			w.spec(faultSpec+faultLast+"  d: {adopt: {vmid: 700}, node: pve1, name: erp}\n", true)
		}, []string{"pvesh set /nodes/pve1/qemu/700/config --delete agent"}, func(w *faultCase) {
			w.post("PUT", "/nodes/pve1/qemu/700/config", "delete", "agent")
		}, true},
		{"agent of a retired VM disabled", both(silenceAgent, retireVM("a")), []string{"pvesh set /nodes/pve1/qemu/300/config --delete agent"}, func(w *faultCase) {
			w.post("PUT", "/nodes/pve1/qemu/300/config", "delete", "agent")
		}, false},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			world := &faultWorld{build: faultStack, tools: tools}
			w := world.copy(t, t)
			c.event(w)
			r := w.stackgen("preflight")
			for _, line := range c.printed {
				if r.code != 3 || !strings.Contains(r.output, "\n      "+line+"\n") {
					t.Fatalf("preflight: exit %d, want 3 and the line %s\n%s", r.code, line, r.output)
				}
			}
			c.wayOut(w)
			before := w.writesTo(300)
			if c.imports {
				w.must(w.stackgen("import-blocks"))
			}
			w.must(w.apply())
			w.checkEmptyPlan()
			w.must(w.stackgen("preflight"))
			_, exists := w.guests()[300]
			if after := w.writesTo(300); exists && !slices.Equal(before, after) {
				t.Errorf("the apply writes to the VM: %v", after[len(before):])
			}
		})
	}
}
