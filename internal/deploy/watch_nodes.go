package deploy

import (
	"context"
	"slices"
	"time"

	"stackgen/internal/progress"
	"stackgen/internal/proxmox"
)

// nodesEvery is how many polls of the tasks go to one of the nodes.
const nodesEvery = 5

// unsure is after how many rounds a node that is online counts as silent, and the cluster as
// not answering: an update of the packages restarts the API.
const unsure = 2

// nodes are the nodes that the VMs of a run need. Each round sends one request for the list,
// and one to each of them.
type nodes struct {
	api   *proxmox.Tasks
	names []string
	tell  func(progress.Event)
	told  map[string]progress.State
	seen  map[string]int // rounds in which a node did not answer, one after the other
	any   bool           // something was told
}

// follow asks for the nodes until the context ends.
func (n *nodes) follow(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		n.look(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// look asks for all nodes once.
func (n *nodes) look(ctx context.Context) {
	online, err := n.api.Online(ctx)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		if !proxmox.Answered(err) {
			n.silent("", err.Error())
		}
		return
	}
	n.is("", progress.Answers, "")
	for _, name := range n.names {
		if up, known := online[name]; !known || !up {
			if known {
				n.is(name, progress.Offline, "")
			}
			continue
		}
		why := n.api.Silence(ctx, name)
		switch {
		case ctx.Err() != nil:
			return
		case why != "":
			n.silent(name, why)
		default:
			n.is(name, progress.Answers, "")
		}
	}
}

// silent counts a node that did not answer.
func (n *nodes) silent(name, why string) {
	if n.seen[name]++; n.seen[name] >= unsure {
		n.is(name, progress.Silent, why)
	}
}

// is tells the state of a node if it is another one than before.
func (n *nodes) is(name string, state progress.State, why string) {
	if state != progress.Silent {
		n.seen[name] = 0
	}
	if n.told[name] == state {
		return
	}
	n.told[name], n.any = state, true
	n.tell(progress.Event{Type: progress.NodeState, Target: progress.Target{Kind: progress.Unit, Node: name}, State: state, Text: why})
}

// newNodes are the nodes of a run, each once.
func newNodes(api *proxmox.Tasks, names []string, tell func(progress.Event)) *nodes {
	return &nodes{api: api, names: slices.Compact(slices.Sorted(slices.Values(names))), tell: tell,
		told: map[string]progress.State{}, seen: map[string]int{}}
}
