package pvesim

import (
	"fmt"
	"time"
)

// Task is the record of one worker: its UPID and its result.
type Task struct {
	UPID   string    `yaml:"upid"`
	Node   string    `yaml:"node"`
	PID    int       `yaml:"pid"`
	PStart int64     `yaml:"pstart"`
	Start  time.Time `yaml:"start"`
	Type   string    `yaml:"type"`
	ID     string    `yaml:"id,omitempty"`
	User   string    `yaml:"user"`
	Token  string    `yaml:"token,omitempty"`
	End    time.Time `yaml:"end,omitempty"`
	Exit   string    `yaml:"exit,omitempty"`
	Log    []string  `yaml:"log,omitempty"`

	w      *worker
	listed bool // as running, until the node looks at its tasks again
	index  int  // which index of finished tasks of its node it is in
}

func (t *Task) running() bool { return t.End.IsZero() }

// seemsRunning reports whether lists show the task as running: nothing has seen the end
// of a task that another task started.
func (t *Task) seemsRunning() bool { return t.running() || t.listed }

// lookAtTasks archives the tasks of a node that ended since it last looked.
func (w *cluster) lookAtTasks(node string) {
	for _, t := range w.tasks {
		if t.Node == node && t.listed {
			t.listed, t.End = false, w.now
			w.archive(t)
		}
	}
}

func (t *Task) owner() string {
	if t.Token == "" {
		return t.User
	}
	return t.User + "!" + t.Token
}

// loadTasks adds the tasks of a saved state. Running tasks fail, because a
// worker does not survive its daemon.
func (w *cluster) loadTasks() {
	for _, t := range w.seed.Tasks {
		if t.running() {
			t.End, t.Exit = w.now, "unexpected status"
		}
		w.tasks = append(w.tasks, t)
		w.byUPID[t.UPID] = t
		w.archive(t)
		if t.PID > w.nextPID {
			w.nextPID = t.PID
		}
	}
}

// fork starts a worker and returns its UPID.
func (w *cluster) fork(node, kind, id string, who *identity, wk *worker) string {
	pid := w.pid()
	t := &Task{Node: node, PID: pid, PStart: int64(w.now.Sub(w.node(node).boot) / (10 * time.Millisecond)),
		Start: w.now, Type: kind, ID: id, User: who.user, Token: who.token, w: wk}
	t.UPID = fmt.Sprintf("UPID:%s:%08X:%08X:%08X:%s:%s:%s:", node, pid, t.PStart, t.Start.Unix(), kind, id, t.owner())
	for w.byUPID[t.UPID] != nil {
		t.PID = w.pid()
		t.UPID = fmt.Sprintf("UPID:%s:%08X:%08X:%08X:%s:%s:%s:", node, t.PID, t.PStart, t.Start.Unix(), kind, id, t.owner())
	}
	wk.cluster, wk.task = w, t
	w.lookAtTasks(node)
	w.pruneTasks()
	w.tasks = append(w.tasks, t)
	w.byUPID[t.UPID] = t
	if w.durations != nil {
		wk.planned, wk.hinted = w.durations(kind, atoi(id))
	}
	w.at(forkDelay, wk.begin)
	return t.UPID
}

// keepTasks limits the number of finished tasks.
const keepTasks = 4000

func (w *cluster) pruneTasks() {
	if len(w.tasks) < keepTasks {
		return
	}
	kept := make([]*Task, 0, keepTasks)
	for i, t := range w.tasks {
		if i < keepTasks/2 && !t.running() {
			delete(w.byUPID, t.UPID)
			continue
		}
		kept = append(kept, t)
	}
	w.tasks = kept
}
