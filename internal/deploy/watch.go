package deploy

import (
	"context"
	"sync"
	"time"

	"stackgen/internal/engine"
	"stackgen/internal/progress"
	"stackgen/internal/proxmox"
)

// pollEvery is how often the tasks of the cluster are read.
const pollEvery = time.Second

// Watched says what a watcher follows.
type Watched struct {
	Events  []UnitEvents    // of OpenTofu
	Cluster *proxmox.Config // nil for events of OpenTofu only
	VMIDs   []int           // of the VMs of the run, in all stacks
	Nodes   []string        // of these VMs and of their templates; they are followed, too

	every time.Duration // between two reads of the tasks; pollEvery, except in tests
}

// UnitEvents is a folder with the event files of the units of a stack, UNIT.jsonl. It
// is used for one run of OpenTofu, and need not exist yet.
type UnitEvents struct {
	Stack, Dir string
}

// A Watcher reports what happens in a run until it is stopped.
type Watcher struct {
	stop    chan struct{}
	cancel  context.CancelFunc
	waiting sync.WaitGroup

	mu     sync.Mutex
	missed Missed
}

// Missed counts what a watcher could not read. It does no harm to the run.
type Missed struct {
	Files    int // reads of event files
	Requests int // to the cluster
}

// Watch begins to follow a run, and returns at once. It calls tell for each event, from
// several goroutines. Times of events are not set.
func Watch(ctx context.Context, of Watched, tell func(progress.Event)) *Watcher {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // an interrupted run still ends its resources
	w := &Watcher{stop: make(chan struct{}), cancel: cancel}
	for _, events := range of.Events {
		w.waiting.Go(func() {
			failed := engine.Follow(w.stop, events.Dir, func(unit string, line []byte) {
				if e, ok := progress.Parse(events.Stack, unit, line); ok {
					tell(e)
				}
			})
			w.mu.Lock()
			defer w.mu.Unlock()
			w.missed.Files += failed
		})
	}
	if of.Cluster != nil && len(of.VMIDs) > 0 {
		w.waiting.Go(func() {
			requests := pollTasks(ctx, of, tell)
			w.mu.Lock()
			defer w.mu.Unlock()
			w.missed.Requests += requests
		})
	}
	return w
}

// Stop ends the watcher once the run is over: events that were written before are
// reported first. It says what was missed.
func (w *Watcher) Stop() Missed {
	close(w.stop)
	w.cancel()
	w.waiting.Wait()
	return w.missed
}
