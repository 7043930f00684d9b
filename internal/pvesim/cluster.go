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

// world is the simulated cluster. Every access holds mu.
type world struct {
	mu   sync.Mutex
	seed *Seed
	rng  *rand.Rand
	now  time.Time

	nodes      []*Node
	guests     map[int]*Guest
	tasks      []*Task
	byUPID     map[string]*Task
	events     eventQueue
	eventSeq   int
	locks      map[int]*flock
	transfers  map[string][]*transfer
	published  map[int]*published
	nodeStats  map[string]time.Time
	nextPID    int
	durations  func(kind string, vmid int) (time.Duration, bool)
	haActive   bool
	haLast     time.Time       // when the last entry went
	frozen     time.Time       // no node reports before
	haUsed     map[string]bool // nodes whose local agent had work
	turns      map[string]time.Time
	everything rights              // what root may do
	roles      map[string][]string // privileges by role
}

func newWorld(s *Seed, start time.Time) (*world, error) {
	w := &world{seed: s, rng: rand.New(rand.NewPCG(s.Number, 0x70766573696d)), now: start,
		guests: map[int]*Guest{}, byUPID: map[string]*Task{}, locks: map[int]*flock{},
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
	for _, st := range s.Storages {
		if st.Bandwidth == 0 {
			st.Bandwidth = Size(gib)
		}
		if st.Size == 0 {
			st.Size = Size(100 * gib)
		}
	}
	for _, v := range s.Volumes {
		v.Content = cmp.Or(v.Content, "images")
		v.Format = cmp.Or(v.Format, volumeFormat(v.ID))
		if v.Created.IsZero() {
			v.Created = start
		}
	}
	for _, g := range s.Guests {
		if err := w.adopt(g); err != nil {
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

func (w *world) addNode(i int, n *Node) {
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
	// Nodes report in turn, so that lists are old and new by node.
	n.phase = time.Duration(i) * 3 * time.Second
	n.boot = w.now.Add(-6 * time.Hour)
	n.since = w.now.Add(-time.Hour)
	w.nodes = append(w.nodes, n)
}

// adopt takes a guest of the seed in, with the volumes its disks name.
func (w *world) adopt(g *Guest) error {
	if g.Type == "" {
		g.Type = "qemu"
	}
	if w.node(g.Node) == nil {
		return fmt.Errorf("seed: guest %d: no node %q", g.VMID, g.Node)
	}
	if _, dup := w.guests[g.VMID]; dup {
		return fmt.Errorf("seed: guest %d twice", g.VMID)
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
		if isDriveKey(key) || strings.HasPrefix(key, "unused") || key == "rootfs" {
			w.ensureVolume(g, key, g.Config[key])
		}
	}
	return nil
}

// advance brings the world to a moment: due events happen in their order, and
// every node reports at its own beat.
func (w *world) advance(now time.Time) {
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

// report lets every node publish that had a beat since it last did.
func (w *world) report(now time.Time) {
	if now.Before(w.frozen) {
		return
	}
	for _, n := range w.nodes {
		beat := lastBeat(n, now)
		if beat.After(n.last) && n.alive(beat) {
			w.publish(n, beat)
		}
	}
}

// beatInterval is the status cycle of a node.
const beatInterval = 10 * time.Second

func lastBeat(n *Node, now time.Time) time.Time {
	base := now.Add(-n.phase)
	return base.Truncate(beatInterval).Add(n.phase)
}

func (w *world) node(name string) *Node {
	for _, n := range w.nodes {
		if n.Name == name {
			return n
		}
	}
	return nil
}

func (w *world) storage(id string) *Storage {
	for _, s := range w.seed.Storages {
		if s.ID == id {
			return s
		}
	}
	return nil
}

func (w *world) pool(id string) *Pool {
	for _, p := range w.seed.Pools {
		if p.ID == id {
			return p
		}
	}
	return nil
}

func (w *world) poolOf(vmid int) *Pool {
	for _, p := range w.seed.Pools {
		for _, v := range p.Guests {
			if v == vmid {
				return p
			}
		}
	}
	return nil
}

func (w *world) user(id string) *User {
	for _, u := range w.seed.Users {
		if u.ID == id {
			return u
		}
	}
	return nil
}

// vmids lists the guests in order, so that no answer depends on a map.
func (w *world) vmids() []int {
	ids := make([]int, 0, len(w.guests))
	for id := range w.guests {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func (w *world) pid() int {
	w.nextPID += 1 + int(w.rng.Uint32()%7)
	return w.nextPID
}

func (w *world) uuid() string {
	a, b := w.rng.Uint64(), w.rng.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", uint32(a>>32), uint16(a>>16), a&0xfff,
		0x8000|uint16(b>>48)&0x3fff, b&0xffffffffffff)
}

func (w *world) mac() string {
	r := w.rng.Uint32()
	return fmt.Sprintf("BC:24:11:%02X:%02X:%02X", byte(r>>16), byte(r>>8), byte(r))
}
