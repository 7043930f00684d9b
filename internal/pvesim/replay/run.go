package replay

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Difference is one place where the simulator's answer is not the recorded one.
type Difference struct {
	Scenario string
	Seq      int
	Call     string
	Text     string
}

// String is the line a report shows.
func (d Difference) String() string {
	return fmt.Sprintf("%s %d %s: %s", d.Scenario, d.Seq, d.Call, strings.ReplaceAll(d.Text, "\n", "\\n"))
}

// Key identifies the exchange, for lists of known differences.
func (d Difference) Key() string { return fmt.Sprintf("%s %d", d.Scenario, d.Seq) }

// Result is the outcome of a folder.
type Result struct {
	Matched     int
	All         int
	Differences []Difference
}

// Print writes one line per difference and the figure last.
func (r *Result) Print(out io.Writer) error {
	for _, d := range r.Differences {
		if _, err := fmt.Fprintln(out, d); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "matched %d of %d\n", r.Matched, r.All)
	return err
}

// Folder replays every recording of a folder, each against a cluster of its own.
func Folder(dir string) (*Result, error) {
	scenarios, err := Load(dir)
	if err != nil {
		return nil, err
	}
	out := &Result{}
	for _, s := range scenarios {
		diffs, err := best(s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
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

// best replays a scenario with the beat that fits it. When a node reports is
// not recorded and decides how old a list is, so every half second of the cycle is
// tried, node by node, as long as lists differ.
func best(s *Scenario) (map[int][]string, error) {
	phase := map[string]time.Duration{"pve": 0, "pve1": 0, "pve2": 0, "pve3": 0}
	run := func() (map[int][]string, error) {
		p, err := newPlayer(s, phase)
		if err != nil {
			return nil, err
		}
		return p.play()
	}
	found, err := run()
	if err != nil {
		return nil, err
	}
	nodes := []string{"pve"}
	if seed, err := baseSeed(s); err == nil && len(seed.Nodes) > 1 {
		nodes = []string{"pve1", "pve2", "pve3"}
	}
	for _, n := range nodes {
		keep := phase[n]
		for half := 1; half < 20 && s.lags(found); half++ {
			phase[n] = time.Duration(half) * time.Second / 2
			diffs, err := run()
			if err != nil {
				return nil, err
			}
			if count(diffs) < count(found) {
				found, keep = diffs, phase[n]
			}
		}
		phase[n] = keep
	}
	return found, nil
}

func count(diffs map[int][]string) int {
	n := 0
	for _, d := range diffs {
		n += len(d)
	}
	return n
}

// lags says that a list fed by the nodes' reports is among the differences.
func (s *Scenario) lags(diffs map[int][]string) bool {
	for _, e := range s.Exchanges {
		if len(diffs[e.Seq]) > 0 && (e.api() == "/cluster/resources" || strings.HasPrefix(e.api(), "/pools")) {
			return true
		}
	}
	return false
}
