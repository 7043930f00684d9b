package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"stackgen/internal/pvesim"
	"stackgen/internal/pvesim/clock"
)

// What the recordings mask is this in the simulator.
const (
	secret   = "replay-secret"
	password = "replay"
)

// player holds one run of one scenario.
type player struct {
	s       *Scenario
	set     *setup
	sim     *pvesim.Server
	clk     *clock.Virtual
	start   time.Time
	ids     map[string]string // recorded identifiers and what they are here
	planned time.Duration
	hinted  bool
	ticket  string
	csrf    string
	user    string
	changes []nodeChange
	granted map[string]bool
	one     bool
}

func baseSeed(s *Scenario) (*pvesim.Seed, error) {
	name := "single"
	for _, e := range s.Exchanges {
		if strings.Contains(e.api(), "/nodes/pve1") || strings.Contains(e.api(), "/nodes/pve2") || strings.Contains(e.api(), "/nodes/pve3") || e.Via != "" {
			name = "cluster"
		}
	}
	raw, err := files.ReadFile("seeds/" + name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("base seed: %w", err)
	}
	return pvesim.ParseSeed(raw)
}

func newPlayer(s *Scenario, phase map[string]time.Duration) (*player, error) {
	seed, err := baseSeed(s)
	if err != nil {
		return nil, err
	}
	set, err := loadSetup(s.Name)
	if err != nil {
		return nil, err
	}
	set.Steps = append(set.Steps, infer(s, seed)...)
	editGuests(seed, set)
	p := &player{s: s, set: set, start: s.start(), ids: map[string]string{}, granted: map[string]bool{}, one: len(seed.Nodes) == 1, user: set.Ticket}
	p.clk = clock.NewVirtual(p.start.Add(-2*time.Second), true)
	if p.user == "" {
		p.user = ticketUser(s)
	}
	p.changes = append(inferNodes(s, seed), set.Nodes...)
	p.sim, err = pvesim.New(pvesim.Options{Seed: seed, Clock: p.clk, BeatPhase: phase,
		Durations: func(string, int) (time.Duration, bool) { return p.planned, p.hinted }})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	return p, nil
}

// ticketUser: who has a ticket before any login is who logs in later.
func ticketUser(s *Scenario) string {
	for _, e := range s.Exchanges {
		if e.api() == "/access/ticket" && e.Method == "POST" && e.ok() {
			return e.str("username")
		}
	}
	return ""
}

func editGuests(seed *pvesim.Seed, set *setup) {
	for vmid, conf := range set.Guests {
		g := pvesimGuest(seed, vmid)
		if g == nil {
			g = &pvesim.Guest{VMID: vmid, Node: seed.Nodes[0].Name, Config: map[string]string{}}
			seed.Guests = append(seed.Guests, g)
		}
		for k, v := range conf {
			switch {
			case k == "node":
				g.Node = *v
			case k == "running":
				g.Running = *v == "true"
			case v == nil:
				delete(g.Config, k)
			default:
				g.Config[k] = *v
			}
		}
	}
}

// play runs the scenario and returns the differences by exchange.
func (p *player) play() (map[int][]string, error) {
	out := map[int][]string{}
	for i, e := range p.s.Exchanges {
		p.advance(e.T)
		if err := p.prepare(e); err != nil {
			return nil, err
		}
		p.plan(i)
		resp := p.sim.Do(context.Background(), p.request(e))
		got := decode(resp)
		for n := 0; n < maxAmends && p.amend(e, resp, got); n++ {
			resp = p.sim.Do(context.Background(), p.request(e))
			got = decode(resp)
		}
		p.hinted = false
		if diffs := compare(p, e, resp, got); len(diffs) > 0 {
			out[e.Seq] = diffs
		}
		p.learn(e, got)
		if e.Dur > 0.5 {
			p.advance(e.T + e.Dur)
		}
	}
	return out, nil
}

// advance moves the clock and lets links and daemons fail and return on the way.
func (p *player) advance(t float64) {
	for len(p.changes) > 0 && p.changes[0].At <= t {
		c := p.changes[0]
		p.changes = p.changes[1:]
		p.clk.Set(p.start.Add(seconds(c.At)))
		// The names come from the seed, so this cannot fail.
		_ = p.sim.SetNode(c.Node, pvesim.NodeState(c.State))
	}
	p.clk.Set(p.start.Add(seconds(t)))
}

