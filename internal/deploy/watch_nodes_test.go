package deploy

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"stackgen/internal/cluster"
	"stackgen/internal/progress"
	"stackgen/internal/pvesim"
)

// TestWatchNodes: a node that is lost, and one whose API is dead, are reported once each,
// also to a token without Sys.Audit, and again when they answer.
func TestWatchNodes(t *testing.T) {
	for state, want := range map[pvesim.NodeState]progress.State{pvesim.NodeLost: progress.Offline, pvesim.NodeDown: progress.Silent} {
		t.Run(string(want), func(t *testing.T) {
			t.Parallel()
			l := newLab(t, pvesim.Options{})
			w := Watch(context.Background(), Watched{Cluster: l.config(ciToken + "=" + ciSecret), VMIDs: []int{301}, Nodes: []string{"pve2", "pve1", "pve2"}, every: 20 * time.Millisecond}, l.tell)
			states := func() (out []progress.State) {
				l.mu.Lock()
				defer l.mu.Unlock()
				for _, e := range l.events {
					if e.Type == progress.NodeState && e.Node == "pve2" {
						out = append(out, e.State)
					}
				}
				return out
			}
			waits := func(want ...progress.State) {
				for end := time.Now().Add(30 * time.Second); !slices.Equal(states(), want); time.Sleep(20 * time.Millisecond) {
					if time.Now().After(end) {
						t.Fatalf("reported %q, want %q", states(), want)
					}
				}
			}
			time.Sleep(300 * time.Millisecond)
			for _, set := range []pvesim.NodeState{state, pvesim.NodeOnline} {
				if err := l.sim.SetNode("pve2", set); err != nil {
					t.Fatal(err)
				}
				waits([]progress.State{want, progress.Answers}[:map[bool]int{true: 1, false: 2}[set == state]]...)
			}
			if missed := w.Stop(); missed.Requests != 0 {
				t.Errorf("missed %+v", missed)
			}
			l.mu.Lock()
			defer l.mu.Unlock()
			for _, e := range l.events {
				if e.Node != "pve2" || want == progress.Silent && e.State == want && !strings.Contains(e.Text, "Connection refused") {
					t.Errorf("reported %+v", e)
				}
			}
		})
	}
	next := progress.Down{Name: "pve2", State: progress.Silent}.Next()
	if len(next.Lines) != 1 || next.Lines[0].String() != cluster.RestartAPI {
		t.Errorf("the steps of a run and of preflight differ: %v", next)
	}
}
