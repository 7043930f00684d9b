//go:build unix

package real

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"stackgen/internal/pvesim"
)

// A guestState is the part of a guest that is compared.
type guestState struct {
	node, kind string
	running    bool
	started    time.Time // of its process
	config     map[string]string
}

func (g guestState) identity() string {
	return g.kind + " " + g.config["smbios1"] + " " + g.config["meta"]
}

// name is the name of a VM, or the host name of a container.
func (g guestState) name() string { return cmp.Or(g.config["name"], g.config["hostname"]) }

// A clusterState is the part of a cluster that is compared.
type clusterState struct {
	guests  map[int]guestState
	pools   map[string]string // their comments and members
	volumes map[string]bool
}

// An otherCluster is a cluster to which no command may write.
type otherCluster struct {
	*pvesim.Server
	before *clusterState
}

// stateOf is the current state of a cluster.
func stateOf(sim *pvesim.Server) *clusterState {
	out := &clusterState{map[int]guestState{}, map[string]string{}, map[string]bool{}}
	sim.Change(func(s *pvesim.Seed) {
		for _, g := range s.Guests {
			out.guests[g.VMID] = guestState{g.Node, g.Type, g.Running, g.Started, maps.Clone(g.Config)}
		}
		for _, p := range s.Pools {
			out.pools[p.ID] = fmt.Sprint(p.Comment, p.Guests, p.Storage)
		}
		for _, v := range s.Volumes {
			out.volumes[v.ID] = true
		}
	})
	return out
}

func (w *faultCase) guests() map[int]guestState { return stateOf(w.sim).guests }

// A violation of the promise: one phrase for the table, and what proves it.
type violation struct{ what, proof string }

func (v violation) String() string { return v.what + ": " + v.proof }

// checkInvariants fails for each violation.
func (w *faultCase) checkInvariants(f *fault, created []int) {
	w.Helper()
	for _, v := range w.violations(f, created) {
		w.Error(v)
	}
}

