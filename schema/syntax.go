package schema

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxRepaired bounds the files in which the cause of a syntax error is looked for: each
// possible cause is one more reading.
const maxRepaired = 1 << 20

var (
	yamlLine = regexp.MustCompile(`line (\d+): `)
	// yamlParser are the errors of yaml.v3's parser. It counts lines from 0; its
	// scanner counts from 1.
	yamlParser = regexp.MustCompile(`^(did not find expected (<|node content|'-' indicator|key|',' or)|` +
		`found (undefined tag handle|duplicate|incompatible))`)
	yamlAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)
	anchors    = regexp.MustCompile(`(?:^|[\s\[{,])&([^\s\[\]{},]+)`)
)

// failedAt splits an error of yaml.v3 into its line, or 0, and its text.
func failedAt(err error) (line int, text string) {
	text = strings.TrimPrefix(err.Error(), "yaml: ")
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1]) // digits
		if text = strings.Replace(text, m[0], "", 1); yamlParser.MatchString(text) {
			line++
		}
	}
	return line, text
}

// syntaxProblem describes what the YAML parser refuses: the usual mistakes by their cause,
// the others in the parser's words.
func syntaxProblem(file string, src []byte, err error) Problem {
	line, text := failedAt(err)
	p := Problem{
		Pos:      Pos{File: file, Line: max(line, 1), Col: 1},
		Severity: SeverityError,
		Code:     CodeSyntax,
		Message:  "not valid YAML: " + text,
	}
	lines := strings.Split(string(src), "\n")
	if n := conflict(lines); n > 0 {
		p.Line, p.Message, p.Fix = n, conflictMessage, conflictFix
		return p
	}
	if m := yamlAnchor.FindStringSubmatch(text); m != nil {
		p.unknownAnchor(lines, m[1])
		return p
	}
	if line, col, ok := invalidUTF8(src); ok && !utf8.Valid(src) {
		p.Line, p.Col, p.Message, p.Fix = line, col, "the file is not encoded in UTF-8", "save it as UTF-8"
		return p
	}
	if p.Line > len(lines) {
		return p
	}
	p.Col = indentOf(lines[p.Line-1]) + 1
	if len(src) <= maxRepaired {
		p.repair(lines)
	}
	return p
}

// conflictLine is one of the lines with which Git marks the versions of a merge conflict.
var conflictLine = regexp.MustCompile(`^(<{7}|={7}|>{7}|\|{7})( .*)?\r?$`)

const (
	conflictMessage = "Git left a merge conflict here"
	conflictFix     = "keep what is right of both versions, and remove the lines that begin with <<<<<<<, ======= and >>>>>>>"
)

// conflict is the number of the line at which a merge conflict begins, or 0.
func conflict(lines []string) int {
	begin := slices.IndexFunc(lines, func(l string) bool { return conflictLine.MatchString(l) && l[0] == '<' })
	if begin < 0 || !slices.ContainsFunc(lines[begin:], func(l string) bool { return conflictLine.MatchString(l) && l[0] == '>' }) {
		return 0
	}
	return begin + 1
}

// unknownAnchor points at the alias, which the parser names without a line.
func (p *Problem) unknownAnchor(lines []string, name string) {
	alias := regexp.MustCompile(`(?:^|[\s\[{,])(\*` + regexp.QuoteMeta(name) + `)(?:[\s\]},]|$)`)
	p.Message = fmt.Sprintf("the alias *%s has no anchor &%s before it", name, name)
	var before []string
	for i, line := range lines {
		if at := alias.FindStringSubmatchIndex(line); at != nil && !strings.Contains(line[:at[2]], "#") {
			p.Line, p.Col = i+1, utf8.RuneCountInString(line[:at[2]])+1
			break
		}
		for _, m := range anchors.FindAllStringSubmatch(line, -1) {
			before = append(before, m[1])
		}
	}
	switch near := Nearest(name, before); {
	case slices.Contains(before, name):
		p.Fix = "" // the anchor is in text or a comment
	case near != "":
		p.Fix = fmt.Sprintf("did you mean *%s?", near)
	case len(before) > 0:
		p.Fix = "anchors before it: &" + strings.Join(before, ", &")
	default:
		p.Fix = fmt.Sprintf("write &%s before the value that it repeats, further up in the file", name)
	}
}

// A repair corrects one usual mistake in a line, below the next line above it that has text. It
// returns the line as it was if the line does not have the mistake.
type repair struct {
	message string
	line    func(line, above string) (repaired string, col int, fix string)
	all     bool // who makes the mistake makes it in every line
	below   bool // the lines below it that are indented as much, or more, have the mistake, too
}

// spaces replaces TABs at the beginning of a line. How wide they look depends on the editor.
func spaces(width int) repair {
	return repair{"the line is indented with a TAB, but YAML allows only spaces there", func(line, _ string) (string, int, string) {
		at := indentTab.FindString(line)
		repaired := strings.ReplaceAll(at, "\t", strings.Repeat(" ", width)) + line[len(at):]
		return repaired, strings.Index(line, "\t") + 1, "replace the TAB with spaces"
	}, true, false}
}

