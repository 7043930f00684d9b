package deploy

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// signals count what a person sends to end the command. The first one ends its context.
type signals struct {
	mu      sync.Mutex
	n       int
	changed chan struct{} // closed by the next signal
	stop    func()
}

// Ends are the signals with which a person or the system ends a command. The end of a
// terminal is none if the command was started to survive it, as by nohup.
func Ends() []os.Signal {
	out := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		out = append(out, syscall.SIGHUP)
	}
	return out
}

// listen counts signals until stop is called.
func listen(ctx context.Context) (context.Context, *signals) {
	ctx, cancel := context.WithCancel(ctx)
	s := &signals{changed: make(chan struct{})}
	got := make(chan os.Signal, 8)
	signal.Notify(got, Ends()...)
	// A reader of the output that goes away, such as head, would end stackgen, and leave its tools running. Then writes
	// fail instead. Nobody receives these signals: broken connections cause them, too.
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)
	done := make(chan struct{})
	s.stop = sync.OnceFunc(func() { signal.Stop(got); signal.Stop(pipes); close(done); cancel() })
	go func() {
		for {
			select {
			case <-done:
				return
			case <-got:
				s.mu.Lock()
				s.n++
				close(s.changed)
				s.changed = make(chan struct{})
				s.mu.Unlock()
				cancel()
			}
		}
	}()
	return ctx, s
}

func (s *signals) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

// after is closed when there have been more than n signals.
func (s *signals) after(n int) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.n > n {
		now := make(chan struct{})
		close(now)
		return now
	}
	return s.changed
}
