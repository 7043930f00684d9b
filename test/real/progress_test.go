//go:build unix

package real

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"stackgen/internal/pvesim"
)

// A progressEvent is an object of `--progress json`, as far as it is checked here.
type progressEvent struct {
	Event, Key, Phase, What, Why, Message string
	Percent                               *float64
	Done, Failed, Total                   int
	Exit                                  *int
	Next                                  []struct{ Lines []string }
}

// TestApplyProgress: the stream of an apply has every phase of each VM, with rising
// percentages of its clone, although the clones are tasks of the template; and an error
// that says what to do.
func TestApplyProgress(t *testing.T) {
	t.Parallel()
	p := newStack(t, "groups: {m: {count: 3, template: 9000, serial: socket, disks: [{interface: scsi0, size: 8, datastore: shared}]}}\n").render()
	sim, err := pvesim.New(pvesim.Options{NoAuthDelay: true, Durations: func(kind string, _ int) (time.Duration, bool) {
		took := map[string]time.Duration{"qmclone": 5 * time.Second, "qmstart": 2 * time.Second}[kind]
		return took, took > 0
	}})
	check(t, err)
	check(t, sim.Start("127.0.0.1:0"))
	t.Cleanup(func() { check(t, sim.Close()) })
	p.tools = p.tools.With(sim.Env()...)
	check(t, sim.AddFault(&pvesim.Fault{Method: "PUT", Path: "/nodes/*/qemu/102/config", Do: pvesim.DoError, Status: 500, Message: "storage 'fast' does not exist"}))

	c := p.command("apply --yes --progress json")
	var out, errOut bytes.Buffer
	c.Stdout, c.Stderr = &out, &errOut
	_ = c.Run() // its exit code is checked
	phases, percents, troubles := map[string][]string{}, map[string][]float64{}, []progressEvent{}
	var last progressEvent
	for line := range strings.Lines(errOut.String()) {
		if !strings.HasPrefix(line, "{") {
			continue
		}
		var e progressEvent
		check(t, json.Unmarshal([]byte(line), &e))
		last = e
		switch {
		case e.Event == "error":
			troubles = append(troubles, e)
		case e.Event != "vm":
		case e.Percent != nil:
			percents[e.Key] = append(percents[e.Key], *e.Percent)
			fallthrough
		default:
			if before := phases[e.Key]; len(before) == 0 || before[len(before)-1] != e.Phase {
				phases[e.Key] = append(before, e.Phase)
			}
		}
	}
	for _, key := range []string{"m1", "m2"} {
		if got := strings.Join(phases[key], ", "); got != "cloning, configuring, starting, waiting for the agent, ready" {
			t.Errorf("%s: %s", key, got)
		}
		if n := percents[key]; len(n) < 3 || !slices.IsSorted(n) || n[len(n)-1] < 50 {
			t.Errorf("%s: the percentages are %v", key, n)
		}
	}
	if got := phases["m3"]; got[len(got)-1] != "failed" || len(troubles) == 0 {
		t.Fatalf("m3: %v\n%s", got, errOut.String())
	}
	e := troubles[len(troubles)-1]
	if e.What != "VM m3 (VMID 102, node pve1) was created, but not completed" || e.Why != "there is no storage fast" || !strings.Contains(e.Message, "storage 'fast' does not exist") ||
		fmt.Sprint(e.Next) != "[{[pvesm status]} {[stackgen apply --yes]}]" {
		t.Errorf("error: %+v", e)
	}
	if last.Event != "end" || last.Exit == nil || *last.Exit != 1 || c.ProcessState.ExitCode() != 1 {
		t.Errorf("the last object is %+v, and the exit code %d", last, c.ProcessState.ExitCode())
	}
	if t.Failed() {
		t.Logf("standard output:\n%s\nstandard error:\n%s", out.String(), errOut.String())
	}
}
