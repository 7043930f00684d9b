package check

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"stackgen/internal/drift"
	"stackgen/internal/files"
	"stackgen/internal/finding"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// maxBaseline is the size of a baseline in bytes.
const maxBaseline = 4 << 20

// A Baseline is a file of known differences. Dates are days such as 2026-12-31.
type Baseline struct {
	File    string
	Today   string
	Add     bool   // what the file does not know is added, with
	Reason  string // this reason,
	Expires string // until this day
}

// A BaselineError says that the file of a baseline has problems.
type BaselineError struct {
	Problems []schema.Problem
	Sources  map[string][]byte
}

func (e *BaselineError) Error() string { return "the baseline has errors" }

// Apply marks the differences that the baseline knows, and notes the entries that have
// expired and those that can be removed. added is how many differences were written.
func (d *Drift) Apply(r Baseline) (added int, err error) {
	src, err := files.Read(r.File, maxBaseline)
	if err != nil && !(r.Add && errors.Is(err, fs.ErrNotExist)) {
		return 0, fmt.Errorf("cannot read the baseline %s: %w", r.File, files.Cause(err))
	}
	known, err := parseBaseline(r.File, src)
	if err != nil {
		return 0, err
	}
	if r.Add {
		body, n, err := known.Add(d.Findings, r.Today, r.Reason, r.Expires)
		if err != nil {
			return 0, err
		}
		if n > 0 {
			kind := files.Changed
			if src == nil {
				kind = files.Created
			}
			dir, name := filepath.Split(r.File)
			if err := files.Apply(filepath.Clean(dir), []files.Change{{Path: name, Kind: kind, Old: src, New: body}}); err != nil {
				return 0, err
			}
		}
		if known, err = parseBaseline(r.File, body); err != nil { // what is written can be read
			return 0, err
		}
		added = n
	}
	for _, e := range known.Apply(d.Findings, r.Today, d.complete) {
		d.Notes = append(d.Notes, fmt.Sprintf("%s: nothing differs there any more as %s says: remove the entry", e.String(), e.Pos))
	}
	return added, nil
}

func parseBaseline(file string, src []byte) (*drift.Baseline, error) {
	b, problems := drift.ParseBaseline(filepath.ToSlash(file), src)
	if b == nil {
		return nil, &BaselineError{problems, map[string][]byte{filepath.ToSlash(file): src}}
	}
	return b, nil
}

// complete reports whether all differences of a stack are known.
func (d *Drift) complete(stack string) bool {
	for _, f := range d.Findings {
		if f.Stack == stack && f.Severity == finding.Failed {
			return false
		}
	}
	return slices.ContainsFunc(d.planned, func(u tf.Unit) bool { return u.Stack == stack })
}

// IsDate reports whether a text is a day such as 2026-12-31.
func IsDate(text string) bool { return drift.IsDate(text) }

// Exit is the exit code of the differences that no baseline knows: of any, of those that
// block, or of none, as --fail-on says.
func (d *Drift) Exit(failOn string) finding.Severity { return drift.Exit(d.Findings, failOn) }
