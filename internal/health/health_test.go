package health

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A world is a clock that a wait moves, and VMs that change with it.
type world struct {
	now   time.Time
	began time.Time
	mu    sync.Mutex // guards dials
	dials []string
	read  func(at time.Duration, name string) (Reading, error)
	open  func(at time.Duration, address string) bool
}

func (w *world) checker(r Rule) *Checker {
	w.now = time.Unix(1000, 0)
	w.began = w.now
	return &Checker{
		Rule: r,
		Clock: Clock{Now: func() time.Time { return w.now }, Sleep: func(ctx context.Context, d time.Duration) error {
			w.now = w.now.Add(d)
			return ctx.Err()
		}},
		Read: func(_ context.Context, vm *VM) (Reading, error) { return w.read(w.now.Sub(w.began), vm.Name) },
		Dial: func(_ context.Context, address string) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.dials = append(w.dials, address)
			if !w.open(w.now.Sub(w.began), address) {
				return errors.New("dial tcp " + address + ": connect: connection refused")
			}
			return nil
		},
	}
}

// TestWait: what makes a VM healthy, how long that may take, and what is said of one that is not.
func TestWait(t *testing.T) {
	up := Reading{Running: true, Agent: true, Addresses: []string{"192.0.2.7", "2001:db8::7"}}
	silent := Reading{Running: true}
	always := func(r Reading) func(time.Duration, string) (Reading, error) {
		return func(time.Duration, string) (Reading, error) { return r, nil }
	}
	after := func(d time.Duration, r Reading) func(time.Duration, string) (Reading, error) {
		return func(at time.Duration, _ string) (Reading, error) {
			if at < d {
				return silent, nil
			}
			return r, nil
		}
	}
	only := func(addresses ...string) func(time.Duration, string) bool {
		return func(_ time.Duration, a string) bool { return strings.Contains(strings.Join(addresses, " ")+" ", a+" ") }
	}
	agent, tcp := Rule{Agent: true, Timeout: time.Minute}, Rule{Agent: true, TCP: []int{22, 80}, Timeout: time.Minute}
	vm := VM{Name: "lab/a", Agent: true, Recorded: []string{"192.0.2.9"}}
	fixed, none := vm, vm
	fixed.Address, none.Recorded = "192.0.2.5", nil
	none.Agent = false
	const closed5 = "lab/a: TCP port 22 is not open at 192.0.2.5: connection refused"
	const other = "lab/a: its agent reports 192.0.2.7, 2001:db8::7, and not 192.0.2.5 of its spec, where another machine may answer"
	both := Reading{Running: true, Agent: true, Addresses: []string{"192.0.2.7", "192.0.2.5"}}
	const closed6 = "lab/a: TCP port 22 is not open at 2001:db8::7: connection refused"
	for name, c := range map[string]struct {
		rule      Rule
		vm        VM
		read      func(time.Duration, string) (Reading, error)
		open      func(time.Duration, string) bool
		unhealthy string
		took      time.Duration
	}{
		"it answers at once":     {agent, vm, always(up), nil, "", 0},
		"it answers later":       {agent, vm, after(3*time.Second, up), nil, "", 3500 * time.Millisecond},
		"it never answers":       {agent, vm, always(silent), nil, "lab/a: its agent does not answer", time.Minute},
		"it has no address yet":  {agent, vm, always(Reading{Running: true, Agent: true}), nil, "lab/a: its agent reports no address", time.Minute},
		"no time":                {Rule{Agent: true}, vm, after(time.Second, up), nil, "lab/a: its agent does not answer", 0},
		"it has no agent":        {agent, none, always(silent), nil, "", 0},
		"the agent is not asked": {Rule{Timeout: time.Minute}, vm, always(silent), nil, "", 0},
		"it does not run":        {agent, vm, always(Reading{Agent: true}), nil, "lab/a: it does not run", time.Minute},
		"it cannot be read": {agent, vm, func(time.Duration, string) (Reading, error) { return Reading{}, errors.New("no answer") }, nil,
			"lab/a: it cannot be read: no answer", time.Minute},
		"both ports":              {tcp, vm, always(up), only("192.0.2.7:22", "192.0.2.7:80"), "", 0},
		"both ports, by IPv6":     {tcp, vm, always(up), only("[2001:db8::7]:22", "[2001:db8::7]:80"), "", 0},
		"one port of two":         {tcp, vm, always(up), only("192.0.2.7:22"), closed6, time.Minute},
		"ports of two addresses":  {tcp, vm, always(up), only("192.0.2.7:22", "[2001:db8::7]:80"), closed6, time.Minute},
		"the address of the spec": {tcp, fixed, always(both), only("192.0.2.7:22", "192.0.2.7:80"), closed5, time.Minute},
		"both ports there":        {tcp, fixed, always(both), only("192.0.2.5:22", "192.0.2.5:80"), "", 0},
		"another one answers":     {tcp, fixed, always(up), only("192.0.2.5:22", "192.0.2.5:80"), other, time.Minute},
		"a silent agent's":        {Rule{TCP: []int{22}}, fixed, always(silent), only("192.0.2.5:22"), "", 0},
		"a recorded one":          {Rule{TCP: []int{22}}, vm, always(silent), only("192.0.2.9:22"), "", 0},
		"the agent's wins":        {Rule{TCP: []int{22}}, vm, always(up), only("192.0.2.9:22"), closed6, 0},
		"no address": {Rule{TCP: []int{22}}, none, always(silent), nil,
			"lab/a: it has no address: neither in its spec, nor from its agent, nor in the lock", 0},
	} {
		w := &world{read: c.read, open: c.open}
		unhealthy, err := w.checker(c.rule).Wait(context.Background(), []VM{c.vm})
		is := ""
		for _, s := range unhealthy {
			is += s.String()
		}
		if len(unhealthy) > 0 && unhealthy[0].Unread != (name == "it cannot be read") {
			t.Errorf("%s: unread is %v", name, unhealthy[0].Unread)
		}
		if took := w.now.Sub(w.began); err != nil || is != c.unhealthy || took != c.took {
			t.Errorf("%s: %q after %s, %v; want %q after %s; dials %v", name, is, took, err, c.unhealthy, c.took, w.dials)
		}
	}
}

