package replay

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"stackgen/internal/pvesim"
	"stackgen/internal/pvesim/clock"
)

// Credentials that replace the masked ones of the recordings.
const (
	secret   = "replay-secret"
	password = "replay-password"

	publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA replay"
)

// player replays one scenario once.
type player struct {
	s        *Scenario
	base     base
	set      *setup
	sim      *pvesim.Server
	clk      *clock.Virtual
	start    time.Time
	ids      map[string]string // identifiers of this run by recorded identifier
	secrets  map[string]string // of tokens that the scenario makes
	planned  time.Duration
	hinted   bool
	tickets  map[string]session // by user
	user     string             // of the last ticket
	admin    string             // token of the administrator's unrecorded steps
	changes  []nodeChange
	granted  map[string]bool
	rights   map[string]*rights
	locked   map[int]bool
	scope    []string        // paths on which a user with few privileges has them
	statics  map[string]bool // addresses of containers
	created  map[int]float64 // when the tasks end that create guests
	prepared []string
	one      bool
	now      int // the exchange that is replayed
}

func newPlayer(s *Scenario, phase map[string]time.Duration, reused bool) (*player, error) {
	from := baseOf(s)
	seed, err := from.seed()
	if err != nil {
		return nil, err
	}
	set, err := loadSetup(s.Name)
	if err != nil {
		return nil, err
	}
	if !from.complete {
		set.Steps = append(set.Steps, infer(s, seed)...)
	}
	editGuests(seed, set)
	var log []string
	if reused {
		log = earlierReports(s, seed)
	}
	p := &player{s: s, base: from, set: set, start: s.start(), user: set.Ticket, prepared: log, one: len(seed.Nodes) == 1,
		ids: map[string]string{}, secrets: map[string]string{}, tickets: map[string]session{}, admin: adminToken(seed),
		granted: map[string]bool{}, rights: map[string]*rights{}, locked: map[int]bool{}}
	p.statics, p.created = s.statics(), map[int]float64{}
	p.clk = clock.NewVirtual(p.start.Add(-2*time.Second), true)
	if p.user == "" {
		p.user = ticketUser(s)
	}
	p.changes = append(inferNodes(s, seed), set.Nodes...)
	p.sim, err = pvesim.New(pvesim.Options{Seed: seed, Clock: p.clk, ReportPhase: phase, Web: p.web,
		Durations: p.duration})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	p.sim.Change(func(s *pvesim.Seed) {
		kept := s.Volumes[:0]
		for _, v := range s.Volumes {
			if !slices.Contains(set.Lose, v.VMID) {
				kept = append(kept, v)
			}
		}
		s.Volumes = kept
	})
	return p, nil
}

// session is what a login returns.
type session struct{ ticket, csrf string }

// adminToken returns a token of root.
func adminToken(seed *pvesim.Seed) string {
	if u := findUser(seed, "root@pam"); u != nil && len(u.Tokens) > 0 {
		return u.ID + "!" + u.Tokens[0].ID
	}
	return ""
}

// ticketUser returns the user of a ticket that the scenario has before any
// login: the user who logs in later.
func ticketUser(s *Scenario) string {
	for _, e := range s.Exchanges {
		if e.api() == "/access/ticket" && e.Method == http.MethodPost && e.ok() {
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

// play replays the scenario and returns the differences by exchange.
func (p *player) play() (map[int][]string, error) {
	out := map[int][]string{}
	for i, e := range p.s.Exchanges {
		p.now = i
		p.advance(e.T)
		if err := p.prepare(e); err != nil {
			return nil, err
		}
		p.followAdministrator(i)
		p.meetPreconditions(i)
		p.followGuestOS(i)
		p.revoke(e)
		p.planDuration(i)
		resp := p.sim.Do(context.Background(), p.request(e))
		got := decode(resp)
		for n := 0; n < maxUnrecordedSteps && !p.base.complete && p.addUnrecordedStep(e, resp, got); n++ {
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

// advance moves the clock, and changes the states of nodes on the way.
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

// prepare carries out the unrecorded calls before an exchange.
func (p *player) prepare(e *Exchange) error {
	for _, st := range p.set.Steps {
		if st.Before != e.Seq {
			continue
		}
		if err := p.runStep(st); err != nil {
			return err
		}
	}
	p.grantFromNote(e)
	p.followNote(e)
	return nil
}

func (p *player) runStep(st prepared) error {
	method, path, ok := strings.Cut(st.Do, " ")
	if !ok {
		return fmt.Errorf("setup of %s: %q is not METHOD PATH", p.s.Name, st.Do)
	}
	form := url.Values{}
	for k, v := range st.With {
		form.Set(k, v)
	}
	h := http.Header{}
	h.Set("Authorization", "PVEAPIToken="+p.admin+"="+secret)
	req := pvesim.Request{Method: method, Path: "/api2/json" + path, Header: h}
	switch method {
	case http.MethodGet, http.MethodDelete:
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
		// Let tasks end before the first request.
		p.clk.Set(p.clk.Now().Add(seconds(wait)))
		if now := p.clk.Now(); now.After(p.start) {
			p.start = now
		}
	}
	return nil
}

// planDuration sets the duration of the task that a request starts from later
// requests. Durations are not part of the API; here they only decide which
// state later requests find.
func (p *player) planDuration(i int) {
	e := p.s.Exchanges[i]
	p.hinted = false
	upid, ok := e.data().(string)
	if !ok || !upidPattern.MatchString(upid) {
		return
	}
	lastRunning, firstDone, failed := -1.0, -1.0, false
	for _, later := range p.s.Exchanges[i+1:] {
		path := strings.ReplaceAll(later.Path, "%21", "!")
		if later.Method == http.MethodDelete && strings.HasSuffix(path, upid) && firstDone < 0 {
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
		begun := max(e.T, p.clk.Now().Sub(p.start).Seconds())
		p.planned = seconds((lastRunning+firstDone)/2 - begun)
	case firstDone >= 0 && failed:
		p.planned = 0 // errors are quick
	case firstDone >= 0:
		p.planned = min(seconds((firstDone-e.T)*0.6), 300*time.Millisecond)
	case lastRunning < 0 && p.lockedUntil(i) >= 0:
		p.planned = seconds(p.lockedUntil(i)-e.T) + 100*time.Millisecond
	case lastRunning >= 0:
		p.planned = seconds(lastRunning-e.T) + time.Hour
	default:
		p.planned = 100 * time.Millisecond
	}
	p.hinted = true
	p.created[number(e.str("vmid"))] = max(e.T, p.clk.Now().Sub(p.start).Seconds()) + p.planned.Seconds()
}

// lockedUntil returns when a list last shows the lock of the clone or migration that
// a request starts, or -1.
func (p *player) lockedUntil(i int) float64 {
	e := p.s.Exchanges[i]
	_, _, vmid, rest := e.guest()
	switch rest {
	case "/clone":
		vmid = number(e.str("newid"))
	case "/migrate":
	default:
		return -1
	}
	last := -1.0
	for _, later := range p.s.Exchanges[i+1:] {
		if _, _, id, part := later.guest(); id == vmid && part == "" && later.Method == http.MethodDelete || number(later.str("newid")) == vmid {
			break
		}
		for _, x := range later.list() {
			if later.api() == "/cluster/resources" && number(x["vmid"]) == vmid && x["lock"] == rest[1:] {
				last = later.T + later.Dur
			}
		}
	}
	return last
}
