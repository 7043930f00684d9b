package placement

import (
	"fmt"
	"math"
	"math/rand"
	"testing"
)

// TestChoose checks each strategy, its ties, and nodes that are out or have too little
// memory.
func TestChoose(t *testing.T) {
	const gib = 1 << 30
	idle := func(name string) *Host { return &Host{Name: name, CPUs: 16, Memory: 64 * gib} }
	load := func(name string, busy float64, used int64) *Host {
		return &Host{Name: name, CPUs: 16, Busy: busy, Memory: 64 * gib, Used: used * gib}
	}
	small := Need{CPUs: 2, Memory: 4 * gib}
	score := Rule{Score, 0.6, 0.4}
	for name, c := range map[string]struct {
		rule  Rule
		need  Need
		hosts []*Host
		vms   map[string]int
		out   string
		want  string
	}{
		"score: more free CPU":         {score, small, []*Host{load("a", 8, 0), load("b", 4, 0)}, nil, "", "b"},
		"score: more free memory":      {score, small, []*Host{load("a", 4, 32), load("b", 4, 16)}, nil, "", "b"},
		"score: CPU weighs more":       {score, small, []*Host{load("a", 0, 32), load("b", 8, 0)}, nil, "", "a"},
		"score: own weights":           {Rule{Score, 1, 5}, small, []*Host{load("a", 0, 32), load("b", 8, 0)}, nil, "", "b"},
		"score: share of a small node": {score, small, []*Host{{Name: "a", CPUs: 4, Memory: 16 * gib}, load("b", 4, 16)}, nil, "", "b"},
		"score: natural order":         {score, small, []*Host{idle("pve10"), idle("pve2")}, nil, "", "pve2"},
		"score: the best is out":       {score, small, []*Host{idle("a"), load("b", 8, 32)}, nil, "a", "b"},
		"score: the best has no room":  {score, small, []*Host{load("a", 0, 63), load("b", 15, 59)}, nil, "", "b"},
		"score: none has room":         {score, small, []*Host{load("a", 8, 63), load("b", 4, 63)}, nil, "", "b"},
		"score: not started":           {score, Need{}, []*Host{load("a", 0, 64), load("b", 15, 0)}, nil, "", "a"},
		"spread: fewer VMs":            {Rule{Spread, 0.6, 0.4}, small, []*Host{idle("a"), load("b", 8, 32)}, map[string]int{"a": 1}, "", "b"},
		"spread: then the score":       {Rule{Spread, 0.6, 0.4}, small, []*Host{load("a", 8, 0), idle("b")}, map[string]int{"a": 1, "b": 1}, "", "b"},
		"binpack: least free memory":   {Rule{Binpack, 0.6, 0.4}, small, []*Host{idle("a"), load("b", 0, 60), load("c", 0, 61)}, nil, "", "b"},
		"binpack: natural order":       {Rule{Binpack, 0.6, 0.4}, small, []*Host{load("b", 0, 8), load("a", 9, 8)}, nil, "", "a"},
		"binpack: none has room":       {Rule{Binpack, 0.6, 0.4}, small, []*Host{load("a", 0, 64), load("b", 0, 62)}, nil, "", "b"},
		"all are out":                  {score, small, []*Host{idle("a")}, nil, "a", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var all []Candidate
			for _, h := range c.hosts {
				if h.Name == c.out {
					all = append(all, Candidate{Node: h.Name, Out: "offline"})
					continue
				}
				all = append(all, h.With(c.need, c.rule, c.vms[h.Name]))
			}
			got := ""
			if best := c.rule.Choose(all); best != nil {
				got = best.Node
			}
			if got != c.want {
				t.Errorf("%q, want %q: %+v", got, c.want, all)
			}
		})
	}
}

// fleet is 16 nodes that differ in size and in what they do already.
func fleet() []*Host {
	var out []*Host
	for i := range 16 {
		cpus, memory := float64(16+16*(i%4)), int64(64+64*(i%3))<<30
		out = append(out, &Host{Name: fmt.Sprintf("pve%d", i+1), CPUs: cpus, Busy: cpus * float64(i%5) / 20, Memory: memory, Used: memory * int64(i%4) / 10})
	}
	return out
}

// load is how full a node is: of CPUs and memory, that of which less is left.
func (h *Host) load() float64 {
	return max(h.Busy/h.CPUs, float64(h.Used)/float64(h.Memory))
}

// A placer places one more VM. vms are those that each node has already.
type placer func(i int, hosts []*Host, vms map[string]int, n Need) *Host

// simulate places a thousand VMs and returns the maximum and the standard deviation of
// the load of the nodes.
func simulate(place placer) (most, deviation float64) {
	hosts, vms := fleet(), map[string]int{}
	for i := range 1000 {
		n := Need{CPUs: []float64{0.25, 0.5, 1}[i%3], Memory: []int64{512, 1024, 2048, 512}[i%4] << 20}
		h := place(i, hosts, vms, n)
		h.Take(n)
		vms[h.Name]++
	}
	mean := 0.0
	for _, h := range hosts {
		most, mean = max(most, h.load()), mean+h.load()/float64(len(hosts))
	}
	for _, h := range hosts {
		deviation += (h.load() - mean) * (h.load() - mean) / float64(len(hosts))
	}
	return most, math.Sqrt(deviation)
}

// placers are the strategies that the simulation compares.
var placers = []struct {
	name  string
	place placer
}{
	{"score", byRule(Rule{Score, 0.6, 0.4})},
	{"spread", byRule(Rule{Spread, 0.6, 0.4})},
	{"binpack", byRule(Rule{Binpack, 0.6, 0.4})},
	{"round-robin", func(i int, hosts []*Host, _ map[string]int, _ Need) *Host { return hosts[i%len(hosts)] }},
	{"random", func(i int, hosts []*Host, _ map[string]int, _ Need) *Host {
		return hosts[rand.New(rand.NewSource(int64(i))).Intn(len(hosts))]
	}},
}

func byRule(r Rule) placer {
	return func(_ int, hosts []*Host, vms map[string]int, n Need) *Host {
		all := make([]Candidate, len(hosts))
		for k, h := range hosts {
			all[k] = h.With(n, r, vms[h.Name])
		}
		best := r.Choose(all)
		for _, h := range hosts {
			if h.Name == best.Node {
				return h
			}
		}
		return nil
	}
}

// TestScoreBalances checks that score leaves the nodes more alike than placing in turn
// or at random does, and no node fuller.
func TestScoreBalances(t *testing.T) {
	most, deviation := simulate(placers[0].place)
	for _, p := range placers[3:] {
		if m, d := simulate(p.place); most >= m || deviation >= d {
			t.Errorf("score: maximum %.3f, deviation %.3f; %s: %.3f and %.3f", most, deviation, p.name, m, d)
		}
	}
}

// BenchmarkPlacement places 1,000 VMs on 16 unequal nodes, and reports the maximum and
// the standard deviation of the load, which is the share of the scarcer of CPU and
// memory.
func BenchmarkPlacement(b *testing.B) {
	for _, p := range placers {
		b.Run(p.name, func(b *testing.B) {
			var most, deviation float64
			for b.Loop() {
				most, deviation = simulate(p.place)
			}
			b.ReportMetric(most, "max-load")
			b.ReportMetric(deviation, "stddev-load")
		})
	}
}
