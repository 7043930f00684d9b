package replay

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Difference is one place where the simulator responds differently than
// recorded.
type Difference struct {
	Scenario string
	Seq      int
	Call     string
	Text     string
	Reason   Reason // empty for a fault of the simulator
	Why      string
}

// String returns the difference as one line.
func (d Difference) String() string {
	return fmt.Sprintf("%s %d %s: %s", d.Scenario, d.Seq, d.Call, strings.ReplaceAll(d.Text, "\n", "\\n"))
}

// Result is the outcome of replaying folders.
type Result struct {
	Families    []Family
	Differences []Difference
	Prepared    []string // unrecorded steps
}

// Family counts the exchanges of related recordings.
type Family struct {
	Name      string
	Scenarios int
	Matched   int
	All       int
	Explained int // exchanges that differ, each difference with a reason
}

// Unexplained returns the differences without a reason.
func (r *Result) Unexplained() []Difference {
	return slices.DeleteFunc(slices.Clone(r.Differences), func(d Difference) bool { return d.Reason != "" })
}

// Total returns the sum of all families.
func (r *Result) Total() Family {
	out := Family{Name: "total"}
	for _, f := range r.Families {
		out.Scenarios += f.Scenarios
		out.Matched += f.Matched
		out.All += f.All
		out.Explained += f.Explained
	}
	return out
}

// Print writes a table of the families, the explained differences by reason, and
// the others one by one.
func (r *Result) Print(out io.Writer) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	rows := []string{"family\tscenarios\tmatched\tof\tdiffer with a reason\tdiffer without"}
	for _, f := range append(slices.Clone(r.Families), r.Total()) {
		rows = append(rows, fmt.Sprintf("%s\t%d\t%d\t%d\t%d\t%d",
			f.Name, f.Scenarios, f.Matched, f.All, f.Explained, f.All-f.Matched-f.Explained))
	}
	if _, err := fmt.Fprintln(t, strings.Join(rows, "\n")); err != nil {
		return err
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, d := range r.Differences {
		mark := "no reason"
		if d.Reason != "" {
			mark = string(d.Reason) + ", " + d.Why
		}
		if _, err := fmt.Fprintf(out, "%s [%s]\n", d, mark); err != nil {
			return err
		}
	}
	return nil
}

// Folders replays every recording of some folders, each against its own cluster.
func Folders(dirs ...string) (*Result, error) {
	out := &Result{}
	for _, dir := range dirs {
		if err := out.folder(dir); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (r *Result) folder(dir string) error {
	scenarios, err := Load(dir)
	if err != nil {
		return err
	}
	if len(scenarios) == 0 {
		return fmt.Errorf("%s contains no recordings", dir)
	}
	for _, s := range scenarios {
		diffs, prepared, err := replayBest(s)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		r.Prepared = append(r.Prepared, prepared...)
		r.add(family(filepath.Base(dir), s.Name), s, diffs)
	}
	return nil
}

func (r *Result) add(name string, s *Scenario, diffs map[int][]string) {
	i := slices.IndexFunc(r.Families, func(f Family) bool { return f.Name == name })
	if i < 0 {
		i = len(r.Families)
		r.Families = append(r.Families, Family{Name: name})
	}
	f := &r.Families[i]
	f.Scenarios++
	for _, e := range s.Exchanges {
		f.All++
		explained := true
		for _, text := range diffs[e.Seq] {
			d := Difference{Scenario: s.Name, Seq: e.Seq, Call: e.Method + " " + strings.TrimPrefix(e.Path, "/api2/json"), Text: text}
			explain(&d)
			explained = explained && d.Reason != ""
			r.Differences = append(r.Differences, d)
		}
		switch {
		case len(diffs[e.Seq]) == 0:
			f.Matched++
		case explained:
			f.Explained++
		}
	}
}

// attempt is one replay with assumptions about what the recording does not show.
type attempt struct {
	diffs    map[int][]string
	prepared []string
}

// replayBest replays a scenario with the assumptions that match best. The times at
// which nodes report are not recorded, but they decide how old a list is, so it tries
// every half second of the cycle, node by node, while lists differ. Then it tries
// whether VMIDs had been in use before.
func replayBest(s *Scenario) (map[int][]string, []string, error) {
	best, err := s.bestPhase(false)
	if err != nil {
		return nil, nil, err
	}
	if s.listsDiffer(best.diffs) {
		other, err := s.bestPhase(true)
		if err != nil {
			return nil, nil, err
		}
		if count(other.diffs) < count(best.diffs) {
			best = other
		}
	}
	return best.diffs, best.prepared, nil
}

func (s *Scenario) bestPhase(reused bool) (attempt, error) {
	phase := map[string]time.Duration{"pve": 0, "pve1": 0, "pve2": 0, "pve3": 0}
	run := func() (attempt, error) {
		p, err := newPlayer(s, phase, reused)
		if err != nil {
			return attempt{}, err
		}
		diffs, err := p.play()
		return attempt{diffs, p.prepared}, err
	}
	best, err := run()
	if err != nil {
		return best, err
	}
	nodes := []string{"pve", "pve1"}
	if seed, err := baseOf(s).seed(); err == nil && len(seed.Nodes) > 1 {
		nodes = []string{"pve1", "pve2", "pve3"}
	}
	for _, n := range nodes {
		keep := phase[n]
		for half := 1; half < 20 && s.listsDiffer(best.diffs); half++ {
			phase[n] = time.Duration(half) * time.Second / 2
			other, err := run()
			if err != nil {
				return best, err
			}
			if count(other.diffs) < count(best.diffs) {
				best, keep = other, phase[n]
			}
		}
		phase[n] = keep
	}
	return best, nil
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
