package pvesim

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// Fault is something to go wrong: which requests it meets, and what it does.
type Fault struct {
	Name        string        `yaml:"name,omitempty" json:"name,omitempty"`
	Method      string        `yaml:"method,omitempty" json:"method,omitempty"`
	Path        string        `yaml:"path,omitempty" json:"path,omitempty"` // segments, * for one, ** for the rest
	VMID        int           `yaml:"vmid,omitempty" json:"vmid,omitempty"`
	After       int           `yaml:"after,omitempty" json:"after,omitempty"` // matching requests to let pass first
	Count       int           `yaml:"count,omitempty" json:"count,omitempty"` // 0 for every time
	Probability float64       `yaml:"probability,omitempty" json:"probability,omitempty"`
	Do          string        `yaml:"do" json:"do"`
	Status      int           `yaml:"status,omitempty" json:"status,omitempty"`
	Message     string        `yaml:"message,omitempty" json:"message,omitempty"`
	Delay       time.Duration `yaml:"delay,omitempty" json:"-"`
	DelayText   string        `yaml:"-" json:"delay,omitempty"`
	Node        string        `yaml:"node,omitempty" json:"node,omitempty"`
	Storage     string        `yaml:"storage,omitempty" json:"storage,omitempty"`
	Token       string        `yaml:"token,omitempty" json:"token,omitempty"`
	Lock        string        `yaml:"lock,omitempty" json:"lock,omitempty"`

	Hits int `yaml:"-" json:"hits"`
	seen int
	rng  *rand.Rand
	old  map[int]*published // what lists showed when an alternation began
	turn bool
}

// The things a fault can do.
const (
	DoLatency     = "latency"      // wait, then answer
	DoError       = "error"        // answer with status and message
	DoUnreachable = "unreachable"  // 595, the request does not happen
	DoTimeout     = "timeout"      // 596 after 30 s, the request happens afterwards
	DoLocked      = "locked"       // the guest of the request gets a lock first
	DoStale       = "stale"        // resource lists stand still for a while
	DoAlternate   = "alternate"    // every second resource list is as it was when the fault began
	DoKillWorker  = "kill-worker"  // the task the request starts dies without a word
	DoNodeLost    = "node-lost"    // the node's link is cut
	DoNodeDown    = "node-down"    // the node's API daemons stop
	DoNodeOnline  = "node-online"  // the node is back
	DoNoQuorum    = "no-quorum"    // every other node is cut off
	DoRevoke      = "revoke-token" // the token is gone
	DoFull        = "full-storage" // no volume fits any more
	DoNoTemplate  = "no-template"  // the guest's disks are gone
	DoReset       = "reset"        // the connection breaks in the middle of the answer
)

func faultKinds() []string {
	return []string{DoLatency, DoError, DoUnreachable, DoTimeout, DoLocked, DoStale, DoAlternate, DoKillWorker, DoNodeLost, DoNodeDown,
		DoNodeOnline, DoNoQuorum, DoRevoke, DoFull, DoNoTemplate, DoReset}
}

type faultSet struct {
	mu     sync.Mutex
	number uint64
	n      uint64
	list   []*Fault
}

func newFaultSet(list []*Fault, number uint64) (*faultSet, error) {
	fs := &faultSet{number: number}
	for _, f := range list {
		if err := fs.add(f); err != nil {
			return nil, fmt.Errorf("seed: %w", err)
		}
	}
	return fs, nil
}

