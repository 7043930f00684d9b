package pvesim

import (
	"cmp"
	"slices"
	"strings"

	"stackgen/internal/pvesim/schema"
)

// maxIndex is the size of the index of finished tasks of a node, in bytes, above which
// the node begins another. It lists the tasks of these two.
const maxIndex = 50000

// archive adds a finished task to the index of its node.
func (w *cluster) archive(t *Task) {
	n := w.node(t.Node)
	if n == nil {
		return // the seed has a task of a node that it does not have any more
	}
	t.index = n.index
	n.indexSize += len(t.UPID) + len(" 01234567 ") + len(t.Exit) + len("\n")
	if n.indexSize > maxIndex {
		n.index, n.indexSize = n.index+1, 0
	}
}

// archived returns the finished tasks of a node, the one that ended last first.
func (w *cluster) archived(node string) []*Task {
	var out []*Task
	now := w.node(node).index
	for i := len(w.tasks) - 1; i >= 0; i-- {
		if t := w.tasks[i]; t.Node == node && !t.seemsRunning() && t.index >= now-1 {
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(a, b *Task) int { return b.End.Compare(a.End) })
	return out
}

// nodeTasks lists tasks of one node: those that run, and then the finished ones.
func nodeTasks(c *call) (any, error) {
	source, limit, start := cmp.Or(c.p["source"], "archive"), 50, atoi(c.p["start"])
	if c.has("limit") {
		limit = atoi(c.p["limit"])
	}
	audit := c.w.allowed(c.who, "/nodes/"+c.node, "Sys.Audit")
	var found []object
	if source != "archive" {
		for _, t := range c.w.nodeTasksNow(c.node) {
			if !t.seemsRunning() || !audit && t.owner() != c.who.String() || !c.wantsTask(t, t.owner()) {
				continue
			}
			e := t.entry(true)
			delete(e, "tokenid")
			e["user"], e["status"], e["saved"] = t.owner(), "RUNNING", "0"
			found = append(found, e)
		}
	}
	if source != "active" {
		for _, t := range c.w.archived(c.node) {
			// A user sees the tasks of the user's tokens, and a token only its own.
			own := t.owner() == c.who.String() || t.User == c.who.String()
			if (audit || own) && c.wantsTask(t, t.User) {
				found = append(found, t.entry(true))
			}
		}
	}
	total := len(found)
	found = found[min(start, total):]
	found = found[:min(limit, len(found))]
	if total == 0 {
		return []object{}, nil
	}
	return counted{found, total}, nil
}

// wantsTask applies the filters of a request. user is the owner as the list shows it.
func (c *call) wantsTask(t *Task, user string) bool {
	switch {
	case c.has("vmid") && t.ID != c.p["vmid"], c.has("typefilter") && t.Type != c.p["typefilter"]:
		return false
	case c.has("userfilter") && !strings.Contains(strings.ToLower(user), strings.ToLower(c.p["userfilter"])):
		return false
	case c.has("since") && t.Start.Unix() < int64(atoi(c.p["since"])), c.has("until") && t.Start.Unix() > int64(atoi(c.p["until"])):
		return false
	case c.flag("errors"):
		return t.outcome() != "ok"
	case c.has("statusfilter"):
		return slices.Contains(schema.SplitList(strings.ToLower(c.p["statusfilter"])), t.outcome())
	}
	return true
}

// outcome is the kind of a task's status that statusfilter names.
func (t *Task) outcome() string {
	switch {
	case t.Exit == "OK":
		return "ok"
	case strings.HasPrefix(t.Exit, "WARNINGS: "):
		return "warning"
	case t.Exit == "" || t.Exit == "unexpected status":
		return "unknown"
	}
	return "error"
}
