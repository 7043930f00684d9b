package schema

import (
	"fmt"
	"slices"
	"strings"
)

// A roster lists the students of a class.
type roster struct {
	students []student
	named    bool // with names, not only a count
}

// A student is one line of a roster, or one of a count. The seating adds the rest.
type student struct {
	pos   Pos
	name  string // with single spaces, in Unicode's composed form
	extra []Extra

	was       *Seat // in the lock, if any
	corrected bool  // the spec says that it is this student's
	n         int
	key       string
	spelt     bool // the key differs from the name in more than upper case
}

// formerly is the name that the lock has for the student's VM, if it has another spelling.
func (s *student) formerly() string {
	if s.was == nil || s.was.Member == s.name {
		return ""
	}
	return s.was.Member
}

// readRoster reads the students of a class: a count, a list, or a file. It
// returns nil where there are none, or where they have errors.
func (e *expander) readRoster() *roster {
	v := e.root.Get("students")
	if v == nil {
		return nil
	}
	var given []string
	for _, key := range []string{"count", "roster", "roster_file"} {
		if v.Has(key) {
			given = append(given, key)
		}
	}
	if len(given) != 1 {
		e.errorAt(v, "students", CodeRoster, "keep exactly one of count, roster and roster_file", "students has %d of count, roster and roster_file", len(given))
		return nil
	}
	r, readable := &roster{named: true}, true
	switch n := v.Get(given[0]); given[0] {
	case "count":
		r.named = false
		for range n.Int() {
			r.students = append(r.students, student{pos: v.key("count").Pos})
		}
	case "roster":
		for _, item := range n.Items[:min(len(n.Items), maxVMs+1)] {
			r.students = append(r.students, student{pos: item.Pos, name: item.Text})
		}
	default:
		f := rosterFile{expander: e, at: n, name: n.sibling()}
		readable = f.read()
		r.students = f.students
	}
	if r.named && !e.differ(r.students) || !readable {
		return nil
	}
	return r
}

// differ checks that every student has a name of their own: the lock knows students
// by it.
func (e *expander) differ(students []student) bool {
	first, errors := map[string]*student{}, e.errors
	for i := range students {
		s := &students[i]
		s.name = spelling(s.name)
		other, used := first[sameName(s.name)]
		switch {
		case s.name == "":
			e.errorPos(s.pos, "students", CodeRoster, "add the name, or remove the student", "a student has no name")
		case used && slices.Equal(s.extra, other.extra):
			e.errorPos(s.pos, "students", CodeRoster, "remove one, or add what tells them apart, such as an initial", "the student %q is already at %s", s.name, other.pos)
		case used:
			e.errorPos(s.pos, "students", CodeRoster, "write what tells them apart into the name, such as an initial or a number", "two students are named %q: this one with %s, and one at %s with %s",
				s.name, s.unlike(other), other.pos, other.unlike(s))
		default:
			first[sameName(s.name)] = s
		}
	}
	return e.errors == errors
}

// unlike are the columns of a student that differ from another one's.
func (s *student) unlike(other *student) string {
	var out []string
	for i, x := range s.extra { // all lines have all columns
		if x != other.extra[i] {
			out = append(out, fmt.Sprintf("%s %q", x.Name, x.Value))
		}
	}
	return strings.Join(out, ", ")
}
