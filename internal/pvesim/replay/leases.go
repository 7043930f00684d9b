package replay

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"
)

var staticAddress = regexp.MustCompile(`\bip6?=([0-9a-fA-F.:]+)/`)

// statics returns the addresses of NICs of containers that the recording shows in requests and
// configurations. All others came from a DHCP server.
func (s *Scenario) statics() map[string]bool {
	out := map[string]bool{"127.0.0.1": true, "::1": true}
	for _, e := range s.Exchanges {
		for _, m := range staticAddress.FindAllStringSubmatch(fmt.Sprint(e.form, e.Response), -1) {
			out[m[1]] = true
		}
	}
	return out
}

// dynamic reports whether two addresses of a container came from a DHCP server.
func (p *player) dynamic(want, got string) bool {
	ip := func(v string) string {
		a, _, _ := strings.Cut(v, "/")
		return a
	}
	return !p.statics[ip(want)] && !p.statics[ip(got)]
}

// leaseAfter returns when a container that starts now gets an address from a DHCP server, from the
// lists of its interfaces until something changes it.
func (p *player) leaseAfter(vmid int) (time.Duration, bool) {
	now := p.clk.Now().Sub(p.start).Seconds()
	empty := -1.0
	for _, e := range p.s.Exchanges {
		_, _, id, rest := e.guest()
		if id != vmid || e.T < now {
			continue
		}
		if e.Method != http.MethodGet && e.ok() {
			break
		}
		if rest != "/interfaces" || !e.ok() {
			continue
		}
		if p.hasLease(e) {
			if empty < 0 {
				return 0, true
			}
			return seconds((empty+e.T)/2 - now), true
		}
		empty = e.T
	}
	return 1000 * time.Hour, empty >= 0
}

// hasLease reports whether a list of interfaces has an address that a DHCP server gave.
func (p *player) hasLease(e *Exchange) bool {
	for _, m := range e.list() {
		for _, a := range asMaps(m["ip-addresses"]) {
			if ip := fmt.Sprint(a["ip-address"]); !p.statics[ip] && !strings.HasPrefix(ip, "fe80:") {
				return true
			}
		}
	}
	return false
}

// duration returns how long a task takes, or until a container has an address.
func (p *player) duration(kind string, vmid int) (time.Duration, bool) {
	if kind == "dhcp" {
		return p.leaseAfter(vmid)
	}
	if kind == "vzstart" && !p.hinted {
		return p.startAfter(vmid)
	}
	return p.planned, p.hinted
}

// startAfter returns how long the start of a container takes that the task of its creation began,
// from its status in later requests.
func (p *player) startAfter(vmid int) (time.Duration, bool) {
	now := p.created[vmid]
	stopped := now
	for _, e := range p.s.Exchanges {
		_, _, id, rest := e.guest()
		if m, _ := e.data().(map[string]any); id == vmid && e.T > now && rest == "/status/current" && e.ok() {
			if m["status"] == "running" {
				return seconds((stopped+max(stopped, e.T))/2 - now), true
			}
			stopped = e.T
		}
	}
	return 0, false
}
