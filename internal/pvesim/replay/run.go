package replay

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Difference is one place where the simulator responds differently than
// recorded.
type Difference struct {
	Scenario string
	Seq      int
	Call     string
	Text     string
}

// String returns the difference as one line.
func (d Difference) String() string {
	return fmt.Sprintf("%s %d %s: %s", d.Scenario, d.Seq, d.Call, strings.ReplaceAll(d.Text, "\n", "\\n"))
}

// Key identifies the exchange, for lists of known differences.
func (d Difference) Key() string { return fmt.Sprintf("%s %d", d.Scenario, d.Seq) }

// Result is the outcome of replaying a folder.
type Result struct {
	Matched     int
	All         int
	Differences []Difference
	Prepared    []string // unrecorded steps
}

// Print writes one line per difference, and the number of matching exchanges
// last.
func (r *Result) Print(out io.Writer) error {
	for _, d := range r.Differences {
		if _, err := fmt.Fprintln(out, d); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "matched %d of %d\n", r.Matched, r.All)
	return err
}

// Folder replays every recording of a folder, each against its own cluster.
func Folder(dir string) (*Result, error) {
	scenarios, err := Load(dir)
	if err != nil {
		return nil, err
	}
	out := &Result{}
	for _, s := range scenarios {
		diffs, prepared, err := replayBest(s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		out.Prepared = append(out.Prepared, prepared...)
		for _, e := range s.Exchanges {
			out.All++
			if len(diffs[e.Seq]) == 0 {
				out.Matched++
			}
			for _, text := range diffs[e.Seq] {
				out.Differences = append(out.Differences, Difference{s.Name, e.Seq, e.Method + " " + strings.TrimPrefix(e.Path, "/api2/json"), text})
			}
		}
	}
	return out, nil
}

// replayBest replays a scenario with the report phase that matches best. The
// times at which nodes report are not recorded, but they decide how old a list
// is. So it tries every half second of the cycle, node by node, while lists
// differ.
func replayBest(s *Scenario) (map[int][]string, []string, error) {
	phase := map[string]time.Duration{"pve": 0, "pve1": 0, "pve2": 0, "pve3": 0}
	run := func() (map[int][]string, []string, error) {
		p, err := newPlayer(s, phase)
		if err != nil {
			return nil, nil, err
		}
		diffs, err := p.play()
		return diffs, p.prepared, err
	}
	found, prepared, err := run()
	if err != nil {
		return nil, nil, err
	}
	nodes := []string{"pve"}
	if seed, err := baseSeed(s); err == nil && len(seed.Nodes) > 1 {
		nodes = []string{"pve1", "pve2", "pve3"}
	}
	for _, n := range nodes {
		keep := phase[n]
		for half := 1; half < 20 && s.listsDiffer(found); half++ {
			phase[n] = time.Duration(half) * time.Second / 2
			diffs, steps, err := run()
			if err != nil {
				return nil, nil, err
			}
			if count(diffs) < count(found) {
				found, prepared, keep = diffs, steps, phase[n]
			}
		}
		phase[n] = keep
	}
	return found, prepared, nil
}

func count(diffs map[int][]string) int {
	n := 0
	for _, d := range diffs {
		n += len(d)
	}
	return n
}

// listsDiffer reports whether a list that depends on the nodes' reports
// differs.
func (s *Scenario) listsDiffer(diffs map[int][]string) bool {
	for _, e := range s.Exchanges {
		if len(diffs[e.Seq]) > 0 && (e.api() == "/cluster/resources" || strings.HasPrefix(e.api(), "/pools")) {
			return true
		}
	}
	return false
}
