package replay

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"stackgen/internal/pvesim"
)

// precondition is a state that an error response proves, and how to set it.
type precondition struct {
	text *regexp.Regexp
	make func(p *player, g *pvesim.Guest, m []string) string
}

var preconditions = []precondition{
	{regexp.MustCompile(`^(?:VM|CT) is locked \((backup|suspended|suspending|rollback|create|snapshot|snapshot-delete)\)`), setLock},
	{regexp.MustCompile(`protection mode enabled`), setProtection},
	{regexp.MustCompile(`^(?:VM|CT) \d+ (is running - destroy failed|already running)|^can't migrate running (VM|container)|` +
		`container is running$|of a running container$|on a running container |if the CT is running$`),
		func(p *player, g *pvesim.Guest, _ []string) string { return setPower(p, g, true) }},
	{regexp.MustCompile(`^(?:VM|CT) \d+ (is )?not running`),
		func(p *player, g *pvesim.Guest, _ []string) string { return setPower(p, g, false) }},
}

// setLock sets the lock that an error names, and returns what it changed.
func setLock(p *player, g *pvesim.Guest, m []string) string {
	if g.Config["lock"] != "" {
		return ""
	}
	g.Config["lock"] = m[1]
	p.locked[g.VMID] = true
	return "lock " + m[1]
}

// setProtection protects a guest, and returns what it changed.
func setProtection(_ *player, g *pvesim.Guest, _ []string) string {
	if g.Config["protection"] == "1" {
		return ""
	}
	g.Config["protection"] = "1"
	return "protection"
}

func setPower(p *player, g *pvesim.Guest, on bool) string {
	if g.Running == on {
		return ""
	}
	g.Running = on
	g.Started = p.clk.Now()
	return fmt.Sprintf("running: %t", on)
}

// meetPreconditions sets the lock, protection or power state that the recorded
// error needs, unless a recorded request may have set it.
func (p *player) meetPreconditions(i int) {
	e := p.s.Exchanges[i]
	_, _, vmid, rest := e.guest()
	if vmid == 0 {
		return
	}
	text := e.Reason
	if e.ok() {
		text = p.exitStatus(i)
	}
	p.sim.Change(func(s *pvesim.Seed) {
		g := pvesimGuest(s, vmid)
		if g == nil {
			return
		}
		p.followLock(e, g, rest)
		if p.locked[vmid] && e.ok() && e.Method != http.MethodGet && !strings.Contains(text, "locked") && !lockInNote.MatchString(e.Note) {
			delete(g.Config, "lock")
			delete(p.locked, vmid)
			p.log("unlock %d before %d", vmid, e.Seq)
		}
		possible := preconditions
		if p.base.complete {
			possible = possible[:1] // only an administrator locks a guest
		}
		for _, o := range possible {
			m := o.text.FindStringSubmatch(text)
			// No request locks a guest for a backup, so it was an administrator.
			if m == nil || !slices.Contains(m, "backup") && p.explainedByRequest(i, vmid) {
				continue
			}
			if what := o.make(p, g, m); what != "" {
				p.log("%s of %d before %d %s", what, vmid, e.Seq, rest)
			}
		}
	})
}

// followLock sets and removes the lock of a backup as the recorded configuration
// shows it: no request does that.
func (p *player) followLock(e *Exchange, g *pvesim.Guest, rest string) {
	m, ok := e.data().(map[string]any)
	if !ok || e.Method != http.MethodGet || !e.ok() || rest != "/config" && rest != "/status/current" {
		return
	}
	switch {
	case m["lock"] == "backup" && g.Config["lock"] == "":
		g.Config["lock"], p.locked[g.VMID] = "backup", true
		p.log("lock backup of %d before %d", g.VMID, e.Seq)
	case m["lock"] == nil && p.locked[g.VMID]:
		delete(g.Config, "lock")
		delete(p.locked, g.VMID)
		p.log("unlock %d before %d", g.VMID, e.Seq)
	}
}

