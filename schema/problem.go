package schema

import (
	"cmp"
	"fmt"
	"slices"
)

// Severity says whether a Problem stops a command.
type Severity string

// An error stops the command; warnings and notes alone do not. A note is no mistake: it
// says what the spec leaves to a later command.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
	SeverityNote    Severity = "note"
)

// Pos is a place in a file. Line and Col count from 1; Col counts characters.
type Pos struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Col  int    `json:"column"`
}

func (p Pos) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col) }

// Compare orders places by file, line and column.
func (p Pos) Compare(q Pos) int {
	return cmp.Or(cmp.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Col, q.Col))
}

// A Problem is a mistake in a file that its author can correct. Code is stable
// and listed in Codes; Path is the place in the document, such as
// "vms.web01.cores"; Fix says how to correct it and may be empty.
//
// Message and Fix hold text from the file as it is there. Package report makes
// it safe to print.
type Problem struct {
	Pos
	Path     string   `json:"path,omitempty"`
	Severity Severity `json:"severity"`
	Code     string   `json:"code"`
	Message  string   `json:"message"`
	Fix      string   `json:"fix,omitempty"`
	First    Pos      `json:"-"` // of a second use: where the first one is
}

func (p Problem) String() string {
	return fmt.Sprintf("%s: %s: %s [%s]", p.Pos, p.Severity, p.Message, p.Code)
}

// SortProblems puts problems into a total order and drops repetitions.
func SortProblems(ps []Problem) []Problem {
	out := slices.Clone(ps)
	slices.SortFunc(out, func(a, b Problem) int {
		return cmp.Or(a.Compare(b.Pos), cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(out, func(a, b Problem) bool {
		return a.Pos == b.Pos && a.Code == b.Code && a.Message == b.Message
	})
}

// HasErrors reports whether any problem stops the command.
func HasErrors(ps []Problem) bool {
	return slices.ContainsFunc(ps, func(p Problem) bool { return p.Severity == SeverityError })
}
