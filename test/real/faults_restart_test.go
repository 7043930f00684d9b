//go:build unix

package real

import (
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// restartFaults are changes that a running VM cannot take. No apply restarts a VM unless
// its spec permits that: the change waits.
func restartFaults() []fault {
	const one = "0 added, 1 changed, 0 destroyed"
	return []fault{
		fault{name: "memory of a running VM changed in the spec", event: editVM("memory: 2064")}.succeedsInBoth(one),
		fault{name: "memory of a running VM without agent changed in the spec", event: both(removeAgent, editVM("agent: false, memory: 2064"))}.succeedsInBoth(one),
		fault{name: "memory of a running VM changed in the spec, which permits a restart", event: editVM("restart: true, memory: 2064"), restarts: []int{300}}.succeedsInBoth(one),
		fault{name: "memory of a running VM changed by hand, which waits for a restart", event: enlargeMemory}.succeedsInBoth(one),
	}
}

// editVM adds to the entry of VM a in the spec.
func editVM(text string) func(*faultCase) {
	return func(w *faultCase) { w.editSpec("  a: {", "  a: {"+text+", ") }
}

// removeAgent removes the agent from the guest.
func removeAgent(w *faultCase) {
	w.change(300, func(g *pvesim.Guest) { g.Agent.Mode = "" })
	w.post("PUT", "/nodes/pve1/qemu/300/config", "agent", "0")
}

// enlargeMemory changes the memory of a running VM by hand.
func enlargeMemory(w *faultCase) {
	w.post("PUT", "/nodes/pve1/qemu/300/config", "memory", "3072")
}

// TestPendingIsReportedUntilTheRestart changes a running VM with an apply, and restarts it
// as preflight says.
func TestPendingIsReportedUntilTheRestart(t *testing.T) {
	t.Parallel()
	world := &faultWorld{build: faultStack, tools: findFaultTools(t)}
	w := world.copy(t, t)
	editVM("memory: 3072")(w)
	w.before = stateOf(w.sim)
	w.must(w.apply())
	w.checkInvariants(&fault{}, nil)
	w.checkEmptyPlan()
	const line = "stackgen restart --pending live/a"
	for _, command := range [][]string{{"preflight"}, {"snapshot", "--out", "cluster.json"}, {"preflight", "--inventory", "cluster.json"}} {
		r := w.stackgen(command...)
		w.must(r)
		if command[0] == "preflight" && (!strings.Contains(r.output, "memory 2048 -> 3072 waits for a restart\n") || !strings.Contains(r.output, line)) {
			t.Errorf("%s prints\n%s", r.line, r.output)
		}
	}
	if r := w.apply(); r.code != 0 || !strings.Contains(r.output, "memory 2048 -> 3072 waits for a restart") {
		t.Errorf("the guard of the next apply does not report it: exit %d\n%s", r.code, r.output)
	}
	w.must(w.stackgen("restart", "--yes", "--pending", "live/a"))
	w.waitUntil("the agent answers", func() bool { return !strings.Contains(w.stackgen("preflight").output, "does not answer") })
	if r := w.stackgen("preflight"); r.code != 0 || strings.Contains(r.output, "pending") {
		t.Errorf("after the restart: exit %d\n%s", r.code, r.output)
	}
	w.checkEmptyPlan()
}