var (
	noColon   = regexp.MustCompile(`^(\s*(?:- )?)([A-Za-z_][\w-]*)(\s+[^\s:#][^:#]*)?(\s+#.*)?\r?$`)
	noSpace   = regexp.MustCompile(`^(\s*(?:- )?)([A-Za-z_][\w-]*):([^\s:/].*)$`)
	unquoted  = regexp.MustCompile(`^(\s*(?:- )?[A-Za-z_][\w-]*: +)([^\s"'#{\[|>&*!].*?)(\s+#.*)?\r?$`)
	inBraces  = regexp.MustCompile(`[\w./:-]*(?:\{(?:` + arithmetic + `|name|key|stack|env)\}[\w./:-]*)+`)
	hasValue  = regexp.MustCompile(`^(\s*(?:- )?)([A-Za-z_][\w-]*): +([^\s#|>&*!])`)
	indentTab = regexp.MustCompile(`^[ ]*\t[ \t]*`)
)

// repairs are tried in this order. Each is named only if the file can be read further with it.
var repairs = []repair{
	spaces(2), spaces(4), spaces(8),
	{"the line is indented further than the one above it, which has a value already", func(line, above string) (string, int, string) {
		m := hasValue.FindStringSubmatch(above)
		if m == nil || indentOf(line) <= len(m[1]) {
			return line, 0, ""
		}
		fix := fmt.Sprintf("indent it by %d spaces", len(m[1]))
		if m[1] == "" {
			fix = "do not indent it"
		}
		if m[3] == "{" && indentOf(line) > len(m[1])+1 {
			fix = fmt.Sprintf("if it belongs to %s, write it into the { } of %[1]s; otherwise %s", m[2], fix)
		}
		return strings.Repeat(" ", len(m[1])) + strings.TrimLeft(line, " \t"), indentOf(line) + 1, fix
	}, false, true},
	{"a colon is missing after the key", func(line, _ string) (string, int, string) {
		m := noColon.FindStringSubmatch(line)
		if m == nil {
			return line, 0, ""
		}
		text := m[2] + ":" + m[3]
		return m[1] + text + m[4], len(m[1]) + 1, "write " + text
	}, false, false},
	{"a space is missing after the colon", func(line, _ string) (string, int, string) {
		m := noSpace.FindStringSubmatch(line)
		if m == nil {
			return line, 0, ""
		}
		return m[1] + m[2] + ": " + m[3], len(m[1]) + len(m[2]) + 1, "write " + m[2] + ": " + strings.TrimRight(m[3], "\r")
	}, false, false},
	{"text with {n} or another placeholder needs quotes here", func(line, _ string) (string, int, string) {
		at := inBraces.FindStringIndex(line)
		if at == nil || strings.ContainsAny(line[:at[0]], `"'#`) {
			return line, 0, ""
		}
		quoted := inBraces.ReplaceAllStringFunc(line, strconv.Quote)
		return quoted, at[0] + 1, "write " + strconv.Quote(line[at[0]:at[1]])
	}, false, false},
	{"the value needs quotes", func(line, _ string) (string, int, string) {
		m := unquoted.FindStringSubmatch(line)
		if m == nil || strings.ContainsAny(m[2], `"\`) {
			return line, 0, ""
		}
		return m[1] + strconv.Quote(m[2]) + m[3], len(m[1]) + 1, "write " + strconv.Quote(m[2])
	}, false, false},
}

// repair looks for the mistake around the line that the parser names: a scalar that goes on in
// the next line is refused there, and a wrong key may be refused where the one above it begins.
func (p *Problem) repair(lines []string) {
	around := []int{p.Line}
	if above := textAbove(lines, p.Line); above > 0 {
		around = append(around, above)
	}
	for below := p.Line + 1; below <= len(lines); below++ {
		if strings.TrimSpace(lines[below-1]) != "" {
			around = append(around, below)
			break
		}
	}
	slices.Sort(around)
	for _, r := range repairs {
		for _, n := range around {
			if line, col, fix := r.at(lines, n); line != lines[n-1] && r.readsFurther(lines, n) {
				p.Line, p.Col, p.Message, p.Fix = n, utf8.RuneCountInString(lines[n-1][:col-1])+1, r.message, fix
				return
			}
		}
	}
}

// at repairs line n.
func (r repair) at(lines []string, n int) (repaired string, col int, fix string) {
	above := ""
	if n := textAbove(lines, n); n > 0 {
		above = lines[n-1]
	}
	return r.line(lines[n-1], above)
}

// textAbove is the number of the next line above line n that has text, or 0.
func textAbove(lines []string, n int) int {
	for n > 1 {
		if n--; strings.TrimSpace(lines[n-1]) != "" {
			return n
		}
	}
	return 0
}

// readsFurther reports whether the file with the repaired line n can be read beyond that line
// and the next one, where a wrong line is noticed at the latest.
func (r repair) readsFurther(lines []string, n int) bool {
	src := slices.Clone(lines)
	for i := range src {
		if r.all || i == n-1 {
			src[i], _, _ = r.at(lines, i+1)
		}
	}
	if was := indentOf(lines[n-1]); r.below {
		for i := n; i < len(src) && (strings.TrimSpace(src[i]) == "" || indentOf(src[i]) >= was); i++ {
			src[i] = src[i][min(len(src[i]), was-indentOf(src[n-1])):]
		}
	}
	_, err := decode([]byte(strings.Join(src, "\n")))
	if err == nil {
		return true
	}
	failed, text := failedAt(err)
	return yamlAnchor.MatchString(text) || failed > n+1
}

// indentOf is the number of characters before the text of a line.
func indentOf(line string) int { return len(line) - len(bytes.TrimLeft([]byte(line), " \t")) }
