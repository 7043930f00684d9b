package progress

import (
	"regexp"
	"strings"

	"stackgen/internal/finding"
)

// A State is whether a node of the cluster can be used.
type State string

// The states. A silent node is online for the cluster, and its API does not answer.
const (
	Answers State = ""
	Offline State = "offline"
	Silent  State = "silent"
)

// A Down is a node that VMs of a run need, and that does not answer. Name is empty for the
// cluster as a whole.
type Down struct {
	Name  string
	State State
	Text  string // why a silent one does not answer
}

// What says in what way a node is down.
func (d Down) What() string {
	switch {
	case d.Name == "":
		return "the cluster does not answer"
	case d.State == Silent:
		return "node " + d.Name + " is online, but its API does not answer (" + d.Text + ")"
	}
	return "node " + d.Name + " is offline"
}

// Next is what to do about it.
func (d Down) Next() finding.Step {
	switch {
	case d.Name == "":
		return finding.Do("check the network, and the node of proxmox.endpoint; preflight tries it", "stackgen preflight")
	case d.State == Silent:
		return finding.Do("on node "+d.Name+", restart the services of its API; if they run, check that other nodes reach its port 8006",
			restartAPI)
	}
	return finding.Do("start node "+d.Name+"; on another node, see what the cluster says", "pvecm status")
}

const restartAPI = "systemctl restart pvedaemon pveproxy"

// setNode records the state of a node.
func (b *Board) setNode(e Event) {
	for i := range b.Down {
		if b.Down[i].Name == e.Node {
			if b.Down[i] = (Down{e.Node, e.State, e.Text}); e.State == Answers {
				b.Down = append(b.Down[:i], b.Down[i+1:]...)
			}
			return
		}
	}
	if e.State != Answers {
		b.Down = append(b.Down, Down{e.Node, e.State, e.Text})
	}
}

// Waiting are the VMs that need a node: those that something happens to now, and those
// that are queued.
func (b *Board) Waiting(node string) (active, queued []*Row) {
	for _, r := range b.Rows {
		switch {
		case r.Kind != VM || r.Phase.Over() || !r.needs(node):
		case r.Active():
			active = append(active, r)
		default:
			queued = append(queued, r)
		}
	}
	return active, queued
}

// needs reports whether a row goes on only with a node: its own, and until it is cloned
// that of its template.
func (r *Row) needs(node string) bool {
	return node == "" || r.Node == node || r.From == node && (r.Phase == Queued || r.Phase == Cloning)
}

// unreachable is what a tool says of a node that does not answer, with the node that a task
// was on.
var unreachable = regexp.MustCompile(`(?is)(?:UPID:([^:"]+):.*)?(?:HTTP 59[56]|no route to host|connect to destination)`)

// downReason explains a failure by a node that is known to be down.
func (b *Board) downReason(t *Trouble) {
	m := unreachable.FindStringSubmatch(unwrapped(t.Text))
	if m == nil {
		return
	}
	for _, d := range b.Down {
		needed := m[1] == "" && d.Name != "" && (d.Name == t.Item.Node || d.Name == t.Item.From)
		if d.Name == m[1] || needed || strings.Contains(t.Text, "HostKeyAlias="+d.Name+"'") {
			t.Why, t.Next = d.What(), []finding.Step{d.Next()}
			return
		}
	}
}
