package pvesim

import (
	"context"
	"maps"
	"time"
)

// published is what a node last reported about a guest. The cluster-wide
// resource list shows the report and not the guest, therefore it lags.
type published struct {
	at                                 time.Time
	name, status                       string
	cpu                                float64
	mem, maxmem, maxdisk               int64
	maxcpu, template                   int
	uptime, netin, netout, diskr, disk int64
}

// staleAfter is the time for which the last report of a lost node is listed.
const staleAfter = 300 * time.Second

func (w *cluster) publish(n *Node, at time.Time) {
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

func (w *cluster) snapshotOf(g *Guest, at time.Time) *published {
	p := &published{at: at, name: g.name(), status: g.status(), maxmem: g.maxMemory(),
		maxdisk: w.bootDiskSize(g), maxcpu: w.cpus(g)}
	if !g.container() { // the list of the cluster has the state of the emulator, that of a node only whether there is one
		p.status = g.qmpStatus()
	}
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

// alternating responds like two servers in turn: one with the lists from when
// the fault began, and one with current lists.
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

// NodeState is the state of a node as other nodes and clients see it.
type NodeState string

// The states of a node: online, with stopped API daemons, or without a network link.
const (
	NodeOnline NodeState = ""
	NodeDown   NodeState = "daemons-down"
	NodeLost   NodeState = "lost"
)

// corosyncDelay is the time after which the other nodes agree that a node has
// left or joined.
const corosyncDelay = 4 * time.Second

// arpDelay is the time for which the address of a lost node still seems
// reachable.
const arpDelay = 37 * time.Second

func (n *Node) alive(at time.Time) bool {
	return n.State != NodeLost || at.Before(n.since)
}

// online reports whether the cluster counts a node as a member. It follows a
// change with a delay.
func (w *cluster) online(n *Node) bool {
	settled := w.now.Sub(n.since) >= corosyncDelay
	if n.State == NodeLost {
		return !settled
	}
	return !n.lost || settled
}

// quorate reports whether the members have the majority. The queried node is
// always a member.
func (w *cluster) quorate() bool {
	up := 0
	for _, n := range w.nodes {
		if w.online(n) {
			up++
		}
	}
	return up*2 > len(w.nodes)
}

func (w *cluster) setNode(n *Node, s NodeState) {
	if n.State == s {
		return
	}
	n.lost = n.State == NodeLost
	n.State, n.since = s, w.now
}
