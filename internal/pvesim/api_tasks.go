package pvesim

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"
)

func taskHandlers() map[string]handler {
	return map[string]handler{
		"GET /cluster/tasks":                    clusterTasks,
		"GET /nodes/{node}/tasks":               nodeTasks,
		"GET /nodes/{node}/tasks/{upid}/status": taskStatus,
		"GET /nodes/{node}/tasks/{upid}/log":    taskLog,
		"DELETE /nodes/{node}/tasks/{upid}":     taskStop,
	}
}

var upidFormat = regexp.MustCompile(`^UPID:[^:\s]+:[0-9A-Fa-f]{8}:[0-9A-Fa-f]{8,9}:[0-9A-Fa-f]{8}:[^:\s]+:[^:\s]*:[^:\s]+:$`)

// nodeTasksNow returns the tasks of a node as its list of the cluster has them: those
// that run first, and then by their start, the last first.
func (w *cluster) nodeTasksNow(node string) []*Task {
	var out []*Task
	for i := len(w.tasks) - 1; i >= 0; i-- {
		if t := w.tasks[i]; t.Node == node {
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(a, b *Task) int {
		switch {
		case a.seemsRunning() && !b.seemsRunning():
			return -1
		case b.seemsRunning() && !a.seemsRunning():
			return 1
		}
		return cmp.Compare(b.Start.Unix(), a.Start.Unix())
	})
	return out
}

func (t *Task) entry(pids bool) object {
	out := object{"id": t.ID, "node": t.Node, "starttime": t.Start.Unix(), "type": t.Type, "upid": t.UPID, "user": t.User}
	if t.Token != "" {
		out["tokenid"] = t.Token
	}
	if pids {
		out["pid"], out["pstart"] = t.PID, t.PStart
	}
	if !t.seemsRunning() {
		out["endtime"], out["status"] = t.End.Unix(), t.Exit
	}
	return out
}

// listedTasks is the number of tasks of a node in the list of the cluster. More are
// listed only if more run.
const listedTasks = 25

// savedFresh is the time for which "saved" of the last finished task is a
// number instead of a string.
const savedFresh = 10 * time.Second

// clusterTasks lists recent tasks. Their "saved" is a string, except for the
// task that finished last: clients must accept both.
func clusterTasks(c *call) (any, error) {
	out := []object{}
	all := c.w.allowed(c.who, "/", "Sys.Audit")
	newest := map[string]*Task{}
	for _, t := range c.w.tasks {
		if !t.seemsRunning() && (newest[t.Node] == nil || !t.End.Before(newest[t.Node].End)) {
			newest[t.Node] = t
		}
	}
	for _, n := range c.w.nodes {
		for i, t := range c.w.nodeTasksNow(n.Name) {
			if i >= listedTasks && !t.seemsRunning() {
				break
			}
			if !all && t.User != c.who.String() {
				continue
			}
			e := t.entry(false)
			switch {
			case t.seemsRunning():
				e["saved"], e["pid"] = "0", t.PID
			case newest[t.Node] == t && c.w.now.Sub(t.End) < savedFresh:
				e["saved"] = 1
			default:
				e["saved"] = "1"
			}
			out = append(out, e)
		}
	}
	return out, nil
}

func (c *call) task(privilege string) (*Task, error) {
	upid := c.p["upid"]
	if !upidFormat.MatchString(upid) {
		return nil, badParam("upid", "unable to parse worker upid")
	}
	t := c.w.byUPID[upid]
	owner := strings.TrimSuffix(upid, ":")
	owner = owner[strings.LastIndexByte(owner, ':')+1:]
	if user, _, _ := strings.Cut(owner, "!"); owner != c.who.String() && user != c.who.String() {
		if err := c.w.require(c.who, "/nodes/"+c.node, privilege); err != nil {
			return nil, err
		}
	}
	if t != nil && t.Node != c.node {
		t = nil
	}
	return t, nil
}

func taskStatus(c *call) (any, error) {
	t, err := c.task("Sys.Audit")
	if err != nil {
		return nil, err
	}
	if t == nil {
		return nil, badParam("upid", "no such task")
	}
	out := t.entry(true)
	delete(out, "endtime")
	out["status"] = "running"
	if !t.running() {
		out["status"], out["exitstatus"] = "stopped", t.Exit
	}
	return out, nil
}

func taskLog(c *call) (any, error) {
	t, err := c.task("Sys.Audit")
	if err != nil {
		return nil, err
	}
	if t == nil {
		return counted{object{"n": 1, "t": "unable to open file - No such file or directory"}, 1}, nil
	}
	if t.w != nil {
		t.w.catchUp()
	}
	if c.flag("download") {
		return text(strings.Join(t.Log, "\n") + "\n"), nil
	}
	start, limit := atoi(c.p["start"]), 50
	if c.has("limit") {
		limit = atoi(c.p["limit"])
	}
	out := []object{}
	for i := start; i < len(t.Log) && (limit == 0 || i < start+limit); i++ {
		out = append(out, object{"n": i + 1, "t": t.Log[i]})
	}
	if len(t.Log) == 0 {
		out = append(out, object{"n": 1, "t": "no content"})
	}
	return counted{out, max(len(t.Log), 1)}, nil
}

func taskStop(c *call) (any, error) {
	t, err := c.task("Sys.Modify")
	if err != nil {
		return nil, err
	}
	if t != nil && t.w != nil {
		t.w.abort()
	}
	return nil, nil
}
