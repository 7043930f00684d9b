package progress

import "slices"

// A Total counts rows.
type Total struct {
	All, Done, Failed, Active, Queued, Skipped, Continues int
}

// Total counts the rows of the given kinds, or all of them.
func (b *Board) Total(of ...Kind) Total {
	var t Total
	for _, r := range b.Rows {
		if len(of) > 0 && r.Kind != of[0] && (len(of) < 2 || r.Kind != of[1]) {
			continue
		}
		t.All++
		switch {
		case r.Phase == Broken:
			t.Failed++
		case r.Phase == Skipped:
			t.Skipped++
		case r.Phase == Continues:
			t.Continues++
		case r.Phase.Over():
			t.Done++
		case r.Active():
			t.Active++
		default:
			t.Queued++
		}
	}
	return t
}

// Left estimates how many seconds the VMs of the run still take, from those that are
// done and from how many are worked on at the same time. ok is false before one VM
// with each action that remains is done, when no VM remains, when all that remain take
// longer than the others did, when one waits for a node that is down, and when the run was
// interrupted.
func (b *Board) Left(now float64) (seconds float64, ok bool) {
	type done struct {
		n    int
		took float64
	}
	if b.Ending {
		return 0, false
	}
	finished := map[Action]*done{}
	for _, r := range b.Rows {
		if r.Kind == VM && (r.Phase == Ready || r.Phase == Done) {
			d := finished[r.Action]
			if d == nil {
				d = &done{}
				finished[r.Action] = d
			}
			d.n++
			d.took += r.Elapsed(now)
		}
	}
	work, longest := 0.0, 0.0
	remain := 0
	for _, r := range b.Rows {
		if r.Kind != VM || r.Phase.Over() {
			continue
		}
		if slices.ContainsFunc(b.Down, func(d Down) bool { return r.needs(d.Name) }) {
			return 0, false
		}
		d := finished[r.Action]
		if d == nil {
			return 0, false
		}
		rest := max(d.took/float64(d.n)-r.Elapsed(now), 0)
		work += rest
		longest = max(longest, rest)
		remain++
	}
	if longest == 0 { // none remains, or all take longer than the others did
		return 0, false
	}
	return max(work/float64(b.parallel(remain)), longest), true
}

// parallel is how many of the remaining VMs are worked on at the same time.
func (b *Board) parallel(remain int) int {
	n := b.most
	if b.Plan.Parallel > 0 {
		n = min(max(n, 1), b.Plan.Parallel)
	}
	return max(min(n, remain), 1)
}

// Stacks is how many stacks the run is about.
func (b *Board) Stacks() int {
	var names []string
	for _, r := range b.Rows {
		if !slices.Contains(names, r.Stack) {
			names = append(names, r.Stack)
		}
	}
	return len(names)
}
