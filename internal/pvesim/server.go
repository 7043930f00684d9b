package pvesim

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"stackgen/internal/pvesim/clock"
	"stackgen/internal/pvesim/schema"
)

// Options configures a simulator.
type Options struct {
	Seed    *Seed         // nil for the default cluster
	Version string        // API version, "8.4" or "9"; empty for the seed's version
	Number  uint64        // seed of the random number generator
	Latency time.Duration // added to every response
	Clock   clock.Clock   // nil for real time
	Log     io.Writer     // request log as JSON lines, nil for none

	// NoAuthDelay omits the three seconds before the response to a failed
	// login.
	NoAuthDelay bool
	// Durations may set the duration of a task, by its type and guest.
	Durations func(kind string, vmid int) (time.Duration, bool)
	// Bandwidth of copies on each storage, in bytes a second; 0 for that of the seed.
	Bandwidth Size
	// ReportPhase shifts the times at which nodes report, by node name.
	ReportPhase map[string]time.Duration
	// Web responds to the requests of nodes for URLs, in place of the network.
	Web func(Fetch) *Remote
}

// Server is a simulated cluster with its API.
type Server struct {
	opts     Options
	api      *schema.API
	handlers map[string]handler
	w        *cluster
	clk      clock.Clock
	log      requestLog
	faults   *faultSet

	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
	mu     sync.Mutex
	ln     *listener // nil before Start
}

type handler func(*call) (any, error)

// New makes a cluster. It listens after Start.
func New(o Options) (*Server, error) {
	if o.Seed == nil {
		s, err := DefaultSeed()
		if err != nil {
			return nil, err
		}
		o.Seed = s
	}
	if o.Version != "" {
		o.Seed.Version = o.Version
	}
	if o.Seed.Version == "" {
		o.Seed.Version = "8.4"
	}
	if o.Number != 0 {
		o.Seed.Number = o.Number
	}
	if o.Clock == nil {
		o.Clock = clock.Real()
	}
	api, err := schema.Load(o.Seed.Version)
	if err != nil {
		return nil, err
	}
	w, err := newCluster(o.Seed, o.Clock.Now())
	if err != nil {
		return nil, err
	}
	for _, n := range w.nodes {
		if d, ok := o.ReportPhase[n.Name]; ok {
			n.phase = d
		}
	}
	w.durations = o.Durations
	for _, st := range o.Seed.Storages {
		if o.Bandwidth > 0 {
			st.Bandwidth = o.Bandwidth
		}
	}
	s := &Server{opts: o, api: api, handlers: allHandlers(), w: w, clk: o.Clock}
	s.log.out = o.Log
	s.faults, err = newFaultSet(o.Seed.Faults, o.Seed.Number)
	if err != nil {
		return nil, err
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s, nil
}

// Start serves the first node's view of the cluster over HTTPS, on an address such
// as 127.0.0.1:0. It may be called once.
func (s *Server) Start(listen string) error {
	l, err := newListener(s, s.w.nodes[0].Name, listen)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ln = l
	s.wg.Go(l.serve)
	return nil
}

// URL returns the served address without a path, or "" before Start.
func (s *Server) URL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ln == nil {
		return ""
	}
	return "https://" + s.ln.ln.Addr().String()
}

// Env returns the environment variables, as NAME=value, with which clients use
// the simulator.
func (s *Server) Env() []string {
	return []string{"PROXMOX_VE_ENDPOINT=" + s.URL() + "/", "PROXMOX_VE_API_TOKEN=" + s.Token(), "PROXMOX_VE_INSECURE=true"}
}

// Token returns the first token of the seed, as user@realm!id=secret.
func (s *Server) Token() string {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	for _, u := range s.w.seed.Users {
		for _, t := range u.Tokens {
			return u.ID + "!" + t.ID + "=" + t.Secret
		}
	}
	return ""
}

// Close stops the listener and waits for its connections to end.
func (s *Server) Close() error {
	s.cancel()
	s.mu.Lock()
	l := s.ln
	s.mu.Unlock()
	if l == nil {
		return nil
	}
	err := l.close()
	s.wg.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Do processes one request in the same process. The path may contain a query.
func (s *Server) Do(ctx context.Context, r Request) Response {
	path, query, _ := strings.Cut(r.Path, "?")
	entry := r.Node
	if entry == "" {
		entry = s.w.nodes[0].Name
	}
	resp := s.serve(ctx, &request{method: r.Method, path: path, query: query, header: r.Header, body: r.Body,
		chunks: r.Chunked, entry: entry})
	return Response{Status: resp.status, Reason: resp.reason, Type: resp.kind, Body: resp.body}
}
