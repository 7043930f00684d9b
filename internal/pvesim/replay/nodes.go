package replay

import (
	"fmt"
	"sort"
	"strings"

	"stackgen/internal/pvesim"
)

// sight is what one exchange shows of a node.
type sight struct {
	t      float64
	state  pvesim.NodeState
	direct bool // the node itself answered or failed to
	late   bool // its address is known to be dead for a while
	dur    float64
}

// dead is when, after the cut, an address is known not to answer.
const dead = 37.05

// settle is the time the members need to agree on a change.
const settle = 4.05

// inferNodes works out when links were cut and daemons stopped: they are the
// world around the server, and nothing the recorded client did.
func inferNodes(s *Scenario, seed *pvesim.Seed) []nodeChange {
	var out []nodeChange
	for _, n := range seed.Nodes {
		out = append(out, changesOf(n, sights(s, n.Name))...)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].At < out[j].At })
	return out
}

func sights(s *Scenario, node string) []sight {
	var out []sight
	for _, e := range s.Exchanges {
		entry := e.Via
		if entry == "" {
			entry = "pve1"
		}
		if strings.HasPrefix(e.api(), "/nodes/"+node+"/") && node != entry {
			switch {
			case e.Status == 595 && strings.Contains(e.Reason, "refused"):
				out = append(out, sight{t: e.T, state: pvesim.NodeDown, direct: true})
			case e.Status == 595:
				out = append(out, sight{t: e.T, state: pvesim.NodeLost, direct: true, late: strings.Contains(e.Reason, "route"), dur: e.Dur})
			case e.Status == 200:
				out = append(out, sight{t: e.T, direct: true})
			}
		}
		if node != entry && strings.Contains(e.Reason, "no quorum") {
			out = append(out, sight{t: e.T, state: pvesim.NodeLost})
		}
		if e.ok() && (e.api() == "/cluster/status" || e.api() == "/nodes") {
			out = append(out, member(e, node)...)
		}
	}
	return out
}

// member reads a node's membership from a status or node list.
func member(e *Exchange, node string) []sight {
	for _, m := range e.list() {
		if fmt.Sprint(m["name"]) != node && fmt.Sprint(m["node"]) != node {
			continue
		}
		if m["type"] != "node" {
			continue
		}
		on := number(m["online"]) == 1 || m["status"] == "online"
		if on {
			return []sight{{t: e.T}}
		}
		return []sight{{t: e.T, state: pvesim.NodeLost}}
	}
	return nil
}

// changesOf turns sights into changes; what a node is at the first sight goes
// into the seed when it must have been so for long.
func changesOf(n *pvesim.Node, list []sight) []nodeChange {
	var out []nodeChange
	state := pvesim.NodeOnline
	for i, s := range list {
		if s.state == pvesim.NodeOnline && !s.direct && state == pvesim.NodeDown {
			continue // members stay members while their daemons are down
		}
		if s.state == state {
			continue
		}
		if s.state == pvesim.NodeOnline && !s.direct && state == pvesim.NodeLost && pending(out, s.t) {
			continue
		}
		at := max(moment(s, list[i:]), lastDirect(list[:i])+0.3)
		if s.state == pvesim.NodeDown {
			at = lastDirect(list[:i]) + 0.3
		}
		if at <= 0 && s.state != pvesim.NodeOnline && len(out) == 0 && onlineBefore(list[:i]) == false {
			n.State = s.state
			state = s.state
			continue
		}
		out = append(out, nodeChange{At: max(at, -1), Node: n.Name, State: string(s.state)})
		state = s.state
	}
	return out
}

// pending says that a loss is too young for the members to have noticed.
func pending(out []nodeChange, t float64) bool {
	return len(out) > 0 && t-out[len(out)-1].At < settle
}

// lastDirect is when the node itself last answered.
func lastDirect(list []sight) float64 {
	at := -1000.0
	for _, s := range list {
		if s.direct && s.state == pvesim.NodeOnline {
			at = s.t
		}
	}
	return at
}

func onlineBefore(list []sight) bool {
	for _, s := range list {
		if s.state == pvesim.NodeOnline {
			return true
		}
	}
	return false
}

// moment is when a change must have happened for this and the next sights to be as they are.
func moment(s sight, rest []sight) float64 {
	at := s.t - 0.01
	if !s.direct {
		at = s.t - settle
	}
	if s.late {
		at = s.t + s.dur - dead
	}
	for _, next := range rest {
		if next.state != s.state {
			break
		}
		if next.late {
			at = min(at, next.t+next.dur-dead)
		}
	}
	return at
}
