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

// Fault is a fault to inject: the requests that it affects, and its effect.
// Empty fields match every request.
type Fault struct {
	Name        string        `yaml:"name,omitempty" json:"name,omitempty"`
	Method      string        `yaml:"method,omitempty" json:"method,omitempty"`
	Path        string        `yaml:"path,omitempty" json:"path,omitempty"` // * matches one segment, ** the rest
	VMID        int           `yaml:"vmid,omitempty" json:"vmid,omitempty"`
	After       int           `yaml:"after,omitempty" json:"after,omitempty"` // number of matching requests to skip
	Count       int           `yaml:"count,omitempty" json:"count,omitempty"` // 0 for no limit
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
	old  map[int]*published // reports at the time an alternation began
	turn bool
}

// The effects of a fault.
const (
	DoLatency     = "latency"      // respond after a delay
	DoError       = "error"        // respond with status and message
	DoUnreachable = "unreachable"  // 595, the request is not executed
	DoTimeout     = "timeout"      // 596 after 30 s, the request is executed afterwards
	DoLocked      = "locked"       // the guest of the request is locked first
	DoStale       = "stale"        // resource lists do not change for a while
	DoAlternate   = "alternate"    // every second resource list is the one from when the fault began
	DoKillWorker  = "kill-worker"  // the worker of the task that the request starts is killed
	DoNodeLost    = "node-lost"    // the network link of the node is cut
	DoNodeDown    = "node-down"    // the node's API daemons stop
	DoNodeOnline  = "node-online"  // the node is online again
	DoNoQuorum    = "no-quorum"    // the links of all other nodes are cut
	DoRevoke      = "revoke-token" // the token is deleted
	DoFull        = "full-storage" // the storage is full
	DoNoTemplate  = "no-template"  // the disks of the guest are deleted
	DoReset       = "reset"        // the connection is reset in the middle of the response
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

// pick returns the fault that affects a request, and counts it.
func (fs *faultSet) pick(r *request) *Fault {
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

// serveWithFault responds to a request under a fault.
func (s *Server) serveWithFault(ctx context.Context, r *request, f *Fault) *reply {
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
		return s.executeAfterTimeout(ctx, r, f)
	case DoReset:
		resp := s.answer(ctx, r)
		resp.reset = true
		return resp
	case DoKillWorker:
		return s.killWorker(ctx, r, f)
	case DoAlternate:
		return s.alternating(ctx, r, f)
	}
	s.w.mu.Lock()
	s.w.advance(s.clk.Now())
	s.applyFault(f, r)
	s.w.mu.Unlock()
	if f.Do != DoStale { // its delay is the age of the lists
		s.pause(ctx, delay)
	}
	return s.answer(ctx, r)
}

func (s *Server) pause(ctx context.Context, d time.Duration) {
	if d > 0 {
		// The response itself reports a cancelled context.
		_ = s.clk.WaitUntil(ctx, s.clk.Now().Add(d))
	}
}

// proxyTimeout is the time after which a proxying node gives up.
const proxyTimeout = 30 * time.Second

// executeAfterTimeout returns 596 and executes the request afterwards.
func (s *Server) executeAfterTimeout(ctx context.Context, r *request, f *Fault) *reply {
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
			// No client reads the response.
			_, _ = s.try(c, r)
		})
		s.w.mu.Unlock()
	}
	s.pause(ctx, delay)
	return &reply{status: 596, reason: cmp.Or(f.Message, "Connection timed out")}
}

// killWorker lets the request start its task and then kills the worker.
func (s *Server) killWorker(ctx context.Context, r *request, f *Fault) *reply {
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

// applyFault changes the state of the cluster before the request.
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
		w.frozen = w.now.Add(max(f.Delay, reportInterval))
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

func (w *cluster) nodeFault(f *Fault, entry string) {
	state := map[string]NodeState{DoNodeLost: NodeLost, DoNodeDown: NodeDown, DoNodeOnline: NodeOnline, DoNoQuorum: NodeLost}[f.Do]
	for _, n := range w.nodes {
		if n.Name == f.Node || f.Do == DoNoQuorum && n.Name != entry {
			w.setNode(n, state)
		}
	}
}

func (w *cluster) loseDisks(g *Guest) {
	for _, v := range append([]*Volume{}, w.seed.Volumes...) {
		if v.VMID == g.VMID && !strings.Contains(v.ID, "cloudinit") {
			w.removeVolume(v)
		}
	}
}