// prepare makes the calls the recording left out before this one.
func (p *player) prepare(e *Exchange) error {
	for _, st := range p.set.Steps {
		if st.Before != e.Seq {
			continue
		}
		if err := p.unrecorded(st); err != nil {
			return err
		}
	}
	p.noteGrant(e)
	return nil
}

func (p *player) unrecorded(st prepared) error {
	method, path, ok := strings.Cut(st.Do, " ")
	if !ok {
		return fmt.Errorf("setup of %s: %q is no call", p.s.Name, st.Do)
	}
	form := url.Values{}
	for k, v := range st.With {
		form.Set(k, v)
	}
	h := http.Header{}
	h.Set("Authorization", "PVEAPIToken=root@pam!test="+secret)
	req := pvesim.Request{Method: method, Path: "/api2/json" + path, Header: h}
	switch {
	case method == "GET" || method == "DELETE":
		if len(form) > 0 {
			req.Path += "?" + form.Encode()
		}
	default:
		h.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Body = []byte(form.Encode())
	}
	if resp := p.sim.Do(context.Background(), req); resp.Status != 200 {
		return fmt.Errorf("setup of %s: %s: %d %s", p.s.Name, st.Do, resp.Status, resp.Reason)
	}
	wait := st.Wait
	if wait == 0 {
		wait = 0.5
	}
	if st.Before <= 1 {
		// There is time before the first request: let tasks end.
		p.clk.Set(p.clk.Now().Add(seconds(wait)))
		p.start = maxTime(p.start, p.clk.Now())
	}
	return nil
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// plan looks ahead for how long the task this request starts took. Durations
// are no property of the API; here they only decide what later requests meet.
func (p *player) plan(i int) {
	e := p.s.Exchanges[i]
	p.hinted = false
	upid, ok := e.data().(string)
	if !ok || !upidPattern.MatchString(upid) {
		return
	}
	lastRunning, firstDone, failed := -1.0, -1.0, false
	for _, later := range p.s.Exchanges[i+1:] {
		path := strings.ReplaceAll(later.Path, "%21", "!")
		if later.Method == "DELETE" && strings.HasSuffix(path, upid) && firstDone < 0 {
			lastRunning, firstDone = later.T+later.Dur, -1
			break
		}
		if !strings.Contains(path, upid) || !strings.HasSuffix(path, "/status") || !later.ok() {
			continue
		}
		m, _ := later.data().(map[string]any)
		if exit, ok := m["exitstatus"]; ok && exit != "OK" {
			failed = true
		}
		if m["status"] == "running" {
			lastRunning = later.T + later.Dur
		} else if firstDone < 0 {
			firstDone = later.T
		}
	}
	switch {
	case firstDone >= 0 && lastRunning >= 0:
		p.planned = seconds((lastRunning+firstDone)/2 - e.T)
	case firstDone >= 0 && failed:
		p.planned = 0 // refusals are quick
	case firstDone >= 0:
		p.planned = min(seconds((firstDone-e.T)*0.6), 300*time.Millisecond)
	case lastRunning >= 0:
		p.planned = seconds(lastRunning-e.T) + time.Hour
	default:
		p.planned = 100 * time.Millisecond
	}
	p.hinted = true
}

// learn keeps identifiers the server made up, and what a login gave.
func (p *player) learn(e *Exchange, got any) {
	pairs(e.Response, got, func(want, have string) {
		if want != have && (upidPattern.MatchString(want) || len(want) == 40) {
			p.ids[want] = have
		}
	})
	if e.api() == "/access/ticket" && e.Method == "POST" && e.ok() {
		m, _ := got.(map[string]any)
		data, _ := m["data"].(map[string]any)
		p.ticket, _ = data["ticket"].(string)
		p.csrf, _ = data["CSRFPreventionToken"].(string)
		p.user, _ = data["username"].(string)
	}
}

// pairs visits the strings two answers have in the same places.
func pairs(a, b any, visit func(string, string)) {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			for k := range x {
				pairs(x[k], y[k], visit)
			}
		}
	case []any:
		if y, ok := b.([]any); ok && len(x) == len(y) {
			for i := range x {
				pairs(x[i], y[i], visit)
			}
		}
	case string:
		if y, ok := b.(string); ok {
			visit(x, y)
		}
	}
}

func decode(r pvesim.Response) any {
	if !strings.HasPrefix(r.Type, "application/json") {
		return string(r.Body)
	}
	dec := json.NewDecoder(strings.NewReader(string(r.Body)))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return string(r.Body)
	}
	return v
}