// violations are guests that were destroyed, replaced, stopped or restarted, new guests that the spec does
// not have, and writes to guests and pools outside of the stack. It checks the
// simulator's log and its guests.
func (w *faultCase) violations(f *fault, created []int) (out []violation) {
	found := func(what, proof string, args ...any) {
		out = append(out, violation{what, fmt.Sprintf(proof, args...)})
	}
	after := stateOf(w.sim)
	for _, id := range slices.Sorted(maps.Keys(w.before.guests)) {
		was := w.before.guests[id]
		is, exists := after.guests[id]
		ours := id >= 300 && id <= 399 && !slices.Contains(f.foreign, id)
		tries := w.sim.Writes(id) - w.clonesOf(id) // clones to its VMID, and writes
		switch writes := w.writesTo(id); {
		case slices.Contains(f.removed, id):
			if exists {
				found(fmt.Sprintf("keeps %d", id), "it is retired")
			}
		case !exists:
			found(fmt.Sprintf("destroys %d", id), "it was %s", was.identity())
		case is.identity() != was.identity():
			found(fmt.Sprintf("replaces %d", id), "was %s, is %s", was.identity(), is.identity())
		case was.running && !is.running:
			found(fmt.Sprintf("stops %d", id), "it ran")
		case was.running && !is.started.Equal(was.started) && !slices.Contains(f.restarts, id):
			found(fmt.Sprintf("restarts %d", id), "its process began %v, and before that %v", is.started, was.started)
		case ours && f.moved[id] != "" && (is.node != f.moved[id] || !f.moved.same(was, is)):
			found(fmt.Sprintf("does not migrate %d to %s as it is", id, f.moved[id]), "is %v, was %v", is, was)
		case ours && f.moved[id] == "" && is.node != was.node:
			found(fmt.Sprintf("moves %d to %s", id, is.node), "it was on %s", was.node)
		case !ours && !reflect.DeepEqual(is, was):
			found(fmt.Sprintf("changes %d, which is not the stack's", id), "%v, before %v", is, was)
		case !ours && len(writes) > 0:
			found(fmt.Sprintf("writes to %d, which is not the stack's", id), "%v", writes)
		case !ours && tries > 0:
			found(fmt.Sprintf("%s %d, which is not the stack's", triesToCreate, id), "%d times", tries)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(w.before.guests)) {
		if is, exists := after.guests[id]; exists && id >= 300 && id <= 399 && !slices.Contains(f.foreign, id) {
			lostDevices(id, w.before.guests[id], is, f.lost, found)
		}
	}
	w.lostVolumes(after, found)
	w.newGuests(after, created, found)
	for _, id := range slices.Sorted(maps.Keys(w.before.pools)) {
		if is := after.pools[id]; (id != "live" || f.foreignPool) && is != w.before.pools[id] {
			found("changes pool "+id+", which is not the stack's", "%q, before %q", is, w.before.pools[id])
		}
	}
	for _, o := range w.others {
		if !reflect.DeepEqual(stateOf(o.Server), o.before) || o.Counters().Writes > 0 {
			found("writes to another cluster", "%d writes", o.Counters().Writes)
		}
	}
	w.requestsOf(f, after, found)
	return out
}

// lostVolumes are volumes that guests still have as disks, and that do not exist any more.
func (w *faultCase) lostVolumes(after *clusterState, found func(what, proof string, args ...any)) {
	for _, id := range slices.Sorted(maps.Keys(after.guests)) {
		for entry, text := range after.guests[id].config {
			if volume, _, _ := strings.Cut(text, ","); w.before.volumes[volume] && !after.volumes[volume] {
				found(fmt.Sprintf("deletes %s of %d", entry, id), "%s is gone", volume)
			}
		}
	}
}

// triesToCreate begins a violation that has no effect: Proxmox VE refuses it.
const triesToCreate = "tries to create"

// writesTo are the requests that write to a guest.
func (w *faultCase) writesTo(id int) (out []string) {
	for _, e := range w.sim.Requests() {
		if e.Write && strings.Contains(e.Path+"/", fmt.Sprintf("/%d/", id)) && !strings.HasSuffix(e.Path, "/clone") {
			out = append(out, e.Method+" "+e.Path)
		}
	}
	return out
}

// newGuests are guests that were created, except for those that should be.
func (w *faultCase) newGuests(after *clusterState, created []int, found func(what, proof string, args ...any)) {
	for _, id := range slices.Sorted(maps.Keys(after.guests)) {
		if _, was := w.before.guests[id]; was {
			continue
		}
		name := after.guests[id].name()
		same := slices.DeleteFunc(slices.Sorted(maps.Keys(after.guests)), func(other int) bool { return other == id || after.guests[other].name() != name })
		switch {
		case len(same) > 0:
			found(fmt.Sprintf("creates %d as one more %s", id, name), "guests %v have that name", same)
		case !slices.Contains(created, id):
			found(fmt.Sprintf("creates %d", id), "it is a new guest named %s", name)
		}
	}
	for _, id := range created {
		if _, exists := after.guests[id]; !exists {
			found(fmt.Sprintf("does not create %d", id), "the spec has it")
		}
	}
}

// requestsOf are requests that no command may send, whether they had an effect or not.
func (w *faultCase) requestsOf(f *fault, after *clusterState, found func(what, proof string, args ...any)) {
	log := w.sim.Requests()
	if n := w.sim.Counters().Requests; n != len(log) {
		found("hides requests", "of %d requests the log has %d", n, len(log))
	}
	for _, e := range log {
		_, exists := after.guests[e.VMID]
		_, existed := w.before.guests[e.VMID]
		guest := e.VMID != 0 && !slices.Contains(f.removed, e.VMID) && (exists || !existed) // else it is found above
		switch {
		case e.Method == http.MethodDelete && guest:
			found(fmt.Sprintf("destroys %d", e.VMID), "DELETE %s was requested", e.Path)
		case e.Method == http.MethodDelete && e.VMID == 0:
			found("deletes "+e.Path, "status %d", e.Status)
		case e.Method == http.MethodPost && (strings.HasSuffix(e.Path, "/qemu") || strings.HasSuffix(e.Path, "/lxc") && !f.world.containers):
			found("creates a guest without a template", "POST %s", e.Path)
		}
	}
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
