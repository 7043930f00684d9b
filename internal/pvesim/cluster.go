package pvesim

import (
	"cmp"
	"container/heap"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"
)

// cluster is the simulated cluster. Callers must hold mu.
type cluster struct {
	mu   sync.Mutex
	seed *Seed
	rng  *rand.Rand
	now  time.Time

	nodes       []*Node
	guests      map[int]*Guest
	hosts       map[int]*Guest // the VM that got an address last, by its last number
	tasks       []*Task
	byUPID      map[string]*Task
	events      eventQueue
	eventSeq    int
	locks       map[int]*flock
	transfers   map[string][]*transfer
	published   map[int]*published
	nodeStats   map[string]time.Time
	nextPID     int
	durations   func(kind string, vmid int) (time.Duration, bool)
	haActive    bool
	haLast      time.Time       // when the last resource was removed
	frozen      time.Time       // no node reports before this time
	haUsed      map[string]bool // nodes whose local agent has been active
	lockedUntil map[string]time.Time
	everything  rights              // all privileges
	roles       map[string][]string // privileges by role

	consoles     []console
	certificates map[string][]certificate // by node; they do not change
}

func newCluster(s *Seed, start time.Time) (*cluster, error) {
	w := &cluster{seed: s, rng: rand.New(rand.NewPCG(s.Number, 0x70766573696d)), now: start,
		guests: map[int]*Guest{}, hosts: map[int]*Guest{}, byUPID: map[string]*Task{}, locks: map[int]*flock{},
		transfers: map[string][]*transfer{}, published: map[int]*published{}, nodeStats: map[string]time.Time{},
		nextPID: 1000}
	all, roles := privileges(s.Version)
	w.roles, w.everything = roles, rights{}
	for _, r := range s.Roles {
		roles[r.ID] = r.Privileges
	}
	for _, p := range all {
		w.everything[p] = true
	}
	if len(s.Nodes) == 0 {
		return nil, fmt.Errorf("seed: no nodes")
	}
	for i, n := range s.Nodes {
		w.addNode(i, n)
	}
	if err := w.addCertificates(); err != nil {
		return nil, err
	}
	for _, st := range s.Storages {
		st.Bandwidth = cmp.Or(st.Bandwidth, Size(gib))
		st.Size = cmp.Or(st.Size, Size(100*gib))
	}
	for _, v := range s.Volumes {
		v.Content = cmp.Or(v.Content, "images")
		v.Format = cmp.Or(v.Format, volumeFormat(v.ID))
		if v.Created.IsZero() {
			v.Created = start
		}
	}
	for _, g := range s.Guests {
		if err := w.addGuest(g); err != nil {
			return nil, err
		}
	}
	w.loadTasks()
	for _, n := range w.nodes {
		w.publish(n, start)
	}
	for _, r := range s.Reports {
		w.published[r.VMID] = &published{at: start, name: r.Name, status: r.Status, maxmem: r.MaxMem, maxdisk: r.MaxDisk,
			maxcpu: r.MaxCPU, template: flag(r.Template)}
	}
	for _, g := range s.Guests {
		if g.Silent {
			delete(w.published, g.VMID)
		}
	}
	if len(s.HANodes) > 0 {
		w.haActive, w.haUsed = true, map[string]bool{}
		for _, n := range s.HANodes {
			w.haUsed[n] = true
		}
	}
	return w, nil
}

func (w *cluster) addNode(i int, n *Node) {
	n.id = i + 1
	if n.CPUs == 0 {
		n.CPUs = 8
	}
	if n.Memory == 0 {
		n.Memory = Size(32 * gib)
	}
	if n.Disk == 0 {
		n.Disk = Size(100 * gib)
	}
	if n.Address == "" {
		n.Address = fmt.Sprintf("192.0.2.%d", 10+i)
	}
	// Nodes report at different times, so the age of list entries differs by node.
	n.phase = time.Duration(i) * 3 * time.Second
	n.boot = w.now.Add(-6 * time.Hour)
	n.since = w.now.Add(-time.Hour)
	w.nodes = append(w.nodes, n)
}

