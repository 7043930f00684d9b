package replay

import (
	"fmt"
	"sort"
	"strings"

	"stackgen/internal/pvesim"
)

// observation is what one exchange shows about the state of a node.
type observation struct {
	t      float64
	state  pvesim.NodeState
	direct bool // from a request to the node itself
	late   bool // its address has been unreachable for arpTimeout
	dur    float64
}

// arpTimeout is the time after a link is cut until its address is known to be
// unreachable.
const arpTimeout = 37.05

// membershipDelay is the time that the members need to agree on a change.
const membershipDelay = 4.05

// inferNodes infers when links were cut and daemons stopped, which no recorded
// client did.
func inferNodes(s *Scenario, seed *pvesim.Seed) []nodeChange {
	var out []nodeChange
	for _, n := range seed.Nodes {
		out = append(out, changesOf(n, observe(s, n.Name))...)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].At < out[j].At })
	return out
}

func observe(s *Scenario, node string) []observation {
	var out []observation
	for _, e := range s.Exchanges {
		entry := e.Via
		if entry == "" {
			entry = "pve1"
		}
		if strings.HasPrefix(e.api(), "/nodes/"+node+"/") && node != entry {
			switch {
			case e.Status == 595 && strings.Contains(e.Reason, "refused"):
				out = append(out, observation{t: e.T, state: pvesim.NodeDown, direct: true})
			case e.Status == 595:
				out = append(out, observation{t: e.T, state: pvesim.NodeLost, direct: true, late: strings.Contains(e.Reason, "route"), dur: e.Dur})
			case e.Status == 200:
				out = append(out, observation{t: e.T, direct: true})
			}
		}
		if node != entry && (strings.Contains(e.Reason, "no quorum") || strings.Contains(e.ended(), ".conf.tmp.")) {
			out = append(out, observation{t: e.T, state: pvesim.NodeLost})
		}
		if e.ok() && (e.api() == "/cluster/status" || e.api() == "/nodes") {
			out = append(out, member(e, node)...)
		}
	}
	return out
}

// member reads the membership of a node from a status or node list.
func member(e *Exchange, node string) []observation {
	for _, m := range e.list() {
		if fmt.Sprint(m["name"]) != node && fmt.Sprint(m["node"]) != node {
			continue
		}
		if m["type"] != "node" {
			continue
		}
		on := number(m["online"]) == 1 || m["status"] == "online"
		if on {
			return []observation{{t: e.T}}
		}
		return []observation{{t: e.T, state: pvesim.NodeLost}}
	}
	return nil
}

// changesOf turns observations into changes of state. The first state goes into
// the seed if the node had it before the scenario.
func changesOf(n *pvesim.Node, list []observation) []nodeChange {
	var out []nodeChange
	state := pvesim.NodeOnline
	for i, s := range list {
		if s.state == pvesim.NodeOnline && !s.direct && state == pvesim.NodeDown {
			continue // a node with stopped daemons is still a member
		}
		if s.state == state {
			continue
		}
		if s.state == pvesim.NodeOnline && !s.direct && state == pvesim.NodeLost && pending(out, s.t) {
			continue
		}
		at := max(changeTime(s, list[i:]), lastDirect(list[:i])+0.3)
		if s.state == pvesim.NodeDown {
			at = lastDirect(list[:i]) + 0.3
		}
		if at <= 0 && s.state != pvesim.NodeOnline && len(out) == 0 && !onlineBefore(list[:i]) {
			n.State = s.state
			state = s.state
			continue
		}
		out = append(out, nodeChange{At: max(at, -1), Node: n.Name, State: string(s.state)})
		state = s.state
	}
	return out
}

// pending reports whether a node was lost too recently for the members to
// notice.
func pending(out []nodeChange, t float64) bool {
	return len(out) > 0 && t-out[len(out)-1].At < membershipDelay
}

// lastDirect returns when the node itself last responded.
func lastDirect(list []observation) float64 {
	at := -1000.0
	for _, s := range list {
		if s.direct && s.state == pvesim.NodeOnline {
			at = s.t
		}
	}
	return at
}

func onlineBefore(list []observation) bool {
	for _, s := range list {
		if s.state == pvesim.NodeOnline {
			return true
		}
	}
	return false
}

// changeTime returns the time of the change that explains this and the
// following observations.
func changeTime(s observation, rest []observation) float64 {
	at := s.t - 0.01
	if !s.direct {
		at = s.t - membershipDelay
	}
	if s.late {
		at = s.t + s.dur - arpTimeout
	}
	for _, next := range rest {
		if next.state != s.state {
			break
		}
		if next.late {
			at = min(at, next.t+next.dur-arpTimeout)
		}
	}
	return at
}
