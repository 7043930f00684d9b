package pvesim

import (
	"fmt"
	"strings"
	"time"
)

// worker runs one task step by step.
type worker struct {
	cluster   *cluster
	task      *Task
	lock      int           // guest whose file lock the steps need, 0 for none
	wait      time.Duration // how long to wait for that lock
	before    func()        // before the lock
	orphan    bool          // another task started it, and nothing waits for its end
	process   bool          // a process of the node, which no list of tasks has
	steps     []step
	next      step         // replaces the step that set it, after its pause
	last      func() error // after all steps
	undo      func()       // cleans up after a failure
	cancel    string       // exit text of a cancelled task
	copy      *transfer
	copyLines bool // a copy adds a line for each percent to the log
	planned   time.Duration
	hinted    bool
	held      bool
	gen       int
	killed    bool
}

// step does one part of a task, and returns what the worker waits for before
// the next step.
type step func() (pause, error)

// pause is a duration, or a copy on a storage. A duration from
// Options.Durations changes the main pause of a task.
type pause struct {
	d    time.Duration
	copy *transfer
	main bool
}

// flock is the file lock of a guest's configuration.
type flock struct {
	holder *worker
	queue  []*worker
}

// forkDelay is the time until a new worker begins.
const forkDelay = 10 * time.Millisecond

func (wk *worker) begin() {
	if wk.killed {
		return
	}
	w := wk.cluster
	if wk.before != nil {
		wk.before()
	}
	if wk.lock == 0 {
		wk.run(0)
		return
	}
	l := w.locks[wk.lock]
	if l == nil {
		w.locks[wk.lock] = &flock{holder: wk}
		wk.held = true
		wk.run(0)
		return
	}
	wk.log("trying to acquire lock...")
	l.queue = append(l.queue, wk)
	gen := wk.gen
	w.at(wk.wait, func() {
		if wk.gen == gen && !wk.held {
			wk.fail(fmt.Errorf("can't lock file '%s' - got timeout", w.lockFile(wk.lock)))
		}
	})
}

// release passes the lock to the next worker in the queue.
func (wk *worker) release() {
	w := wk.cluster
	l := w.locks[wk.lock]
	if l == nil {
		return
	}
	if !wk.held {
		for i, q := range l.queue {
			if q == wk {
				l.queue = append(l.queue[:i], l.queue[i+1:]...)
				break
			}
		}
		return
	}
	wk.held = false
	if len(l.queue) == 0 {
		delete(w.locks, wk.lock)
		return
	}
	next := l.queue[0]
	l.queue = l.queue[1:]
	l.holder, next.held = next, true
	next.gen++
	next.log(" OK")
	w.at(0, func() { next.run(0) })
}

func (wk *worker) run(i int) {
	if wk.killed {
		return
	}
	if i == len(wk.steps) {
		if err := wk.finish(); err != nil {
			wk.failLater(err)
			return
		}
		wk.end("OK", "TASK OK")
		return
	}
	p, err := wk.steps[i]()
	if wk.killed {
		return
	}
	if wk.next != nil {
		wk.steps[i], wk.next = wk.next, nil
		i--
	}
	w := wk.cluster
	if err != nil {
		wk.failLater(err)
		return
	}
	gen := wk.gen
	then := func() {
		if wk.gen == gen {
			wk.catchUp()
			wk.copy = nil
			wk.run(i + 1)
		}
	}
	switch {
	case wk.hinted && !p.main && (p.copy == nil || p.copy.limit == 0):
		w.at(0, then)
	case wk.hinted && p.main:
		rest := max(wk.task.Start.Add(wk.planned).Sub(w.now), 0)
		if wk.copy = p.copy; wk.copy != nil {
			wk.copy.began, wk.copy.since, wk.copy.left = w.now, w.now, wk.copy.total
			wk.copy.rate = wk.copy.total / max(rest.Seconds(), 0.001)
		}
		w.at(rest, then)
	case p.copy != nil:
		wk.copy = p.copy
		w.startTransfer(p.copy, then)
	default:
		w.at(p.d, then)
	}
}

func (wk *worker) finish() error {
	if wk.last == nil {
		return nil
	}
	return wk.last()
}

// log adds lines to the log of the task.
func (wk *worker) log(text string) { wk.task.Log = append(wk.task.Log, strings.Split(text, "\n")...) }

func (wk *worker) logf(format string, args ...any) { wk.log(fmt.Sprintf(format, args...)) }

// logOutput adds the output of tools to the log of the task, if there is any.
func (wk *worker) logOutput(lines ...string) {
	for _, l := range lines {
		if l != "" {
			wk.log(l)
		}
	}
}

// catchUp adds the lines of a copy that runs to the log of the task.
func (wk *worker) catchUp() {
	if wk.copy != nil && wk.copyLines {
		wk.task.Log = append(wk.task.Log, wk.copy.progress(wk.cluster.now)...)
	}
}

// failLater fails after the known duration of the worker, if there is one.
func (wk *worker) failLater(err error) {
	rest := wk.task.Start.Add(wk.planned).Sub(wk.cluster.now)
	if !wk.hinted || rest <= 0 {
		wk.fail(err)
		return
	}
	gen := wk.gen
	wk.cluster.at(rest, func() {
		if wk.gen == gen {
			wk.fail(err)
		}
	})
}

func (wk *worker) fail(err error) {
	if wk.undo != nil {
		wk.undo()
	}
	text := strings.TrimSuffix(err.Error(), "\n")
	wk.end(text, "TASK ERROR: "+text)
}

func (wk *worker) end(exit, line string) {
	wk.killed = true
	wk.gen++
	wk.task.End, wk.task.Exit = wk.cluster.now, exit
	switch {
	case wk.process:
	case wk.orphan:
		wk.task.listed = true
		wk.cluster.at(reportInterval, func() { wk.cluster.lookAtTasks(wk.task.Node) })
	default:
		wk.cluster.lookAtTasks(wk.task.Node)
		wk.cluster.archive(wk.task)
	}
	wk.log(line)
	if wk.lock != 0 {
		wk.release()
	}
	wk.task.w = nil
}

// done returns how many bytes of a running copy are complete.
func (wk *worker) done() int64 {
	if wk.copy == nil {
		return 0
	}
	return int64(wk.copy.total - wk.copy.left)
}

// abort ends a running task like an interrupt.
func (wk *worker) abort() {
	wk.catchUp()
	if wk.copy != nil {
		wk.cluster.stopTransfer(wk.copy)
	}
	text := wk.cancel
	if text == "" {
		text = "received interrupt"
	}
	wk.fail(fmt.Errorf("%s", text))
}

// kill ends a worker like a crash: locks in the guest's configuration and
// unfinished files stay.
func (wk *worker) kill() {
	wk.catchUp()
	if wk.copy != nil {
		wk.cluster.stopTransfer(wk.copy)
	}
	wk.killed = true
	wk.gen++
	wk.task.End, wk.task.Exit = wk.cluster.now, "unexpected status"
	wk.cluster.archive(wk.task)
	if wk.lock != 0 {
		wk.release()
	}
	wk.task.w = nil
}
