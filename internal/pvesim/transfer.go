package pvesim

import (
	"fmt"
	"time"
)

// transfer is one copy on a storage. Copies on the same storage share its
// bandwidth equally; a copy may have a lower limit.
type transfer struct {
	storage string
	total   float64
	left    float64
	limit   float64 // bytes per second, 0 for none
	rate    float64
	since   time.Time
	gen     int
	then    func()

	began time.Time
	said  int // percent of the last line in the task's log
}

// bandwidth returns the limit of a copy in bytes per second that the caller sets, or 0.
func (c *call) bandwidth() float64 { return float64(atoi(c.p["bwlimit"])) * float64(kib) }

// progressAfter is how long a copy takes at least to have lines in the log: one that
// ends sooner, as that of an empty disk, has only a first and a last one.
const progressAfter = time.Second

// progress returns the lines that a copy has added to a log since it was asked last:
// qemu-img prints one for each percent.
func (t *transfer) progress(now time.Time) []string {
	if now.Sub(t.began) < progressAfter || t.total <= 0 {
		return nil
	}
	left := max(t.left-t.rate*now.Sub(t.since).Seconds(), 0)
	var out []string
	for t.said < min(int(100*(t.total-left)/t.total), 99) {
		t.said++
		done := humanSize(int64(t.total) * int64(t.said) / 100)
		out = append(out, fmt.Sprintf("transferred %s of %s (%d.00%%)", done, humanSize(int64(t.total)), t.said))
	}
	return out
}

func (w *cluster) startTransfer(t *transfer, then func()) {
	t.left, t.then, t.since, t.began = t.total, then, w.now, w.now
	w.settle(t.storage)
	w.transfers[t.storage] = append(w.transfers[t.storage], t)
	w.share(t.storage)
}

func (w *cluster) stopTransfer(t *transfer) {
	w.settle(t.storage)
	list := w.transfers[t.storage]
	for i, x := range list {
		if x == t {
			w.transfers[t.storage] = append(list[:i], list[i+1:]...)
			break
		}
	}
	t.gen++
	w.share(t.storage)
}

// settle adds the bytes that were copied since the rates last changed.
func (w *cluster) settle(storage string) {
	for _, t := range w.transfers[storage] {
		t.left -= t.rate * w.now.Sub(t.since).Seconds()
		t.left = max(t.left, 0)
		t.since = w.now
	}
}

// share sets new rates and end times.
func (w *cluster) share(storage string) {
	list := w.transfers[storage]
	if len(list) == 0 {
		delete(w.transfers, storage)
		return
	}
	bandwidth := float64(gib)
	if s := w.storage(storage); s != nil {
		bandwidth = float64(s.Bandwidth)
	}
	for _, t := range list {
		t.rate = bandwidth / float64(len(list))
		if t.limit > 0 && t.limit < t.rate {
			t.rate = t.limit
		}
		t.gen++
		gen, t := t.gen, t
		w.at(time.Duration(t.left/t.rate*float64(time.Second)), func() {
			if t.gen != gen {
				return
			}
			then := t.then
			w.stopTransfer(t)
			then()
		})
	}
}
