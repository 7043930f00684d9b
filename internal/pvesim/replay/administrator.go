package replay

import (
	"net/http"
	"regexp"
	"strings"

	"stackgen/internal/pvesim"
)

// pauseForSteps is the time between two requests, in seconds, in which the recorder may
// have done something that is not recorded.
const pauseForSteps = 0.8

var (
	lockedText  = regexp.MustCompile(`^(VM|CT) is locked`)
	offText     = regexp.MustCompile(`^(VM|CT) .* not running$`)
	lockInNote  = regexp.MustCompile(`\blocked \(([a-z-]+)\)`)
	powerInNote = regexp.MustCompile(`(?i)\b(?:VM|CT) (running|stopped)\b|, (running|stopped)\b`)
)

// followAdministrator sets the power and the lock of a guest before a request as its
// note says or as later responses prove, if an unrecorded step may have changed them.
func (p *player) followAdministrator(i int) {
	e := p.s.Exchanges[i]
	if p.base.complete || i > 0 && e.T-p.s.Exchanges[i-1].T-p.s.Exchanges[i-1].Dur < pauseForSteps && lockInNote.FindString(e.Note) == "" {
		return
	}
	for _, vmid := range p.guestsFrom(i) {
		on, proven := p.provenPower(i, vmid)
		p.sim.Change(func(s *pvesim.Seed) {
			g := pvesimGuest(s, vmid)
			if g == nil {
				return
			}
			if m := lockInNote.FindStringSubmatch(e.Note); m != nil && g.Config["lock"] == "" {
				g.Config["lock"], p.locked[vmid] = m[1], true
				p.log("lock %s of %d before %d", m[1], vmid, e.Seq)
			}
			if proven {
				if what := setPower(p, g, on); what != "" {
					p.log("%s of %d before %d", what, vmid, e.Seq)
				}
			}
		})
	}
}

// guestsFrom returns the guests of a request and of those that follow it at once.
func (p *player) guestsFrom(i int) []int {
	var out []int
	seen := map[int]bool{}
	for _, e := range p.s.Exchanges[i:] {
		if _, _, vmid, _ := e.guest(); vmid != 0 && !seen[vmid] {
			seen[vmid] = true
			out = append(out, vmid)
		}
	}
	return out
}

// provenPower returns whether a guest runs before a request, if its note or a response
// says so before any request can change it.
func (p *player) provenPower(i, vmid int) (on, proven bool) {
	for j := i; j < len(p.s.Exchanges); j++ {
		e := p.s.Exchanges[j]
		_, _, id, rest := e.guest()
		if id != vmid {
			continue
		}
		if m := powerInNote.FindStringSubmatch(e.Note); m != nil {
			return m[1]+m[2] == "running", true
		}
		if on, proven := p.powerShown(j, rest); proven {
			return on, true
		}
		if e.Method != http.MethodGet && e.ok() {
			return false, false
		}
	}
	return false, false
}

// powerShown reads the power of a guest from one exchange.
func (p *player) powerShown(i int, rest string) (on, shown bool) {
	e := p.s.Exchanges[i]
	switch {
	case e.Method == http.MethodGet && rest == "/status/current" && e.ok():
		m, _ := e.data().(map[string]any)
		return m["status"] == "running", true
	case e.Method == http.MethodGet && rest == "/snapshot" && e.ok():
		for _, m := range e.list() {
			if m["name"] == "current" && m["running"] != nil {
				return number(m["running"]) == 1, true
			}
		}
	case e.Method == http.MethodDelete && rest == "" && e.ok() && e.str("force") != "1":
		return false, true
	case e.Reason == "no spice port":
		return true, true
	case strings.HasPrefix(rest, "/status/") && rest != "/status/start" && lockedText.MatchString(p.exitStatus(i)):
		return true, true
	case offText.MatchString(e.Reason):
		return false, true
	}
	return false, false
}

// followGuestOS gives a guest an operating system that reacts to a shutdown, or takes
// it, as the end of the recorded task proves.
func (p *player) followGuestOS(i int) {
	e := p.s.Exchanges[i]
	_, _, vmid, rest := e.guest()
	if p.base.complete || !e.ok() || rest != "/status/shutdown" && rest != "/status/reboot" {
		return
	}
	exit, forced := p.exitStatus(i), p.taskLogHas(i, "terminating now")
	p.sim.Change(func(s *pvesim.Seed) {
		g := pvesimGuest(s, vmid)
		switch {
		case g == nil || !g.Running:
		case exit == "OK" && !forced && g.Agent.Mode == "":
			g.Agent.Mode = "silent"
			p.log("%d reacts to %s before %d", vmid, rest, e.Seq)
		case (forced || strings.HasSuffix(exit, "got timeout")) && g.Agent.Mode == "silent":
			g.Agent.Mode = ""
			p.log("%d does not react to %s before %d", vmid, rest, e.Seq)
		}
	})
}

// taskLogHas reports whether the log of the task that a request started has a text.
func (p *player) taskLogHas(i int, text string) bool {
	upid, _ := p.s.Exchanges[i].data().(string)
	for _, e := range p.s.Exchanges[i+1:] {
		if upid == "" || !strings.HasSuffix(strings.ReplaceAll(e.Path, "%21", "!"), upid+"/log") {
			continue
		}
		for _, line := range e.list() {
			if s, ok := line["t"].(string); ok && strings.Contains(s, text) {
				return true
			}
		}
	}
	return false
}

// endedByAdministrator ends a task that the recording shows as interrupted, if no
// recorded request ended it.
func (p *player) endedByAdministrator(e *Exchange, got any) bool {
	want, _ := e.data().(map[string]any)
	m, _ := got.(map[string]any)
	have, _ := m["data"].(map[string]any)
	if want["exitstatus"] != "received interrupt" || have["status"] != "running" {
		return false
	}
	upid, ok := have["upid"].(string)
	if !ok {
		return false
	}
	p.log("%s is stopped before %d", upid, e.Seq)
	return p.runStep(prepared{Before: 2, Do: "DELETE /nodes/" + strings.Split(upid, ":")[1] + "/tasks/" + upid}) == nil
}
