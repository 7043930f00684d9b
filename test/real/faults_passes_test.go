//go:build unix

package real

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// post sends a request with the simulator's first token, as a person at the console.
func (w *faultCase) post(method, path string, form ...string) {
	w.Helper()
	values := url.Values{}
	for i := 0; i+1 < len(form); i += 2 {
		values.Set(form[i], form[i+1])
	}
	h := http.Header{"Authorization": {"PVEAPIToken=" + w.sim.Token()}, "Content-Type": {"application/x-www-form-urlencoded"}}
	r := w.sim.Do(w.Context(), pvesim.Request{Method: method, Path: "/api2/json" + path, Header: h, Body: []byte(values.Encode())})
	if r.Status != 200 {
		w.Fatalf("%s %s: %d %s", method, path, r.Status, r.Reason)
	}
	w.waitUntil("the tasks have ended", func() bool { return !strings.Contains(path, "/status/") || w.noRunningTask() })
}

// TestSilentAgentWaysOut runs each printed way out of a silent guest agent. Each must
// end with an empty plan and without a restart of the VM.
func TestSilentAgentWaysOut(t *testing.T) {
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
		{"agent disabled", silenceAgent, []string{"agent: false  # vms.a", "stackgen render", "qm set 300 --delete agent"}, func(w *faultCase) {
			w.spec(strings.Replace(faultSpec, "a: {node: pve1,", disabled, 1)+faultLast, true)
			w.post("PUT", "/nodes/pve1/qemu/300/config", "delete", "agent")
		}, false},
		{"agent disabled, state lost", func(w *faultCase) { silenceAgent(w); loseState(w) }, []string{"agent: false  # vms.a", "stackgen render", "qm set 300 --delete agent"}, func(w *faultCase) {
			w.spec(strings.Replace(faultSpec, "a: {node: pve1,", disabled, 1)+faultLast, true)
			w.post("PUT", "/nodes/pve1/qemu/300/config", "delete", "agent")
		}, true},
		{"agent of an adopted VM disabled", func(w *faultCase) {
			g := guest(700, "pve1", "erp")
			g.Config["agent"], g.Agent.Mode, g.Running = "1", "silent", true
			w.add(g)
			w.spec(faultSpec+faultLast+"  d: {adopt: {vmid: 700}, node: pve1, name: erp}\n", true)
		}, []string{"qm set 700 --delete agent"}, func(w *faultCase) {
			w.post("PUT", "/nodes/pve1/qemu/700/config", "delete", "agent")
		}, true},
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
			if after := w.writesTo(300); !slices.Equal(before, after) {
				t.Errorf("the apply writes to the VM: %v", after[len(before):])
			}
		})
	}
}
