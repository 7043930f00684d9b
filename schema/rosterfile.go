package schema

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"stackgen/internal/secret"
)

// A rosterFile reads a CSV file of students.
type rosterFile struct {
	*expander
	at       *Node // the file's name in the spec
	name     string
	students []student
	conflict bool // a merge conflict was reported
}

// read reads the students, at most one more than a stack can have. It goes on after a line that
// is wrong, and reports whether all lines could be read.
func (f *rosterFile) read() bool {
	before := f.errors
	content, ok := f.files[f.name]
	if !ok || content.Err != "" {
		f.errorAt(f.at, "students.roster_file", CodeFile, "", "cannot read %s: %s", f.name, content.Err)
		return false
	}
	if line, col, ok := invalidUTF8(content.Body); ok {
		f.errorPos(Pos{f.name, line, col}, "", CodeRoster, "save it as UTF-8", "the roster is not encoded in UTF-8")
		return false
	}
	body := oneLineEnd(bytes.TrimPrefix(content.Body, []byte("\ufeff")))
	r := csv.NewReader(bytes.NewReader(body))
	r.Comma, r.FieldsPerRecord = separator(body), -1
	r.TrimLeadingSpace = r.Comma != '\t' // which would be leading space
	header, ok := f.record(r)
	if ok && separatorLine.MatchString(strings.Join(header, string(r.Comma))) {
		header, ok = f.record(r)
	}
	if ok && f.conflicts(r, header) {
		return false
	}
	values := f.columns(r, header, body)
	if !ok || values == nil {
		return false
	}
	name := slices.Index(header, "name")
	for ok && name >= 0 && len(f.students) <= maxVMs {
		var record []string
		if record, ok = f.record(r); record != nil && !f.conflicts(r, record) {
			f.line(r, record, header, values, name)
		}
	}
	readable := name >= 0 && f.errors == before
	f.report(values, body)
	return readable
}

// record reads the next record. It reports lines that are not CSV, and returns nil for them;
// more says whether anything may follow.
func (f *rosterFile) record(r *csv.Reader) (record []string, more bool) {
	record, err := r.Read()
	if err == nil {
		return record, true
	}
	e := (*csv.ParseError)(nil)
	if !errors.As(err, &e) {
		return nil, false
	}
	f.errorPos(Pos{File: f.name, Line: e.StartLine, Col: 1}, "", CodeRoster, "quote fields that contain a separator, a quote or a line break",
		"the roster is not valid CSV: %v", e.Err)
	return nil, true
}

// conflicts reports whether a line is one with which Git marks the versions of a merge conflict: it is no student. The first
// one is a problem.
func (f *rosterFile) conflicts(r *csv.Reader, record []string) bool {
	if !conflictLine.MatchString(record[0]) {
		return false
	}
	if line, _ := r.FieldPos(0); !f.conflict {
		f.conflict = true
		f.errorPos(Pos{File: f.name, Line: line, Col: 1}, "", CodeRoster, conflictFix, conflictMessage)
	}
	return true
}

// line reads the line of a student.
func (f *rosterFile) line(r *csv.Reader, record, header []string, values []column, name int) {
	line, _ := r.FieldPos(0)
	if !slices.ContainsFunc(record, func(value string) bool { return strings.TrimSpace(value) != "" }) {
		return // spreadsheets write lines of separators only
	}
	for len(record) > len(header) && strings.TrimSpace(record[len(record)-1]) == "" {
		record = record[:len(record)-1]
	}
	if len(record) != len(header) {
		fix := "quote fields that contain a separator, a quote or a line break"
		if len(record) < len(header) {
			fix = "write every field: an empty one is only its separator"
		}
		f.errorPos(Pos{File: f.name, Line: line, Col: 1}, "", CodeRoster, fix,
			"the number of fields is %d, but the roster has %s", len(record), shownColumns(header, r.Comma))
		return
	}
	s := student{pos: Pos{File: f.name, Line: line, Col: 1}, name: record[name]}
	for i, value := range record {
		line, col := r.FieldPos(i)
		values[i].check(Pos{File: f.name, Line: line, Col: col}, value)
		if i != name && header[i] != "" {
			s.extra = append(s.extra, Extra{Name: header[i], Value: value})
		}
	}
	f.students = append(f.students, s)
}

// separators separate the fields of a line, by the programs that write them.
var separators = map[rune]string{',': "commas", ';': "semicolons", '\t': "TABs"}

// separatorLine tells a spreadsheet what separates the fields. It is no header.
var separatorLine = regexp.MustCompile(`^(?i)sep=[,;\t]*$`)

// shownColumns names what was found in the header.
func shownColumns(header []string, comma rune) string {
	var names []string
	for _, name := range header {
		names = append(names, strconv.Quote(name))
	}
	if len(names) == 1 {
		return "the one column " + names[0] + ", without commas, semicolons or TABs"
	}
	return fmt.Sprintf("%d columns, separated by %s: %s", len(names), separators[comma], strings.Join(names, ", "))
}

// oneLineEnd makes the carriage returns line ends in a file that has no other ones.
func oneLineEnd(text []byte) []byte {
	if bytes.ContainsRune(text, '\n') {
		return text
	}
	return bytes.ReplaceAll(text, []byte("\r"), []byte("\n"))
}

// separator returns what separates the fields of the first line that is not blank:
// the first comma, semicolon or TAB outside of quotes.
func separator(text []byte) rune {
	quoted := false
	for _, c := range bytes.TrimLeft(text, "\r\n") {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted:
		case separators[rune(c)] != "":
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

// columns reads the header, in lower case. It returns nil if no line can be read with it.
func (f *rosterFile) columns(r *csv.Reader, header []string, body []byte) []column {
	out, twice := make([]column, len(header)), false
	for i := range header {
		line, col := r.FieldPos(i)
		at := Pos{File: f.name, Line: line, Col: col}
		header[i] = strings.ToLower(strings.TrimSpace(header[i]))
		out[i].name = header[i]
		out[i].check(at, header[i])
		if header[i] != "" && slices.Index(header, header[i]) < i {
			twice = true
			f.errorPos(inCharacters(at, body), "", CodeRoster, "rename or remove one of them", "the roster has two columns %q", header[i])
		}
	}
	switch {
	case twice:
		return nil
	case len(header) == 0:
		f.errorPos(Pos{f.name, 1, 1}, "", CodeRoster, "begin the file with a header line such as name,email", "the roster has no line")
		return nil
	case !slices.Contains(header, "name"):
		line, _ := r.FieldPos(0)
		f.errorPos(Pos{f.name, line, 1}, "", CodeRoster,
			`begin the file with a header line in which the column of the students' names is called "name"`,
			"the roster has no column \"name\"; it has %s", shownColumns(header, r.Comma))
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
			f.errorPos(inCharacters(c.nameless, src), "", CodeRoster, "name the column in the first line, or remove its values",
				"column %d has values and no name", i+1)
		}
		if c.secret > 0 {
			f.errorPos(inCharacters(c.secretAt, src), "", CodeSecret, "remove it",
				"column %q %s contains something like a token or a private key", c.name, lines(c.secret))
		}
		if c.control > 0 {
			f.errorPos(inCharacters(c.controlAt, src), "", CodeValue, fmt.Sprintf("remove the character %U", c.char),
				"column %q %s contains %s", c.name, lines(c.control), controlName(c.char))
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