// addGuest adds a guest of the seed, with the volumes of its disks.
func (w *cluster) addGuest(g *Guest) error {
	if g.Type == "" {
		g.Type = "qemu"
	}
	if w.node(g.Node) == nil {
		return fmt.Errorf("seed: guest %d: no node %q", g.VMID, g.Node)
	}
	if _, dup := w.guests[g.VMID]; dup {
		return fmt.Errorf("seed: duplicate guest %d", g.VMID)
	}
	if g.Config == nil {
		g.Config = map[string]string{}
	}
	if g.Running {
		g.pid = w.pid()
		if g.Started.IsZero() {
			g.Started = w.now.Add(-time.Hour)
		}
	}
	w.guests[g.VMID] = g
	for _, key := range slices.Sorted(maps.Keys(g.Config)) {
		if isDriveKey(key) || strings.HasPrefix(key, "unused") {
			w.ensureVolume(g, g.Config[key])
		}
	}

	return nil
}

// advance brings the cluster to a time: it runs the due events in order, and
// lets every node report at its own times.
func (w *cluster) advance(now time.Time) {
	for len(w.events) > 0 && !w.events[0].at.After(now) {
		e := heap.Pop(&w.events).(*event)
		w.report(e.at)
		if e.at.After(w.now) {
			w.now = e.at
		}
		e.run()
	}
	w.report(now)
	if now.After(w.now) {
		w.now = now
	}
}

// report publishes the guests of every node whose report time has passed.
func (w *cluster) report(now time.Time) {
	if now.Before(w.frozen) {
		return
	}
	for _, n := range w.nodes {
		beat := lastReportTime(n, now)
		if beat.After(n.last) && n.alive(beat) {
			w.publish(n, beat)
		}
	}
}

// reportInterval is the status cycle of a node.
const reportInterval = 10 * time.Second

func lastReportTime(n *Node, now time.Time) time.Time {
	base := now.Add(-n.phase)
	return base.Truncate(reportInterval).Add(n.phase)
}

func (w *cluster) node(name string) *Node {
	for _, n := range w.nodes {
		if n.Name == name {
			return n
		}
	}
	return nil
}

func (w *cluster) storage(id string) *Storage {
	for _, s := range w.seed.Storages {
		if s.ID == id {
			return s
		}
	}
	return nil
}

func (w *cluster) pool(id string) *Pool {
	for _, p := range w.seed.Pools {
		if p.ID == id {
			return p
		}
	}
	return nil
}

func (w *cluster) poolOf(vmid int) *Pool {
	for _, p := range w.seed.Pools {
		for _, v := range p.Guests {
			if v == vmid {
				return p
			}
		}
	}
	return nil
}

func (w *cluster) user(id string) *User {
	for _, u := range w.seed.Users {
		if u.ID == id {
			return u
		}
	}
	return nil
}

// vmids returns the VMIDs in order, so that no response depends on the order of
// a map.
func (w *cluster) vmids() []int {
	ids := make([]int, 0, len(w.guests))
	for id := range w.guests {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func (w *cluster) pid() int {
	w.nextPID += 1 + int(w.rng.Uint32()%7)
	return w.nextPID
}

func (w *cluster) uuid() string {
	a, b := w.rng.Uint64(), w.rng.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", uint32(a>>32), uint16(a>>16), a&0xfff,
		0x8000|uint16(b>>48)&0x3fff, b&0xffffffffffff)
}

func (w *cluster) mac() string {
	r := w.rng.Uint32()
	return fmt.Sprintf("BC:24:11:%02X:%02X:%02X", byte(r>>16), byte(r>>8), byte(r))
}

// inPool reports whether a pool has a guest.
func (w *cluster) inPool(id string, vmid int) bool {
	p := w.poolOf(vmid)
	return p != nil && p.ID == id
}