// TestWaitForSeveral: only those that are not healthy are checked again, and an interrupt ends the wait.
func TestWaitForSeveral(t *testing.T) {
	reads := map[string]int{}
	var mu sync.Mutex // guards reads
	w := &world{read: func(_ time.Duration, name string) (Reading, error) {
		mu.Lock()
		defer mu.Unlock()
		reads[name]++
		return Reading{Running: true, Agent: name != "lab/c" && name != "lab/a", Addresses: []string{"192.0.2.7"}}, nil
	}}
	var vms []VM
	for _, key := range strings.Fields("a b c d") {
		vms = append(vms, VM{Name: "lab/" + key, Agent: true})
	}
	unhealthy, err := w.checker(Rule{Agent: true, Timeout: time.Second}).Wait(context.Background(), vms)
	want := "[lab/a: its agent does not answer lab/c: its agent does not answer]"
	if got := fmt.Sprint(unhealthy); err != nil || got != want || reads["lab/b"] != 1 || reads["lab/c"] < 2 {
		t.Errorf("%s, %v, %v", got, err, reads)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := w.checker(Rule{Agent: true, Timeout: time.Hour}).Wait(ctx, vms); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted wait ends with %v", err)
	}
}

// TestDial connects to a port of this machine, and to one that is closed.
func TestDial(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	c := Checker{Rule: Rule{TCP: []int{port}}, Clock: System(), Dial: Dial,
		Read: func(context.Context, *VM) (Reading, error) { return Reading{Running: true}, nil }}
	vm := []VM{{Name: "lab/a", Address: "127.0.0.1"}}
	if unhealthy, err := c.Wait(context.Background(), vm); err != nil || len(unhealthy) > 0 {
		t.Errorf("%v, %v", unhealthy, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	unhealthy, err := c.Wait(context.Background(), vm)
	if err != nil || len(unhealthy) != 1 || !strings.HasPrefix(unhealthy[0].Why, "TCP port "+strconv.Itoa(port)+" is not open at 127.0.0.1: ") {
		t.Errorf("%v, %v", unhealthy, err)
	}
}
