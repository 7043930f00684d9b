package proxmox

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"stackgen/guest"
)

// The limits of reading tasks.
const (
	taskTimeout = 5 * time.Second // of one request
	logLines    = 500             // of a log at a time
)

// A RunningTask is a task of the cluster that runs or has ended.
type RunningTask struct {
	UPID string
	Node string
	Type string
	VMID int        // 0 if it is not about one guest; of a clone, the source
	Kind guest.Kind // of a task that package operate began
	Exit string     // OK, WARNINGS: 1, or an error; empty while it runs
}

// began is when a task began, in seconds since 1970, as its UPID says; 0 if it does not.
func (t *RunningTask) began() int64 {
	parts := strings.Split(t.UPID, ":") // UPID:NODE:PID:PSTART:START:...
	if len(parts) < 5 {
		return 0
	}
	seconds, _ := strconv.ParseInt(parts[4], 16, 64) // 0 of what is no number
	return seconds
}

// Tasks reads the tasks of a cluster while a command runs. No request is sent twice, and
// none takes longer than five seconds.
type Tasks struct {
	*client
	nodes    []string
	byNode   bool // the list of the cluster has no task, and those of the nodes have
	together bool // the list of the cluster has tasks
}

// OpenTasks connects to a cluster. nodes are those whose tasks matter.
func OpenTasks(ctx context.Context, c Config, nodes []string) (*Tasks, error) {
	api, err := open(ctx, c)
	if err != nil {
		return nil, err
	}
	return &Tasks{client: api, nodes: nodes[:min(len(nodes), maxConcurrent)]}, nil
}

// Close closes the connections.
func (t *Tasks) Close() { t.close() }

// List returns the tasks that run, and those that ended lately. A token without
// Sys.Audit sees no task in the list of the cluster, but its own in those of the nodes:
// they are asked too while the list of the cluster is empty.
func (t *Tasks) List(ctx context.Context) (found []RunningTask, err error) {
	if !t.byNode {
		found, err = t.list(ctx, "/cluster/tasks")
		t.together = t.together || len(found) > 0
		if err != nil || t.together {
			return found, err
		}
	}
	found, err = t.ofNodes(ctx)
	t.byNode = t.byNode || len(found) > 0
	return found, err
}

func (t *Tasks) ofNodes(ctx context.Context) ([]RunningTask, error) {
	lists, errs := make([][]RunningTask, len(t.nodes)), make([]error, len(t.nodes))
	indices := make([]int, len(t.nodes))
	for i := range indices {
		indices[i] = i
	}
	concurrently(indices, func(i int) {
		lists[i], errs[i] = t.list(ctx, "/nodes/"+url.PathEscape(t.nodes[i])+"/tasks?source=all&limit=100")
	})
	out := slices.Concat(lists...)
	if len(out) > 0 { // a node that does not answer hides no task of others
		return out, nil
	}
	return nil, errors.Join(errs...)
}

func (t *Tasks) list(ctx context.Context, path string) ([]RunningTask, error) {
	var tasks []task
	if err := t.once(ctx, path, &tasks); err != nil {
		return nil, err
	}
	out := make([]RunningTask, 0, len(tasks))
	for _, k := range tasks {
		r := RunningTask{UPID: k.UPID, Node: k.Node, Type: k.Type, VMID: vmidOf(string(k.ID))}
		if k.End != 0 {
			r.Exit = string(k.Status)
		}
		out = append(out, r)
	}
	return out, nil
}

// Log returns the lines of a task's log from a line on, the first of which is 0.
func (t *Tasks) Log(ctx context.Context, of RunningTask, from int) ([]string, error) {
	var lines []struct {
		Text string `json:"t"`
	}
	path := fmt.Sprintf("/nodes/%s/tasks/%s/log?start=%d&limit=%d", url.PathEscape(of.Node), url.PathEscape(of.UPID), from, logLines)
	if err := t.once(ctx, path, &lines); err != nil {
		return nil, err
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l.Text
	}
	return out, nil
}

// once sends a request once.
func (c *client) once(ctx context.Context, path string, into any) error {
	limited, cancel := context.WithTimeout(context.WithValue(ctx, noRetry{}, true), taskTimeout)
	defer cancel()
	return c.get(limited, path, into)
}
