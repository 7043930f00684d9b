//go:build unix

package real

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"stackgen/internal/pvesim"
)

// A guestState is the part of a guest that is compared.
type guestState struct {
	node, kind string
	running    bool
	config     map[string]string
}

func (g guestState) identity() string {
	return g.kind + " " + g.config["smbios1"] + " " + g.config["meta"]
}

// guests are the current guests of the cluster.
func (w *faultCase) guests() map[int]guestState {
	out := map[int]guestState{}
	w.sim.Change(func(s *pvesim.Seed) {
		for _, g := range s.Guests {
			out[g.VMID] = guestState{g.Node, g.Type, g.Running, maps.Clone(g.Config)}
		}
	})
	return out
}

// checkInvariants fails for each violation of the promise.
func (w *faultCase) checkInvariants(created, foreign []int) {
	w.Helper()
	for _, what := range w.violations(created, foreign) {
		w.Error(what)
	}
}

// violations are guests that were destroyed or replaced, new guests that the spec does
// not have, and writes to guests outside of the stack. It checks the simulator's log
// and its guests.
func (w *faultCase) violations(created, foreign []int) []string {
	var out []string
	found := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	after := w.guests()
	for _, id := range slices.Sorted(maps.Keys(w.before)) {
		was := w.before[id]
		is, exists := after[id]
		ours := id >= 300 && id <= 399 && !slices.Contains(foreign, id)
		switch {
		case !exists:
			found("guest %d was destroyed", id)
		case is.identity() != was.identity():
			found("guest %d is another one: was %s, is %s", id, was.identity(), is.identity())
		case !ours && fmt.Sprint(is) != fmt.Sprint(was):
			found("guest %d is not the stack's and was changed: %v, before %v", id, is, was)
		}
		if n := w.sim.Writes(id) - w.clonesOf(id); !ours && n > 0 {
			found("guest %d is not the stack's and was written %d times", id, n)
		}
	}
	var fresh []int
	for _, id := range slices.Sorted(maps.Keys(after)) {
		if _, was := w.before[id]; was {
			continue
		}
		fresh = append(fresh, id)
		for other, o := range after {
			if other != id && o.config["name"] == after[id].config["name"] {
				found("guests %d and %d are both named %s", id, other, o.config["name"])
			}
		}
	}
	if !slices.Equal(fresh, created) {
		found("new guests: %v, want %v", fresh, created)
	}
	log := w.sim.Requests()
	if n := w.sim.Counters().Requests; n != len(log) {
		found("of %d requests the log has %d", n, len(log))
	}
	for _, e := range log {
		if e.Method == http.MethodDelete || e.Method == http.MethodPost && (strings.HasSuffix(e.Path, "/qemu") || strings.HasSuffix(e.Path, "/lxc")) {
			found("%s %s was requested", e.Method, e.Path)
		}
	}
	return out
}

// clonesOf counts the clones of a guest, which do not write to it.
func (w *faultCase) clonesOf(id int) int {
	n := 0
	for _, e := range w.sim.Requests() {
		if e.Method == http.MethodPost && strings.HasSuffix(e.Path, fmt.Sprintf("/qemu/%d/clone", id)) {
			n++
		}
	}
	return n
}

// harmWithoutGuard are some of the faults, and the violations by an apply without the
// guard. They prove that violations finds harm.
var harmWithoutGuard = map[string]string{
	"VM deleted by hand":                  "new guests: [300], want []",
	"VM deleted, a stranger has its VMID": "guest 300 is not the stack's and was changed",
	"five VMs have the name of a new one": "are both named live-d",
	"stale import file, state lost":       "guest 123 was destroyed",
}

// applyUnguarded applies with `guard: off`.
func applyUnguarded(w *faultCase, f fault) {
	r := w.apply()
	violations := strings.Join(w.violations(f.created, f.foreign), "\n")
	if want := harmWithoutGuard[f.name]; !strings.Contains(violations, want) {
		w.Errorf("the apply ends with %d, and these violations:\n%s\nwant %s\n%s", r.code, violations, want, r.output)
	}
}
