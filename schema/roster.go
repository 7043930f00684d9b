package schema

import (
	"fmt"
	"regexp"
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
	email string // in lower case; empty if the roster has none
	extra []Extra

	was       *Seat // in the lock, if any
	corrected bool  // the spec says that it is this student's
	n         int
	key       string
	spelt     bool // the key differs from the name in more than upper case
	whose     string
}

func (s *student) member() Member { return Member{s.name, s.email} }

// mayBe reports whether the student may be a member of the lock: nothing tells them apart.
func (s *student) mayBe(m Member) bool {
	agrees := func(agree func(*student, *Seat) bool) bool { return agree(s, &Seat{Member: m}) }
	return sameName(s.name) == sameName(m.Name) && slices.ContainsFunc(agreements, agrees)
}

// formerly is what the lock has for the student's VM, if that is something else.
func (s *student) formerly() Member {
	if s.was == nil || s.was.Member.Name == s.name && (s.email == "" || s.was.Member.Email == "" || s.was.Member.Email == s.email) {
		return Member{}
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
		e.errorAt(v, "students", CodeRoster, "keep exactly one of count, roster and roster_file",
			"students has %d of count, roster and roster_file", len(given))
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
		readEmails(r.students)
	}
	if r.named && !e.differ(r.students) || !readable {
		return nil
	}
	return r
}

// differ checks that the lock can tell every student from each other one: by the name, and by
// the e-mail address if they have the same name.
func (e *expander) differ(students []student) bool {
	first, errors := map[string][]*student{}, e.errors
	for i := range students {
		s := &students[i]
		s.name = spelling(s.name)
		if s.name == "" {
			e.errorPos(s.pos, "students", CodeRoster, "add the name, or remove the student", "a student has no name")
			continue
		}
		same := first[sameName(s.name)]
		first[sameName(s.name)] = append(same, s)
		for _, other := range same {
			if s.email == "" || other.email == "" || s.email == other.email {
				e.alike(s, other)
				break
			}
		}
	}
	return e.errors == errors
}

// alike reports two students that the lock cannot tell apart.
func (e *expander) alike(s, other *student) {
	keep := ""
	if at, ok := only(e.seats[e.formerName()], func(at Seat) bool { return at.Live && sameName(at.Member.Name) == sameName(s.name) }); ok {
		keep = "; the one who has VM " + at.Key + " keeps the name as it is"
	}
	switch {
	case slices.Equal(s.extra, other.extra):
		e.errorPos(s.pos, "students", CodeRoster, "remove one, or add what tells them apart, such as an initial"+keep,
			"the student %q is already at %s", s.name, other.pos)
	case s.email != "" && s.email == other.email:
		e.errorPos(s.pos, "students", CodeRoster, "correct one of the addresses, or remove one of the lines",
			"two students are %s: this one with %s, and one at %s with %s",
			s.member(), s.unlike(other), other.pos, other.unlike(s))
	default:
		e.errorPos(s.pos, "students", CodeRoster,
			`write the e-mail address of each into a column "email", or what tells them apart into one name, such as an initial`+keep,
			"two students are named %q: this one with %s, and one at %s with %s", s.name, s.unlike(other), other.pos, other.unlike(s))
	}
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

// readEmails gives the students the addresses of their lines.
func readEmails(students []student) {
	column := emailColumn(students)
	for i := range students {
		for _, x := range students[i].extra {
			if value := strings.TrimSpace(x.Value); x.Name == column && emails.MatchString(value) {
				students[i].email = strings.ToLower(value)
			}
		}
	}
}

// emailColumn is the name of the column with the e-mail addresses. Of several it is the same one
// in any order of the columns.
func emailColumn(students []student) string {
	if len(students) == 0 {
		return ""
	}
	var columns []string
	for _, name := range []string{"email", "e-mail", "mail"} {
		if slices.ContainsFunc(students[0].extra, func(x Extra) bool { return x.Name == name }) {
			return name
		}
	}
	for i, x := range students[0].extra {
		if hasEmails(students, i) {
			columns = append(columns, x.Name)
		}
	}
	if len(columns) == 0 {
		return ""
	}
	return slices.Min(columns)
}

// hasEmails reports whether a column has e-mail addresses and nothing else. Some may be missing.
func hasEmails(students []student, column int) bool {
	found := false
	for i := range students {
		switch value := strings.TrimSpace(students[i].extra[column].Value); {
		case emails.MatchString(value):
			found = true
		case value != "":
			return false
		}
	}
	return found
}

// emails is how e-mail addresses are written, as far as telling two apart needs it.
var emails = regexp.MustCompile(`^[^\s@<>]+@[^\s@<>]+$`)
