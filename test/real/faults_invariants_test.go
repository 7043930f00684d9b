//go:build unix

package real

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"stackgen/internal/pvesim"
)

// A faultGuest is a guest as it is compared.
type faultGuest struct {
	node, kind string
	running    bool
	config     map[string]string
}

func (g faultGuest) identity() string {
	return g.kind + " " + g.config["smbios1"] + " " + g.config["meta"]
}

// guests are the cluster's guests now.
func (w *faultCell) guests() map[int]faultGuest {
	out := map[int]faultGuest{}
	w.sim.Change(func(s *pvesim.Seed) {
		for _, g := range s.Guests {
			out[g.VMID] = faultGuest{g.Node, g.Type, g.Running, maps.Clone(g.Config)}
		}
	})
	return out
}

// held fails unless what must hold in every cell does.
func (w *faultCell) held(made, foreign []int) {
	w.Helper()
	for _, what := range w.harm(made, foreign) {
		w.Error(what)
	}
}

// harm is what must not be: a guest that was destroyed or replaced, a new one
// that nobody asked for, or a write to one that is not the stack's. The
// simulator's log and its guests both tell.
func (w *faultCell) harm(made, foreign []int) []string {
	var out []string
	found := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	after := w.guests()
	for _, id := range slices.Sorted(maps.Keys(w.before)) {
		was := w.before[id]
		is, there := after[id]
		ours := id >= 300 && id <= 399 && !slices.Contains(foreign, id)
		switch {
		case !there:
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
	if !slices.Equal(fresh, made) {
		found("new guests: %v, want %v", fresh, made)
	}
	log := w.sim.Requests()
	if n := w.sim.Counters().Requests; n != len(log) {
		found("of %d requests the log has %d", n, len(log))
	}
	for _, e := range log {
		if e.Method == "DELETE" || e.Method == "POST" && (strings.HasSuffix(e.Path, "/qemu") || strings.HasSuffix(e.Path, "/lxc")) {
			found("%s %s was asked for", e.Method, e.Path)
		}
	}
	return out
}

// clonesOf counts the clones made of a guest, which do not write to it.
func (w *faultCell) clonesOf(id int) int {
	n := 0
	for _, e := range w.sim.Requests() {
		if e.Method == "POST" && strings.HasSuffix(e.Path, fmt.Sprintf("/qemu/%d/clone", id)) {
			n++
		}
	}
	return n
}

// faultsUnguarded are some of the faults, and what an apply does where nobody
// looks: that the matrix finds no harm says something only if it finds this.
var faultsUnguarded = map[string]string{
	"VM deleted by hand":                  "new guests: [300], want []",
	"VM deleted, a stranger has its VMID": "guest 300 is not the stack's and was changed",
	"five VMs have the name of a new one": "are both named live-d",
	"stale import file, state lost":       "guest 123 was destroyed",
}

// unguarded applies with the guard switched off.
func unguarded(w *faultCell, f fault) {
	r := w.apply()
	harm := strings.Join(w.harm(f.made, f.foreign), "\n")
	if want := faultsUnguarded[f.name]; !strings.Contains(harm, want) {
		w.Errorf("the apply ends with %d, and what is found is\n%s\nwant %s\n%s", r.code, harm, want, r.said)
	}
}