// explainedByRequest reports whether an earlier request may have set the state
// of the guest.
func (p *player) explainedByRequest(i, vmid int) bool {
	for _, e := range p.s.Exchanges[:i] {
		_, _, id, rest := e.guest()
		if id != vmid || e.Method == http.MethodGet || !e.ok() {
			continue
		}
		switch rest {
		case "/status/start", "/status/stop", "/status/shutdown", "/status/suspend", "/snapshot", "/migrate", "/status/reboot":
			return true
		}
		if e.str("protection") != "" || strings.Contains(e.str("delete"), "protection") {
			return true
		}
	}
	return false
}

// exitStatus returns the exit status of the task that a request started, from
// later requests.
func (p *player) exitStatus(i int) string {
	upid, _ := p.s.Exchanges[i].data().(string)
	if !upidPattern.MatchString(upid) {
		return ""
	}
	for _, x := range p.s.Exchanges[i+1:] {
		if !strings.Contains(strings.ReplaceAll(x.Path, "%21", "!"), upid) || !strings.HasSuffix(x.Path, "/status") {
			continue
		}
		if m, ok := x.data().(map[string]any); ok && m["exitstatus"] != nil {
			return fmt.Sprint(m["exitstatus"])
		}
	}
	return ""
}

// addMissingGuest adds or moves a guest that the recorded server has, if no
// recorded request created or moved it.
func (p *player) addMissingGuest(e *Exchange, resp pvesim.Response) bool {
	node, kind, vmid, _ := e.guest()
	gone := strings.Contains(resp.Reason, "onfiguration file") && resp.Status == 500
	if vmid == 0 || !gone || !e.ok() || p.changedByScenario(vmid) {
		return false
	}
	if p.moveGuest(vmid, node) {
		p.log("%d is on %s before %d", vmid, node, e.Seq)
		return true
	}
	t := &trace{vmid: vmid, node: node, kind: kind, exists: true, touched: map[string]bool{}, conf: p.configFrom(e, vmid)}
	seed, err := p.base.seed()
	if err != nil {
		return false
	}
	in := &inferred{s: p.s, seed: seed, one: p.one}
	in.addGuest(t)
	g := pvesimGuest(seed, vmid)
	if g == nil || p.sim.Add(g) != nil {
		return false
	}
	p.log("%d appears before %d", vmid, e.Seq)
	return true
}

// moveGuest moves a guest to a node, and reports whether it was on another one.
func (p *player) moveGuest(vmid int, node string) (moved bool) {
	p.sim.Change(func(s *pvesim.Seed) {
		g := pvesimGuest(s, vmid)
		if g == nil || g.Node == node {
			return
		}
		for _, v := range s.Volumes {
			if v.VMID == vmid && v.Node == g.Node {
				v.Node = node
			}
		}
		g.Node, moved = node, true
	})
	return moved
}

// configFrom returns the first configuration of a guest that the recording shows from a
// request on, or nil.
func (p *player) configFrom(e *Exchange, vmid int) map[string]any {
	for _, x := range p.s.Exchanges {
		_, _, id, rest := x.guest()
		if id != vmid || rest != "/config" || x.Method != http.MethodGet || !x.ok() || x.T < e.T {
			continue
		}
		if conf, ok := x.data().(map[string]any); ok {
			return conf
		}
	}
	return nil
}

// changedByScenario reports whether the scenario itself creates, moves or
// deletes a guest.
func (p *player) changedByScenario(vmid int) bool {
	return slices.ContainsFunc(p.s.Exchanges, func(e *Exchange) bool {
		_, _, id, rest := e.guest()
		moves := rest == "/migrate" && e.Method == http.MethodPost
		deletes := rest == "" && e.Method == http.MethodDelete
		return e.creates(vmid) || id == vmid && e.ok() && (moves || deletes)
	})
}

// log records an unrecorded step, for -v.
func (p *player) log(format string, args ...any) {
	p.prepared = append(p.prepared, p.s.Name+": "+fmt.Sprintf(format, args...))
}
