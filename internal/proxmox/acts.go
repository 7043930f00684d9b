package proxmox

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"stackgen/internal/cluster"
	"stackgen/internal/pve"
)

// The limits of reading who changed a guest.
const (
	actsOfGuest = 5    // of one guest, the last ones
	actsOfNode  = 5000 // of one list: more than a node keeps
	actsAtOnce  = 4    // nodes that are asked at the same time
)

// ReadActs reads who changed guests, by the logs of nodes: of those where the guests are
// and were, because a migration leaves a guest's tasks on the node where they ran. It
// sends one request to each node, and up to one more for the privileges there. It
// sends one for the log of each change of a configuration. Tasks of the token itself are
// those of applies.
//
// What cannot be read is a gap and no error: without Sys.Audit on a node, its list has
// only the tasks of the caller.
func ReadActs(ctx context.Context, c Config, nodes []string, vmids []int) cluster.Acts {
	out := cluster.Acts{Of: map[int][]cluster.Act{}, Applied: map[int]string{}}
	others := map[int][]task{}
	if len(nodes) == 0 || len(vmids) == 0 {
		return out
	}
	lost := func(err error) cluster.Acts {
		out.Gaps = append(out.Gaps, cluster.Gap{Path: "/nodes", Reason: fmt.Sprintf("who changed VMs cannot be read: %v", err)})
		return out
	}
	api, err := open(ctx, c)
	if err != nil {
		return lost(err)
	}
	defer api.close()
	r := &reader{client: api}
	if err := r.readRights(ctx); err != nil {
		return lost(err)
	}
	nodes = slices.Compact(slices.Sorted(slices.Values(nodes)))
	out.Gaps = r.unseen(ctx, nodes)
	var mu sync.Mutex // guards out
	atMost(actsAtOnce, nodes, func(n string) {
		tasks, err := api.finished(ctx, n)
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			out.Gaps = append(out.Gaps, cluster.Gap{Path: "/nodes/" + n, Reason: fmt.Sprintf("who changed VMs on %s cannot be read: %v", n, err)})
		}
		for _, k := range tasks {
			switch vmid := vmidOf(string(k.ID)); {
			case !k.changed():
			case k.Token != "" && k.owner() == c.Who() && pve.OperationOf(k.Type) != pve.Rollback: // of an apply, which is of all VMs of a unit
				out.Applied[vmid] = max(out.Applied[vmid], k.act().Time)
			case slices.Contains(vmids, vmid):
				others[vmid] = append(others[vmid], k)
			}
		}
	})
	for vmid, tasks := range others {
		slices.SortStableFunc(tasks, func(a, b task) int {
			return cmp.Or(cmp.Compare(b.End, a.End), strings.Compare(b.Node+b.Type+b.owner(), a.Node+a.Type+a.owner()))
		})
		tasks = tasks[:min(len(tasks), actsOfGuest)]
		acts := make([]cluster.Act, len(tasks))
		for i := range tasks {
			acts[i] = tasks[i].act()
		}
		others[vmid], out.Of[vmid] = tasks, acts
	}
	api.readEntries(ctx, others, out.Of)
	slices.SortStableFunc(out.Gaps, func(a, b cluster.Gap) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// readEntries adds to changes of configurations what they changed, by the first lines of their
// logs. Of a log that cannot be read, anything may have been changed.
func (c *client) readEntries(ctx context.Context, tasks map[int][]task, acts map[int][]cluster.Act) {
	type log struct {
		of task
		to *cluster.Act
	}
	var logs []log
	for _, vmid := range slices.Sorted(maps.Keys(tasks)) {
		for i, k := range tasks[vmid] {
			if pve.OperationOf(k.Type) == pve.Configure {
				logs = append(logs, log{k, &acts[vmid][i]})
			}
		}
	}
	atMost(actsAtOnce, logs, func(l log) {
		lines, err := (&Tasks{client: c}).Log(ctx, RunningTask{Node: l.of.Node, UPID: l.of.UPID}, 0)
		if err == nil && len(lines) > 0 {
			l.to.Entries = cluster.ChangedEntries(lines[0])
		}
	})
}

// unseen are the gaps of nodes whose tasks of others cannot be read. One grant on /nodes
// is for all of them.
func (r *reader) unseen(ctx context.Context, nodes []string) (out []cluster.Gap) {
	for _, n := range nodes {
		if at := "/nodes/" + n; !r.has(ctx, at, cluster.SysAudit) {
			out = append(out, r.missing(ctx, at, cluster.SysAudit, "who changed VMs on "+n+" cannot be read"))
		}
	}
	if len(nodes) > 1 && len(out) == len(nodes) {
		return []cluster.Gap{r.missing(ctx, "/nodes", cluster.SysAudit, "who changed VMs cannot be read")}
	}
	return out
}

// finished lists the finished tasks of a node.
func (c *client) finished(ctx context.Context, node string) (tasks []task, err error) {
	err = c.once(ctx, "/nodes/"+url.PathEscape(node)+"/tasks?source=archive&limit="+strconv.Itoa(actsOfNode), &tasks)
	return tasks, err
}

// changed reports whether a task may have changed a guest. One that failed changed nothing,
// except qmconfig: what it could not plug stays pending.
func (k *task) changed() bool {
	done := k.Status == "OK" || strings.HasPrefix(string(k.Status), "WARNINGS: ") || pve.OperationOf(k.Type) == pve.Configure
	return done && cluster.IsDeed(k.Type)
}

// owner is the user or token that started a task.
func (k *task) owner() string {
	if k.Token == "" {
		return k.User
	}
	return k.User + "!" + k.Token
}

func (k *task) act() cluster.Act {
	return cluster.Act{Time: time.Unix(int64(k.End), 0).UTC().Format(time.RFC3339), User: k.owner(), Task: k.Type, Node: k.Node}
}
