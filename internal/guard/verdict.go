package guard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackgen/internal/hardware"
	"stackgen/internal/lock"
	"stackgen/schema"
)

// A Word is the verdict itself.
type Word string

// The verdicts, in the order in which they are counted.
const (
	Managed   Word = "managed"
	Create    Word = "create"
	Adopt     Word = "adopt"
	Moved     Word = "moved"
	Retiring  Word = "retiring"
	Orphan    Word = "orphan"
	Ambiguous Word = "ambiguous"
	Taken     Word = "taken"
	Lost      Word = "lost"
	Unlisted  Word = "unlisted"
	Missing   Word = "missing"
	Busy      Word = "busy"
	Unknown   Word = "unknown"
)

// Words are all verdicts, in the order in which they are counted.
var Words = []Word{Managed, Create, Adopt, Moved, Retiring, Orphan, Ambiguous, Taken, Lost, Unlisted, Missing, Busy, Unknown}

// The exit codes that a verdict asks for.
const (
	ExitDone    = 0 // an apply is right
	ExitError   = 1 // it could not be found out
	ExitDiffers = 2 // an import file is missing or stale
	ExitStop    = 3 // an apply must not be run
)

// The kinds of what is judged, in the order in which they are reported.
const (
	KindPool   = "pool"
	KindVM     = "vm"
	KindRecord = "record"
	KindGuest  = "guest" // of the cluster, and no VM of the project
	KindUnit   = "unit"  // a unit's plan as a whole
)

// A Verdict is what was found out about one VM, pool or record.
type Verdict struct {
	Stack    string                `json:"stack"`
	Unit     string                `json:"unit,omitempty"`
	Kind     string                `json:"kind"`
	Key      string                `json:"key"` // of the VM, id of the pool, name of the record, VMID of another guest
	Word     Word                  `json:"verdict"`
	Exit     int                   `json:"exit"`
	VMID     int                   `json:"vmid,omitempty"`
	Node     string                `json:"node,omitempty"`
	Name     string                `json:"name,omitempty"`
	Resource string                `json:"resource,omitempty"`   // its address in the unit
	Import   string                `json:"import,omitempty"`     // the id to import it by
	Others   []int                 `json:"candidates,omitempty"` // VMIDs to choose from, if it is ambiguous
	Evidence []string              `json:"evidence"`
	Differs  []hardware.Difference `json:"differs,omitempty"` // what the first plan after an import would change
	Next     []lock.Way            `json:"next"`

	Owner string `json:"-"` // of a record: its VM's key
	IPv4  string `json:"-"` // of a record: its VM's address, if the look or the spec tells the one it has
}

// Address is what the verdict is about, as people name it.
func (v *Verdict) Address() string {
	if v.Key == "" {
		return v.Stack + "/" + v.Unit
	}
	return v.Stack + "/" + v.Key
}

// Stop reports whether an apply must not be run.
func (v *Verdict) Stop() bool { return v.Exit == ExitStop || v.Exit == ExitError }

// is sets the word and the exit code that goes with it.
func (v *Verdict) is(word Word) *Verdict {
	v.Word, v.Exit = word, ExitStop
	switch word {
	case Managed, Create, Adopt, Moved, Retiring, Orphan:
		v.Exit = ExitDone
	}
	return v
}

// because adds evidence.
func (v *Verdict) because(format string, args ...any) *Verdict {
	v.Evidence = append(v.Evidence, fmt.Sprintf(format, args...))
	return v
}

// next adds a next step: what it does, and the lines to write or run.
func (v *Verdict) next(what string, lines ...string) *Verdict {
	for _, n := range v.Next {
		if n.What == what && slices.Equal(n.Lines, lines) {
			return v
		}
	}
	v.Next = append(v.Next, lock.Way{What: what, Lines: lines})
	return v
}

// Sort puts verdicts into their order, which is total: stack, kind, key.
func Sort(vs []Verdict) {
	kinds := []string{KindPool, KindVM, KindRecord, KindGuest, KindUnit}
	slices.SortStableFunc(vs, func(a, b Verdict) int {
		return cmp.Or(
			strings.Compare(a.Stack, b.Stack),
			cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)),
			schema.NaturalCompare(a.Key, b.Key),
			strings.Compare(a.Unit, b.Unit),
			strings.Compare(a.Resource, b.Resource),
			cmp.Compare(a.VMID, b.VMID),
			strings.Compare(string(a.Word), string(b.Word)),
			slices.Compare(a.Evidence, b.Evidence))
	})
}

// Exit is the exit code of all verdicts together: a refusal outweighs what could
// not be found out, and that a stale import file.
func Exit(vs []Verdict) int {
	code := ExitDone
	for _, v := range vs {
		for _, c := range []int{ExitStop, ExitError, ExitDiffers} {
			if v.Exit == c || code == c {
				code = c
				break
			}
		}
	}
	return code
}

// A Count is how many verdicts have a word.
type Count struct {
	Word Word `json:"verdict"`
	N    int  `json:"count"`
}

// Counts are the words that occur, in their order.
func Counts(vs []Verdict) []Count {
	var out []Count
	for _, w := range Words {
		n := 0
		for _, v := range vs {
			if v.Word == w {
				n++
			}
		}
		if n > 0 {
			out = append(out, Count{w, n})
		}
	}
	return out
}

// Merge lays what was found in plans over what was found without them, so that
// there is one verdict about each thing: the plan's where it is worse, with the
// evidence of both.
func Merge(verdicts, plans []Verdict) []Verdict {
	out := slices.Clone(verdicts)
	for _, p := range plans {
		i := slices.IndexFunc(out, func(v Verdict) bool {
			return v.Stack == p.Stack && v.Unit == p.Unit && v.Kind == p.Kind && v.Key == p.Key
		})
		if i < 0 {
			out = append(out, p)
			continue
		}
		v := &out[i]
		first, second := v, &p
		if !v.Stop() {
			first, second = &p, v
		}
		word, exit := first.Word, first.Exit
		evidence := slices.Concat(first.Evidence, slices.DeleteFunc(slices.Clone(second.Evidence), func(e string) bool { return slices.Contains(first.Evidence, e) }))
		next := first.Next
		v.Word, v.Exit, v.Import, v.Evidence, v.Next = word, exit, "", evidence, slices.Clone(next)
	}
	Sort(out)
	return out
}
