package pvesim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"stackgen/internal/pvesim/clock"
	"stackgen/internal/pvesim/schema"
)

// Options say what to simulate.
type Options struct {
	Seed    *Seed         // nil for the default cluster
	Version string        // API version, "8.4" or "9"; empty takes the seed's
	Number  uint64        // seed number of everything that chance decides
	Latency time.Duration // added to every answer
	Clock   clock.Clock   // nil for real time
	Log     io.Writer     // request log as JSON lines, nil for none

	// NoAuthDelay leaves out the three seconds a refused login takes.
	NoAuthDelay bool
	// Durations may fix how long a worker of a kind takes for a guest.
	Durations func(kind string, vmid int) (time.Duration, bool)
	// BeatPhase shifts the moments nodes report at, by node name.
	BeatPhase map[string]time.Duration
}

// Server is a simulated cluster and the API in front of it.
type Server struct {
	opts     Options
	api      *schema.API
	handlers map[string]handler
	w        *world
	clk      clock.Clock
	log      requestLog
	faults   *faultSet

	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
	lns    []*listener
	lmu    sync.Mutex
}

type handler func(*call) (any, error)

// New makes a cluster; Start makes it reachable.
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
	w, err := newWorld(o.Seed, o.Clock.Now())
	if err != nil {
		return nil, err
	}
	for _, n := range w.nodes {
		if d, ok := o.BeatPhase[n.Name]; ok {
			n.phase = d
		}
	}
	w.durations = o.Durations
	s := &Server{opts: o, api: api, handlers: allHandlers(), w: w, clk: o.Clock}
	s.log.out = o.Log
	s.faults, err = newFaultSet(o.Seed.Faults, o.Seed.Number)
	if err != nil {
		return nil, err
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s, nil
}

// Start serves HTTPS on an address such as 127.0.0.1:0, as the first node.
func (s *Server) Start(listen string) error {
	return s.StartNode(s.w.nodes[0].Name, listen)
}

// StartNode serves one node's view of the cluster; several may be served.
func (s *Server) StartNode(node, listen string) error {
	if s.w.node(node) == nil {
		return fmt.Errorf("no node %q", node)
	}
	l, err := newListener(s, node, listen)
	if err != nil {
		return err
	}
	s.lmu.Lock()
	s.lns = append(s.lns, l)
	s.lmu.Unlock()
	s.wg.Add(1)
	go func() {
		defer s.wg.Done()
		l.serve()
	}()
	return nil
}

// URL is the address of the first node served, without a path.
func (s *Server) URL() string {
	s.lmu.Lock()
	defer s.lmu.Unlock()
	if len(s.lns) == 0 {
		return ""
	}
	return "https://" + s.lns[0].ln.Addr().String()
}

// Env is what makes a client use the simulator, as NAME=value.
func (s *Server) Env() []string {
	return []string{"PROXMOX_VE_ENDPOINT=" + s.URL() + "/", "PROXMOX_VE_API_TOKEN=" + s.Token(), "PROXMOX_VE_INSECURE=true"}
}

// Token is the first token of the seed, as user@realm!id=secret.
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

// Close stops serving and waits for the connections to end.
func (s *Server) Close() error {
	s.cancel()
	var errs []error
	s.lmu.Lock()
	for _, l := range s.lns {
		if err := l.close(); err != nil && !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	s.lmu.Unlock()
	s.wg.Wait()
	return errors.Join(errs...)
}

// Do answers one request in process, as the wire would. The path may carry a query.
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
