//go:build unix

package real

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"stackgen/internal/pvesim"
)

// A classApply is specs/cs101.yaml, resolved and rendered in front of a simulated cluster:
// 21 VMs, of which one is not started.
type classApply struct {
	*project
	sim    *pvesim.Server
	before map[int]guestState // the guests of others
	want   []int              // VMIDs
}

// stoppedStudent is the VM that the class does not start.
const stoppedStudent = 23408

// newClassApply makes the project and decides everything. Eight VMs are created at a time.
func newClassApply(t *testing.T) *classApply {
	t.Helper()
	body, err := os.ReadFile(repository + "/specs/cs101.yaml")
	check(t, err)
	spec := strings.NewReplacer("parallelism: 4", "parallelism: 8", "student7: {memory: 4096}", "student7: {memory: 4096}\n    student8: {started: false}").Replace(string(body))
	w := &classApply{project: newProject(t, map[string]string{"specs/cs101.yaml": spec})}
	w.sim = w.simulate()
	w.before = stateOf(w.sim).guests
	w.deployed(0, "resolve")
	w.deployed(0, "render")
	for vmid := 23400; vmid <= 23420; vmid++ {
		w.want = append(w.want, vmid)
	}
	return w
}

// interrupted starts an apply and sends it a signal. It must end with exit code 1 and say
// what was done: as many VMs as the state has, and the names of the others.
func (w *classApply) interrupted(signal syscall.Signal, after time.Duration) {
	w.Helper()
	c := w.command("apply --yes")
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	check(w.T, c.Start())
	time.Sleep(after)
	_ = c.Process.Signal(signal) // it may have ended
	_ = c.Wait()
	output, state := out.String(), w.stateText()
	w.Log(output)
	if code := c.ProcessState.ExitCode(); code != 1 {
		w.Errorf("exit %d, want 1", code)
	}
	if strings.Contains(state, "tainted") {
		w.Error("a VM is tainted")
	}
	if strings.Contains(output, "interrupted; nothing was changed") {
		noWrites(w.T, w.sim)
		return
	}
	found := regexp.MustCompile(`apply interrupted after \d+ s: (\d+) of 21 VMs done`).FindStringSubmatch(output)
	if found == nil {
		w.Fatal("the output does not say how many VMs are done")
	}
	done, _ := strconv.Atoi(found[1]) // it is digits
	if have := len(w.inState()); have != done {
		w.Errorf("%d VMs are said to be done, and the state has %d", done, have)
	}
	if done < 21 {
		w.contains(output, "not done: VMs ", "then continue; what is done stays as it is")
	}
}

func (w *classApply) stateText() string {
	if file := ".state/cs101/proxmox-vm/tofu.tfstate"; w.exists(file) {
		return w.read(file)
	}
	return ""
}

// inState are the keys of the VMs in the state.
func (w *classApply) inState() []string {
	w.Helper()
	var state struct {
		Resources []struct {
			Type      string
			Instances []struct {
				Key string `json:"index_key"`
			}
		}
	}
	if text := w.stateText(); text != "" {
		check(w.T, json.Unmarshal([]byte(text), &state))
	}
	var out []string
	for _, r := range state.Resources {
		for _, i := range r.Instances {
			if strings.HasPrefix(r.Type, "proxmox_virtual_environment_vm") {
				out = append(out, i.Key)
			}
		}
	}
	return out
}

// complete fails unless the cluster has exactly the VMs of the class in addition to those that it
// had before, each of them once and as the spec says, the state and the registration have
// all of them, none was stopped or destroyed on the way, and another apply does nothing.
func (w *classApply) complete() {
	w.Helper()
	guests := stateOf(w.sim).guests
	for vmid, g := range w.before {
		if now, ok := guests[vmid]; !ok || now.running != g.running || !maps.Equal(now.config, g.config) {
			w.Errorf("guest %d of somebody else was changed", vmid)
		}
		delete(guests, vmid)
	}
	if got := slices.Sorted(maps.Keys(guests)); !slices.Equal(got, w.want) {
		w.Errorf("the cluster has %v, want %v", got, w.want)
	}
	names := map[string]int{}
	for vmid, g := range guests {
		if other := names[g.config["name"]]; other != 0 {
			w.Errorf("VMs %d and %d have the name %s", vmid, other, g.config["name"])
		}
		names[g.config["name"]] = vmid
		if g.running != (vmid != stoppedStudent) || g.config["lock"] != "" {
			w.Errorf("VM %d: running %v, lock %q", vmid, g.running, g.config["lock"])
		}
	}
	harm := regexp.MustCompile(`^DELETE|/status/(stop|shutdown|reboot|reset|suspend)`)
	for _, line := range writes(w.sim) {
		if harm.MatchString(line) {
			w.Errorf("a VM was stopped or destroyed: %s", line)
		}
	}
	if got := w.inState(); len(got) != len(w.want) {
		w.Errorf("the state has %d VMs: %v", len(got), got)
	}
	w.registered()
	w.sim.ResetLog()
	w.deployed(0, "apply --yes", "nothing to do: cs101 is as its spec says")
	noWrites(w.T, w.sim)
}

// registered fails unless the registration has every VM, with its VMID, and each address
// once.
func (w *classApply) registered() {
	w.Helper()
	var doc struct{ VMs []registered }
	check(w.T, json.Unmarshal([]byte(w.read("registration/cs101.json")), &doc))
	var vmids []int
	addresses := map[string]bool{}
	for _, v := range doc.VMs {
		vmids = append(vmids, v.VMID)
		if v.VMID != stoppedStudent && (v.IPv4 == "" || addresses[v.IPv4]) {
			w.Errorf("%s has the address %q", v.Key, v.IPv4)
		}
		addresses[v.IPv4] = true
	}
	if slices.Sort(vmids); !slices.Equal(vmids, w.want) {
		w.Errorf("the registration has %v, want %v", vmids, w.want)
	}
}

// TestApplyClass takes the class from nothing to 21 VMs and its registration, with three
// commands. A second apply sends no write.
func TestApplyClass(t *testing.T) {
	t.Parallel()
	began := time.Now()
	w := newClassApply(t)
	w.deployed(0, "apply --yes specs", "apply cs101: create 21 VMs", "21 of 21 VMs done", "created registration/cs101.json", "cs101 is as its spec says")
	t.Logf("resolve, render and apply of 21 VMs: %v", time.Since(began))
	clones := 0
	for _, line := range writes(w.sim) {
		if strings.Contains(line, "/clone ") {
			clones++
		}
	}
	if clones != len(w.want) {
		t.Errorf("%d clones were requested", clones)
	}
	w.complete()
}
