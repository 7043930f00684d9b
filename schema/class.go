package schema

import (
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"stackgen/internal/secret"
)

// A student is one line of a roster.
type student struct {
	pos   Pos
	name  string
	extra []Extra
}

// students unfolds a class's students: a count, a roster, or a roster file.
func (e *expander) students(key, v *Node) {
	list, named, ok := e.roster(v)
	if !ok {
		return
	}
	at, text := key, "student{n}"
	if named {
		text = "{name}"
	}
	if k := v.Get("key"); k != nil {
		at, text = k, k.Text
	}
	if strings.Contains(text, "{name}") && !named {
		e.errorAt(at, "students.key", CodePlaceholder, "use {n}, or give a roster", "{name} needs a roster")
		return
	}
	own := v.Without("count", "roster", "roster_file", "key", "overrides")
	varies := hasOrdinal(own)
	used := map[string]bool{}
	for i, s := range list {
		memberKey, ok := e.ordinal(at, text, i+1, slug(s.name))
		if !ok {
			return
		}
		m := member{key: memberKey, pos: s.pos, path: "students", n: i + 1, name: s.name, extra: s.extra, own: own}
		if varies {
			m.own = e.unordinal(own, m.n, m.path)
		}
		if over := v.Get("overrides", memberKey); over != nil {
			used[memberKey] = true
			m.path = "students.overrides." + memberKey
			if hasOrdinal(over) {
				over = e.unordinal(over, m.n, m.path)
			}
			m.own = merge(m.own, over, vmField())
		}
		e.add(m)
	}
	if over := v.Get("overrides"); over != nil {
		for _, k := range over.Keys {
			if !used[k.Text] {
				e.errorAt(k, "students.overrides."+k.Text, CodeUnknownKey, "", "no student has the key %q", printable(k.Text))
			}
		}
	}
}

// roster lists the students; named says whether they have names.
func (e *expander) roster(v *Node) (list []student, named, ok bool) {
	var given []string
	for _, key := range []string{"count", "roster", "roster_file"} {
		if v.Has(key) {
			given = append(given, key)
		}
	}
	if len(given) != 1 {
		e.errorAt(v, "students", CodeRoster, "give exactly one of count, roster and roster_file", "students has %d of count, roster and roster_file", len(given))
		return nil, false, false
	}
	switch given[0] {
	case "count":
		for range v.Get("count").Int() {
			list = append(list, student{pos: v.key("count").Pos})
		}
		return list, false, true
	case "roster":
		for _, item := range v.Get("roster").Items {
			list = append(list, student{pos: item.Pos, name: item.Text})
		}
	default:
		list, ok = e.rosterFile(v.Get("roster_file"))
		if !ok {
			return nil, true, false
		}
	}
	for _, s := range list {
		if slug(s.name) == "" {
			e.errorPos(s.pos, "students", CodeRoster, "write it in Latin letters or digits", "no key can be made from the name %q", printable(s.name))
			return nil, true, false
		}
	}
	return list, true, true
}

func (e *expander) rosterFile(at *Node) ([]student, bool) {
	file := at.sibling()
	content, ok := e.files[file]
	if !ok || content.Err != "" {
		e.errorAt(at, "students.roster_file", CodeFile, "", "cannot read %s: %s", printable(file), content.Err)
		return nil, false
	}
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(string(content.Body), "\ufeff")))
	r.TrimLeadingSpace = true
	lines, starts, err := records(r)
	if err != nil {
		e.errorAt(at, "students.roster_file", CodeRoster, "", "%s is not valid CSV: %v", printable(file), err)
		return nil, false
	}
	column := -1
	for i := range firstLine(lines) {
		lines[0][i] = strings.ToLower(strings.TrimSpace(lines[0][i]))
		if lines[0][i] == "name" {
			column = i
		}
	}
	if column < 0 {
		e.errorAt(at, "students.roster_file", CodeRoster, "begin the file with a header line such as name,email", "%s has no column \"name\"", printable(file))
		return nil, false
	}
	var out []student
	for i, line := range lines[1:] {
		s := student{pos: Pos{File: file, Line: starts[i+1], Col: 1}, name: strings.TrimSpace(line[column])}
		for k, value := range line {
			if k != column {
				s.extra = append(s.extra, Extra{Name: lines[0][k], Value: value})
			}
			if secret.In(value) {
				e.errorPos(s.pos, "", CodeSecret, "remove it", "column %s of this line looks like a token or a private key", printable(lines[0][k]))
			}
		}
		out = append(out, s)
	}
	return out, true
}

// records reads a CSV file, with the line that each record begins on: blank
// lines are none, and a quoted field may have several.
func records(r *csv.Reader) (all [][]string, lines []int, err error) {
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return all, lines, nil
		}
		if err != nil {
			return nil, nil, err
		}
		line, _ := r.FieldPos(0)
		all, lines = append(all, record), append(lines, line)
	}
}

func firstLine(lines [][]string) []string {
	if len(lines) == 0 {
		return nil
	}
	return lines[0]
}

// slug turns a name into a key: accents dropped, everything else but letters
// and digits a hyphen.
func slug(name string) string {
	var b strings.Builder
	for _, r := range norm.NFD.String(strings.ToLower(name)) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case unicode.Is(unicode.Mn, r):
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	out := b.String()
	if len(out) > 40 {
		out = out[:40]
	}
	return strings.Trim(out, "-")
}

// keysFrom reads the SSH keys of a VM: keys as they stand, files line by line.
func (e *expander) keysFrom(n *Node) *Node {
	out := &Node{Pos: n.Pos, Shape: ShapeList}
	for _, item := range n.Items {
		if IsPublicKey(item.Text) {
			out.Items = append(out.Items, Scalar(item.Pos, ShapeString, strings.TrimSpace(item.Text)))
			continue
		}
		content, ok := e.files[item.sibling()]
		switch {
		case !ok || content.Err != "":
			e.errorAt(item, "cloud_init.ssh_keys", CodeFile, "give a public key, or the path of a file with public keys, relative to the spec",
				"cannot read %s: %s", printable(item.sibling()), content.Err)
			continue
		case secret.In(string(content.Body)):
			e.errorAt(item, "cloud_init.ssh_keys", CodeSecret, "name the .pub file", "%s holds a private key", printable(item.sibling()))
			continue
		}
		found := false
		for _, line := range strings.Split(string(content.Body), "\n") {
			if line = strings.TrimSpace(line); IsPublicKey(line) && formats["text"].pattern.MatchString(line) {
				out.Items, found = append(out.Items, Scalar(item.Pos, ShapeString, line)), true
			}
		}
		if !found {
			e.errorAt(item, "cloud_init.ssh_keys", CodeFile, "", "%s holds no public key", printable(item.sibling()))
		}
	}
	return out
}