func (fs *faultSet) add(f *Fault) error {
	if !slices.Contains(faultKinds(), f.Do) {
		return fmt.Errorf("fault %q: do %q is not one of %s", f.Name, f.Do, strings.Join(faultKinds(), ", "))
	}
	if f.DelayText != "" {
		d, err := time.ParseDuration(f.DelayText)
		if err != nil {
			return fmt.Errorf("fault %q: %w", f.Name, err)
		}
		f.Delay = d
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.n++
	f.rng = rand.New(rand.NewPCG(fs.number, fs.n))
	fs.list = append(fs.list, f)
	return nil
}

func (f *Fault) label() string { return cmp.Or(f.Name, f.Do) }

// pick finds the fault that meets a request, and counts.
func (fs *faultSet) pick(s *Server, r *request) *Fault {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if len(fs.list) == 0 {
		return nil
	}
	values, _ := readValues(r)
	touched := touches(r.path, values)
	for _, f := range fs.list {
		if !f.matches(r, touched) || f.Count > 0 && f.Hits >= f.Count {
			continue
		}
		f.seen++
		if f.seen <= f.After || f.Probability > 0 && f.rng.Float64() >= f.Probability {
			continue
		}
		f.Hits++
		return f
	}
	return nil
}

func (f *Fault) matches(r *request, touched []int) bool {
	if f.Method != "" && f.Method != r.method || f.VMID != 0 && !slices.Contains(touched, f.VMID) {
		return false
	}
	if f.Path == "" {
		return true
	}
	path := strings.TrimPrefix(r.path, "/api2/")
	_, path, _ = strings.Cut(path, "/")
	if dec, err := url.PathUnescape(path); err == nil {
		path = dec
	}
	have := strings.Split(strings.Trim(path, "/"), "/")
	want := strings.Split(strings.Trim(f.Path, "/"), "/")
	for i, seg := range want {
		if seg == "**" {
			return true
		}
		if i >= len(have) || seg != "*" && seg != have[i] {
			return false
		}
	}
	return len(have) == len(want)
}

// underFault answers a request, with what the fault changes about it.
func (s *Server) underFault(ctx context.Context, r *request, f *Fault) *reply {
	if f == nil {
		return s.answer(ctx, r)
	}
	delay := f.Delay
	switch f.Do {
	case DoLatency:
		s.pause(ctx, delay)
		return s.answer(ctx, r)
	case DoError:
		s.pause(ctx, delay)
		e := fail(max(f.Status, 400), "%s", cmp.Or(f.Message, "simulated failure"))
		e.bare = f.Status == 401 || f.Status >= 595
		return e.reply("json")
	case DoUnreachable:
		s.pause(ctx, delay)
		return &reply{status: 595, reason: cmp.Or(f.Message, "Connection refused")}
	case DoTimeout:
		return s.executedLater(ctx, r, f)
	case DoReset:
		resp := s.answer(ctx, r)
		resp.reset = true
		return resp
	case DoKillWorker:
		return s.killing(ctx, r, f)
	case DoAlternate:
		return s.alternating(ctx, r, f)
	}
	s.w.mu.Lock()
	s.w.advance(s.clk.Now())
	s.applyFault(f, r)
	s.w.mu.Unlock()
	if f.Do != DoStale { // its delay is how long the lists stand still, not the answer
		s.pause(ctx, delay)
	}
	return s.answer(ctx, r)
}

func (s *Server) pause(ctx context.Context, d time.Duration) {
	if d > 0 {
		// The end of the context shows in the answer itself.
		_ = s.clk.WaitUntil(ctx, s.clk.Now().Add(d))
	}
}

// proxyTimeout is when a proxy gives up on an answer.
const proxyTimeout = 30 * time.Second

// executedLater is 596: no answer in time, and the request happens all the same.
func (s *Server) executedLater(ctx context.Context, r *request, f *Fault) *reply {
	delay := f.Delay
	if delay == 0 {
		delay = proxyTimeout
	}
	_, path, early := splitPath(r)
	values, early2 := readValues(r)
	if early == nil && early2 == nil {
		c := &call{s: s, w: s.w, method: r.method, path: path, entry: r.entry, values: values}
		s.w.mu.Lock()
		s.w.advance(s.clk.Now())
		s.w.at(delay+time.Second, func() {
			c.since = s.w.now
			// Nobody is there to read what came of it.
			_, _ = s.once(c, r)
		})
		s.w.mu.Unlock()
	}
	s.pause(ctx, delay)
	return &reply{status: 596, reason: cmp.Or(f.Message, "Connection timed out")}
}

// killing lets the request start its task and then kills the worker.
func (s *Server) killing(ctx context.Context, r *request, f *Fault) *reply {
	s.w.mu.Lock()
	before := len(s.w.tasks)
	s.w.mu.Unlock()
	resp := s.answer(ctx, r)
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	for _, t := range s.w.tasks[min(before, len(s.w.tasks)):] {
		delay := f.Delay
		if delay == 0 {
			delay = 2 * forkDelay
		}
		s.w.at(delay, func() {
			if t.w != nil {
				t.w.kill()
			}
		})
	}
	return resp
}

// applyFault changes the world, from this request on.
func (s *Server) applyFault(f *Fault, r *request) {
	w := s.w
	values, _ := readValues(r)
	vmid := f.VMID
	if t := touches(r.path, values); vmid == 0 && len(t) > 0 {
		vmid = t[0]
	}
	g := w.guests[vmid]
	switch f.Do {
	case DoLocked:
		if g != nil {
			g.Config["lock"] = cmp.Or(f.Lock, "backup")
		}
	case DoStale:
		w.frozen = w.now.Add(max(f.Delay, beatInterval))
	case DoNodeLost, DoNodeDown, DoNodeOnline, DoNoQuorum:
		w.nodeFault(f, r.entry)
	case DoRevoke:
		user, id, _ := strings.Cut(f.Token, "!")
		if t := w.token(user, id); t != nil {
			t.Revoked = true
		}
	case DoFull:
		if st := w.storage(f.Storage); st != nil {
			st.Full = true
		}
	case DoNoTemplate:
		if g != nil {
			w.loseDisks(g)
		}
	}
}

func (w *world) nodeFault(f *Fault, entry string) {
	state := map[string]NodeState{DoNodeLost: NodeLost, DoNodeDown: NodeDown, DoNodeOnline: NodeOnline, DoNoQuorum: NodeLost}[f.Do]
	for _, n := range w.nodes {
		if n.Name == f.Node || f.Do == DoNoQuorum && n.Name != entry {
			w.setNode(n, state)
		}
	}
}

func (w *world) loseDisks(g *Guest) {
	for _, v := range append([]*Volume{}, w.seed.Volumes...) {
		if v.VMID == g.VMID && !strings.Contains(v.ID, "cloudinit") {
			w.removeVolume(v)
		}
	}
}
