package test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	scriptEnds = regexp.MustCompile(`(?m)^exits ([23]) stackgen (.*)$`)
	// realEnds matches the calls with which tests of test/real run apply and destroy.
	realEnds = regexp.MustCompile(`\b(?:deployed|answered|answeredAfter)\(([23]), "([^"]*)"`)
	codeRow  = regexp.MustCompile("(?m)^\\| (`.*`) \\| ")
	ofHelp   = regexp.MustCompile(`\b([23]) `)
)

// TestDocsExitCodes compares docs/exit-codes.md with the codes of the program, with the
// codes that the help of each command names, and with those that tests see: every command
// that ends with 2 or 3 has a row, and every row has a test.
func TestDocsExitCodes(t *testing.T) {
	page := string(read(t, "../docs/exit-codes.md"))
	var codes []string
	for _, m := range regexp.MustCompile(`(?m)^\| (\d) \| `).FindAllStringSubmatch(page, -1) {
		codes = append(codes, m[1])
	}
	if want := exitConstants(t); !slices.Equal(codes, want) {
		t.Errorf("docs/exit-codes.md describes %v, and cmd/main.go has %v", codes, want)
	}
	seen := endings(t)
	for _, code := range []string{"2", "3"} {
		_, table, _ := strings.Cut(page, "\n| command | "+code+" means |\n")
		table, _, _ = strings.Cut(table, "\n\n")
		var rows []string
		for _, m := range codeRow.FindAllStringSubmatch(table, -1) {
			rows = append(rows, strings.Split(strings.ReplaceAll(m[1], "`", ""), ", ")...)
		}
		for _, row := range rows {
			if !slices.ContainsFunc(seen[code], func(line string) bool { return rowHas(row, line) }) {
				t.Errorf("docs/exit-codes.md: no test sees that `%s` ends with %s", row, code)
			}
		}
		for _, line := range seen[code] {
			if !slices.ContainsFunc(rows, func(row string) bool { return rowHas(row, line) }) {
				t.Errorf("docs/exit-codes.md does not say that `%s` ends with %s", line, code)
			}
		}
		for _, name := range commandNames(t) {
			described := slices.ContainsFunc(rows, func(row string) bool { return strings.Fields(row)[0] == name })
			if described != slices.Contains(helpCodes(t, name), code) {
				t.Errorf("docs/exit-codes.md and `stackgen %s --help` differ about %s", name, code)
			}
		}
	}
}

// rowHas reports whether a command line is what a row of the page is about.
func rowHas(row, line string) bool {
	words := strings.Fields(line)
	for i, word := range strings.Fields(row) {
		if i == 0 && words[0] != word || !slices.Contains(words, word) {
			return false
		}
	}
	return true
}

// endings are the command lines of tests by the code that they end with.
func endings(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, script := range scripts(t) {
		for _, m := range scriptEnds.FindAllSubmatch(script.Comment, -1) {
			out[string(m[1])] = append(out[string(m[1])], string(m[2]))
		}
	}
	files, err := filepath.Glob("real/*_test.go")
	check(t, err)
	for _, file := range files {
		for _, m := range realEnds.FindAllSubmatch(read(t, file), -1) {
			out[string(m[1])] = append(out[string(m[1])], string(m[2]))
		}
	}
	return out
}

// exitConstants are the values of the constants exit... in cmd/main.go.
func exitConstants(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../cmd/main.go", nil, parser.SkipObjectResolution)
	check(t, err)
	var out []string
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(v.Names[0].Name, "exit") && len(v.Values) == 1 {
			if l, ok := v.Values[0].(*ast.BasicLit); ok {
				out = append(out, l.Value)
			}
		}
		return true
	})
	return out
}

func commandNames(t *testing.T) []string {
	t.Helper()
	_, all, _ := strings.Cut(help(t), "COMMANDS:\n")
	all, _, _ = strings.Cut(all, "\n\n")
	var out []string
	for _, m := range listed.FindAllStringSubmatch(all, -1) {
		out = append(out, m[1])
	}
	return out
}

// helpCodes are 2 and 3, if the help of a command says what it means by them.
func helpCodes(t *testing.T, name string) []string {
	t.Helper()
	text := strings.Join(strings.Fields(help(t, name)), " ")
	_, text, _ = strings.Cut(text, "Exit codes: ")
	text, _, _ = strings.Cut(text, " OPTIONS: ")
	var out []string
	for _, m := range ofHelp.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}
