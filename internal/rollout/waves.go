package rollout

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxWave is the largest number of VMs of a wave that can be given.
const maxWave = 9999

// A Size is how many VMs a wave has: N of them, or Percent of all. The zero Size is all VMs.
type Size struct{ N, Percent int }

// ParseSize reads a number such as 5, or a percentage such as 25%. Empty text is all VMs.
func ParseSize(text string) (Size, error) {
	if text == "" {
		return Size{}, nil
	}
	digits, percent := strings.CutSuffix(text, "%")
	n, err := strconv.Atoi(digits)
	switch {
	case err != nil || n < 1 || strings.Trim(digits, "0123456789") != "":
		return Size{}, fmt.Errorf("%q is no size of a wave: give a number such as 5, or a percentage such as 25%%", text)
	case percent && n > 100:
		return Size{}, fmt.Errorf("%q is more than all VMs", text)
	case percent:
		return Size{Percent: n}, nil
	}
	return Size{N: min(n, maxWave)}, nil
}

// Of is how many VMs a wave has, of a number of VMs. It is at least 1; a percentage is rounded up.
func (s Size) Of(all int) int {
	switch {
	case s.N > 0:
		return s.N
	case s.Percent > 0:
		return max(1, (all*s.Percent+99)/100)
	}
	return max(1, all)
}

// An Order is what is cut into waves. VMs are named by their keys.
type Order struct {
	Keys   []string // in the order in which they are rebuilt
	Again  []string // those of them that an earlier run has rebuilt, and that are not healthy
	Canary []string // the first wave; keys that are not to be rebuilt are ignored
	Size   Size
	All    int // VMs of which Size is a percentage: of the whole rollout, also those that are done
}

// A Wave is VMs that are rebuilt at the same time.
type Wave struct {
	Keys   []string
	Canary bool
	Again  bool
}

// Waves are those of an order. Each key is in exactly one of them. Those that are rebuilt again are
// in waves of their own: if they fail again, no other VM is touched.
func (o Order) Waves() []Wave {
	var again, canary, rest []string
	for _, key := range o.Keys {
		switch {
		case slices.Contains(again, key), slices.Contains(canary, key), slices.Contains(rest, key):
		case slices.Contains(o.Again, key):
			again = append(again, key)
		case slices.Contains(o.Canary, key):
			canary = append(canary, key)
		default:
			rest = append(rest, key)
		}
	}
	n := o.Size.Of(max(o.All, len(o.Keys)))
	var out []Wave
	for part := range slices.Chunk(again, n) {
		out = append(out, Wave{Keys: part, Again: true})
	}
	if len(canary) > 0 {
		out = append(out, Wave{Keys: canary, Canary: true})
	}
	for part := range slices.Chunk(rest, n) {
		out = append(out, Wave{Keys: part})
	}
	return out
}
