package pvesim

import (
	"container/heap"
	"time"
)

type event struct {
	at  time.Time
	seq int
	run func()
}

type eventQueue []*event

func (q eventQueue) Len() int { return len(q) }

func (q eventQueue) Less(i, j int) bool {
	if q[i].at.Equal(q[j].at) {
		return q[i].seq < q[j].seq
	}
	return q[i].at.Before(q[j].at)
}

func (q eventQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

func (q *eventQueue) Push(x any) { *q = append(*q, x.(*event)) }

func (q *eventQueue) Pop() any {
	old := *q
	e := old[len(old)-1]
	*q = old[:len(old)-1]
	return e
}

func (w *cluster) at(d time.Duration, run func()) {
	w.eventSeq++
	heap.Push(&w.events, &event{at: w.now.Add(d), seq: w.eventSeq, run: run})
}

// next returns the time of the next event, or zero if there is none.
func (w *cluster) next() time.Time {
	if len(w.events) == 0 {
		return time.Time{}
	}
	return w.events[0].at
}
