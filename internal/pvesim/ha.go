package pvesim

import (
	"cmp"
	"fmt"
	"time"
)

// HAEntry is a guest managed by the HA manager.
type HAEntry struct {
	SID     string `yaml:"sid"`
	State   string `yaml:"state"`
	Comment string `yaml:"comment,omitempty"`
	Group   string `yaml:"group,omitempty"`
	CRM     string `yaml:"crm,omitempty"`
}

// HAGroup is a group of nodes.
type HAGroup struct {
	ID      string `yaml:"id"`
	Nodes   string `yaml:"nodes"`
	Comment string `yaml:"comment,omitempty"`
}

func (g *Guest) sid() string {
	if g.container() {
		return "ct:" + itoa(g.VMID)
	}
	return "vm:" + itoa(g.VMID)
}

func (w *cluster) haBySID(sid string) *HAEntry {
	for _, h := range w.seed.HA {
		if h.SID == sid {
			return h
		}
	}
	return nil
}

func (w *cluster) haEntry(g *Guest) *HAEntry { return w.haBySID(g.sid()) }

// haManaged reports whether starts and stops of the guest are only requests to
// the HA manager.
func (w *cluster) haManaged(g *Guest) bool {
	h := w.haEntry(g)
	return h != nil && h.State != "ignored" && !w.standalone()
}

// listedState returns the state in lists: the requested state as far as the
// manager has processed it.
func (h *HAEntry) listedState() string {
	if h.State == "ignored" {
		return "ignored"
	}
	return cmp.Or(h.CRM, "queued")
}

func (w *cluster) haStatus(g *Guest) object {
	h := w.haEntry(g)
	if h == nil || h.State == "ignored" || w.standalone() {
		return object{"managed": 0}
	}
	out := object{"managed": 1, "state": h.State, "group": nil}
	if h.Group != "" {
		out["group"] = h.Group
	}
	return out
}

// haRound is the time that the manager and its local agents need to process a
// request.
const haRound = 10 * time.Second

// haSync processes a resource: first the guest, then its state.
func (w *cluster) haSync(h *HAEntry) {
	w.at(haRound/2, func() {
		if w.haBySID(h.SID) != h || h.State == "ignored" {
			return
		}
		w.haActive = true
		g := w.guestBySID(h.SID)
		if g == nil {
			return
		}
		if w.haUsed == nil {
			w.haUsed = map[string]bool{}
		}
		if !w.haUsed[g.Node] {
			w.haUsed[g.Node] = true
			w.seed.HANodes = append(w.seed.HANodes, g.Node)
		}
		want := h.State == "started" || h.State == "enabled"
		if g.Running != want {
			w.power(g, want)
		}
		h.CRM = "request_stop"
		if want {
			h.CRM = "started"
			return
		}
		w.at(haRound, func() {
			if h.State == "stopped" || h.State == "disabled" {
				h.CRM = h.State
			}
		})
	})
}

func (w *cluster) guestBySID(sid string) *Guest {
	for _, id := range w.vmids() {
		if w.guests[id].sid() == sid {
			return w.guests[id]
		}
	}
	return nil
}

func (w *cluster) haRequestState(g *Guest, state string) {
	if h := w.haEntry(g); h != nil {
		h.State = state
		w.haSync(h)
	}
}

// haMove carries out a requested migration as a task of the manager.
func (w *cluster) haMove(g *Guest, target string) {
	h := w.haEntry(g)
	if h == nil || g.Node == target || w.node(target) == nil {
		return
	}
	m := &migration{w: w, g: g, target: w.node(target), online: g.Running, withDisks: true,
		mapTo: func(s string) string { return s }}
	kind := "qmigrate"
	wk := &worker{lock: g.VMID, wait: lockWait, undo: func() { m.undo() }, cancel: "migration aborted"}
	if g.container() {
		m, kind = w.containerMigration(g, target), "vzmigrate"
		m.restart = true
		wk.steps = m.containerSteps()
	} else {
		wk.steps = m.steps()
	}
	m.wk = wk
	w.fork(g.Node, kind, itoa(g.VMID), &identity{user: "root@pam"}, wk)
	h.CRM = "migrate"
	w.at(3*time.Second, func() { w.haSync(h) })
}

// haRequest is the short task that a call on an HA guest starts.
func (c *call) haRequest(g *Guest, kind, line string, do func()) (any, error) {
	wk := &worker{}
	wk.steps = []step{func() (pause, error) {
		wk.log(line)
		return pause{d: 300 * time.Millisecond, main: true}, nil
	}, func() (pause, error) {
		do()
		return pause{}, nil
	}}
	return c.w.fork(c.node, kind, itoa(g.VMID), c.who, wk), nil
}

func (w *cluster) haRemove(g *Guest) bool {
	for i, h := range w.seed.HA {
		if h.SID == g.sid() {
			w.seed.HA = append(w.seed.HA[:i], w.seed.HA[i+1:]...)
			w.haLast = w.now
			return true
		}
	}
	return false
}

func (w *cluster) haLine(state string, at time.Time) string {
	return fmt.Sprintf("(%s, %s)", state, at.UTC().Format("Mon Jan _2 15:04:05 2006"))
}
