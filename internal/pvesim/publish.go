package pvesim

import (
	"context"
	"maps"
	"time"
)

// published is what a node last reported about a guest. The cluster's resource
// list shows this, not the guest: that is its lag.
type published struct {
	at                                 time.Time
	name, status                       string
	cpu                                float64
	mem, maxmem, maxdisk               int64
	maxcpu, template                   int
	uptime, netin, netout, diskr, disk int64
}

// staleAfter is how long figures of a silent node are shown.
const staleAfter = 300 * time.Second

func (w *world) publish(n *Node, at time.Time) {
	n.last = at
	w.nodeStats[n.Name] = at
	for _, vmid := range w.vmids() {
		g := w.guests[vmid]
		if g.Node != n.Name {
			continue
		}
		w.published[vmid] = w.snapshotOf(g, at)
	}
}

func (w *world) snapshotOf(g *Guest, at time.Time) *published {
	p := &published{at: at, name: g.name(), status: g.status(), maxmem: g.maxMemory(),
		maxdisk: w.bootDiskSize(g), maxcpu: w.cpus(g)}
	if g.Config["template"] == "1" {
		p.template = 1
	}
	if g.Running {
		p.uptime = int64(at.Sub(g.Started) / time.Second)
		p.mem = g.memory()
		p.cpu = g.Usage
	}
	return p
}

// alternating answers from two servers by turns: one whose lists stand still
// since the fault began, and one that is up to date.
func (s *Server) alternating(ctx context.Context, r *request, f *Fault) *reply {
	s.w.mu.Lock()
	if f.old == nil {
		f.old = maps.Clone(s.w.published)
	}
	if f.turn = !f.turn; f.turn {
		r.shown = f.old
	}
	s.w.mu.Unlock()
	return s.answer(ctx, r)
}

// NodeState is what the other nodes and clients notice of a node.
type NodeState string

// A node is online, has its API daemons down, or has lost its link.
const (
	NodeOnline NodeState = ""
	NodeDown   NodeState = "daemons-down"
	NodeLost   NodeState = "lost"
)

// corosyncDelay is the time until the others agree that a node left or came.
const corosyncDelay = 4 * time.Second

// arpDelay is the time a lost address still looks reachable.
const arpDelay = 37 * time.Second

func (n *Node) alive(at time.Time) bool {
	return n.State != NodeLost || at.Before(n.since)
}

// online is the membership the cluster sees; it follows a change late.
func (w *world) online(n *Node) bool {
	settled := w.now.Sub(n.since) >= corosyncDelay
	if n.State == NodeLost {
		return !settled
	}
	return !n.lost || settled
}

// quorate counts the members a node sees; the asked node itself is always one.
func (w *world) quorate() bool {
	up := 0
	for _, n := range w.nodes {
		if w.online(n) {
			up++
		}
	}
	return up*2 > len(w.nodes)
}

func (w *world) setNode(n *Node, s NodeState) {
	if n.State == s {
		return
	}
	n.lost = n.State == NodeLost
	n.State, n.since = s, w.now
}
