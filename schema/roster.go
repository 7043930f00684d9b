package schema

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"stackgen/internal/secret"
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

	was   *Seat // in the lock, if any
	n     int
	key   string
	spelt bool // the key differs from the name in more than upper case
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
	r := &roster{named: true}
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
		if !f.read() {
			return nil
		}
		r.students = f.students
	}
	if r.named && !e.differ(r.students) {
		return nil
	}
	return r
}

// differ checks that every student has a name of their own: the lock knows students
// by it.
func (e *expander) differ(students []student) bool {
	first, errors := map[string]Pos{}, e.errors
	for i := range students {
		s := &students[i]
		s.name = norm.NFC.String(strings.Join(strings.Fields(s.name), " "))
		pos, used := first[sameName(s.name)]
		switch {
		case s.name == "":
			e.errorPos(s.pos, "students", CodeRoster, "add the name, or remove the student", "a student has no name")
		case used:
			e.errorPos(s.pos, "students", CodeRoster, "remove one, or add what tells them apart, such as an initial", "the student %q is already at %s", s.name, pos)
		default:
			first[sameName(s.name)] = s.pos
		}
	}
	return e.errors == errors
}

// A rosterFile reads a CSV file of students.
type rosterFile struct {
	*expander
	at       *Node // the file's name in the spec
	name     string
	students []student
}

// read reads the students, at most one more than a stack can have.
func (f *rosterFile) read() bool {
	content, ok := f.files[f.name]
	if !ok || content.Err != "" {
		f.errorAt(f.at, "students.roster_file", CodeFile, "", "cannot read %s: %s", f.name, content.Err)
		return false
	}
	if line, col, ok := invalidUTF8(content.Body); ok {
		f.errorPos(Pos{f.name, line, col}, "", CodeRoster, "save it as UTF-8", "the roster is not encoded in UTF-8")
		return false
	}
	body := bytes.TrimPrefix(content.Body, []byte("\ufeff"))
	r := csv.NewReader(bytes.NewReader(body))
	r.TrimLeadingSpace, r.Comma = true, separator(body)
	header, err := r.Read()
	if err != nil && !errors.Is(err, io.EOF) {
		return f.invalid(err)
	}
	values := f.columns(r, header, body)
	if values == nil {
		return false
	}
	name := slices.Index(header, "name")
	if name < 0 {
		f.errorAt(f.at, "students.roster_file", CodeRoster, "begin the file with a header line such as name,email", "%s has no column \"name\"", f.name)
		return false
	}
	for len(f.students) <= maxVMs {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return f.invalid(err)
		}
		line, _ := r.FieldPos(0)
		s, empty := student{pos: Pos{File: f.name, Line: line, Col: 1}, name: record[name]}, true
		for i, value := range record {
			line, col := r.FieldPos(i)
			values[i].check(Pos{File: f.name, Line: line, Col: col}, value)
			empty = empty && strings.TrimSpace(value) == ""
			if i != name && header[i] != "" {
				s.extra = append(s.extra, Extra{Name: header[i], Value: value})
			}
		}
		if !empty { // spreadsheets write lines of separators only
			f.students = append(f.students, s)
		}
	}
	f.report(values, body)
	return true
}

// invalid reports a line that is not CSV.
func (f *rosterFile) invalid(err error) bool {
	pos := Pos{File: f.name, Line: 1, Col: 1}
	if e := (*csv.ParseError)(nil); errors.As(err, &e) {
		pos.Line, err = e.Line, e.Err
	}
	f.errorPos(pos, "", CodeRoster, "quote fields that contain a separator, a quote or a line break", "the roster is not valid CSV: %v", err)
	return false
}

// separator returns what separates the fields of the first line that is not blank:
// the first comma or semicolon outside of quotes.
func separator(text []byte) rune {
	quoted := false
	for _, c := range bytes.TrimLeft(text, "\r\n") {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == ',' || c == ';':
			return rune(c)
		case c == '\n':
			return ','
		}
	}
	return ','
}

// invalidUTF8 returns where the first byte is that is not UTF-8. UTF-16 has bytes
// that are zero.
func invalidUTF8(text []byte) (line, col int, invalid bool) {
	line, col = 1, 1
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && size == 1 || r == 0:
			return line, col, true
		case r == '\n':
			line, col = line+1, 0
		}
		text, col = text[size:], col+1
	}
	return 0, 0, false
}

// A column is checked value by value, and reported once: a wrong column is one
// mistake.
type column struct {
	name            string
	nameless        Pos // the first value, if the column has no name
	secret, control int // values with a secret or a control character
	secretAt        Pos // the first ones
	controlAt       Pos
	char            rune
}

// columns reads the header, in lower case. It returns nil if a name is there twice.
func (f *rosterFile) columns(r *csv.Reader, header []string, body []byte) []column {
	out, errors := make([]column, len(header)), f.errors
	for i := range header {
		line, col := r.FieldPos(i)
		at := Pos{File: f.name, Line: line, Col: col}
		header[i] = strings.ToLower(strings.TrimSpace(header[i]))
		out[i].name = header[i]
		out[i].check(at, header[i])
		if header[i] != "" && slices.Index(header, header[i]) < i {
			f.errorPos(inCharacters(at, body), "", CodeRoster, "rename or remove one of them", "the roster has two columns %q", header[i])
		}
	}
	if f.errors > errors {
		return nil
	}
	return out
}

func (c *column) check(at Pos, value string) {
	if c.name == "" && c.nameless.Line == 0 && strings.TrimSpace(value) != "" {
		c.nameless = at
	}
	if secret.In(value) {
		if c.secret++; c.secret == 1 {
			c.secretAt = at
		}
	}
	if r, ok := controlIn(value); ok {
		if c.control++; c.control == 1 {
			c.controlAt, c.char = at, r
		}
	}
}

// report reports the columns' mistakes.
func (f *rosterFile) report(columns []column, src []byte) {
	lines := func(n int) string {
		if n == 1 {
			return "on this line"
		}
		return fmt.Sprintf("on %d lines, first here,", n)
	}
	for i, c := range columns {
		if c.nameless.Line > 0 {
			f.errorPos(inCharacters(c.nameless, src), "", CodeRoster, "name the column in the first line, or remove its values", "column %d has values and no name", i+1)
		}
		if c.secret > 0 {
			f.errorPos(inCharacters(c.secretAt, src), "", CodeSecret, "remove it", "column %q %s contains something like a token or a private key", c.name, lines(c.secret))
		}
		if c.control > 0 {
			f.errorPos(inCharacters(c.controlAt, src), "", CodeValue, fmt.Sprintf("remove the character %U", c.char), "column %q %s contains %s", c.name, lines(c.control), controlName(c.char))
		}
	}
}

// inCharacters converts a column that is counted in bytes, as encoding/csv does.
func inCharacters(pos Pos, src []byte) Pos {
	lines := bytes.SplitN(src, []byte("\n"), pos.Line+1)
	if pos.Line <= len(lines) {
		line := lines[pos.Line-1]
		pos.Col = utf8.RuneCount(line[:min(len(line), pos.Col-1)]) + 1
	}
	return pos
}
