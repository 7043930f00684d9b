package test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"stackgen/test/page"
)

// pages are all pages of the repository, as paths from its root.
func pages(t *testing.T) []string {
	t.Helper()
	out, err := filepath.Glob("../*.md")
	check(t, err)
	check(t, filepath.WalkDir("../docs", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".md" {
			out = append(out, path)
		}
		return err
	}))
	for i := range out {
		out[i] = strings.TrimPrefix(filepath.ToSlash(out[i]), "../")
	}
	return out
}

// typed matches a command that a person types.
var typed = regexp.MustCompile(`(?m)^(\$ |stackgen |terragrunt |tofu |make |go )`)

// TestDocsBlocks requires that every block of commands is run by a test that its mark
// names, or that the mark says why none can; package page describes the marks.
func TestDocsBlocks(t *testing.T) {
	tests := testSources(t)
	ci := string(read(t, "../.ci/run"))
	seen := 0
	for _, name := range pages(t) {
		blocks, err := page.Read("../" + name)
		check(t, err)
		for _, b := range blocks {
			if b.Language == "sh" && !strings.HasPrefix(b.Body, "#!") && typed.MatchString(b.Body) {
				t.Errorf("%s:%d: commands to type belong into a block of console", name, b.Line)
			}
			if b.Language != "console" {
				continue
			}
			seen++
			if problem := notRun(t, name, b, tests, ci); problem != "" {
				t.Errorf("%s:%d: %s. Marks are described in test/page/page.go", name, b.Line, problem)
			}
		}
	}
	if seen == 0 {
		t.Error("no page has a block of commands")
	}
}

// notRun is why the mark of a block does not hold, or empty. tests are the source files
// of tests by their names.
func notRun(t *testing.T, name string, b page.Block, tests map[string]string, ci string) string {
	t.Helper()
	commands, _ := b.Commands()
	mark, _, _ := strings.Cut(b.Mark, " ")
	reason, excused := strings.CutPrefix(b.Mark, "not run: ")
	switch {
	case excused && strings.Contains(reason, " "), len(commands) == 0:
		return ""
	case mark == ".ci/run":
		for _, c := range commands {
			if !slices.ContainsFunc(strings.Split(ci, "\n"), func(l string) bool { l, _, _ = strings.Cut(l, " #"); return strings.TrimPrefix(l, "step ") == c }) {
				return fmt.Sprintf(".ci/run does not run %q", c)
			}
		}
		return ""
	case strings.HasPrefix(mark, "test/script/"):
		for _, c := range commands {
			if !scriptRuns(t, mark, c) {
				return fmt.Sprintf("%s does not run %q", mark, c)
			}
		}
		return ""
	case tests[mark] != "":
		if source := tests[mark]; !strings.Contains(source, name) && !strings.Contains(source, "range pages(t)") {
			return fmt.Sprintf("%s does not read %s", mark, name)
		}
		return ""
	case strings.HasPrefix(mark, "Test"):
		return fmt.Sprintf("there is no test %s in test, test/real or test/terratest", mark)
	}
	return fmt.Sprintf("nothing runs this block: write `<!-- TestName -->`, or `<!-- not run: REASON -->`, above it; its mark is %q", b.Mark)
}

// scriptRuns reports whether a script has a command, with more arguments or not.
func scriptRuns(t *testing.T, script, command string) bool {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("..", script))
	check(t, err)
	return regexp.MustCompile(`(?m)^(exits \d+ )?` + regexp.QuoteMeta(command) + `( |$)`).Match(archive.Comment)
}

// testSources are the source files of all tests in test, test/real and test/terratest, by
// their names.
func testSources(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, pattern := range []string{"*_test.go", "real/*_test.go", "terratest/*_test.go"} {
		files, err := filepath.Glob(pattern)
		check(t, err)
		for _, file := range files {
			body := read(t, file)
			parsed, err := parser.ParseFile(token.NewFileSet(), file, body, parser.SkipObjectResolution)
			check(t, err)
			for _, d := range parsed.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Test") {
					out[f.Name.Name] = string(body)
				}
			}
		}
	}
	return out
}

var (
	linkTarget     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	conflictMarker = regexp.MustCompile(`(?m)^(<{7}|>{7}) `)
	heading        = regexp.MustCompile(`(?m)^#+ (.*)$`)
	fenced         = regexp.MustCompile("(?ms)^```.*?^```$")
	notAnchor      = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestDocsLinks requires that every link of a page to this repository leads to a file,
// and to a section that it has, and that no merge left its marks.
func TestDocsLinks(t *testing.T) {
	t.Parallel()
	for _, name := range pages(t) {
		body := fenced.ReplaceAllString(string(read(t, "../"+name)), "")
		if conflictMarker.MatchString(body) {
			t.Errorf("%s has the marks of a merge conflict", name)
		}
		for _, m := range linkTarget.FindAllStringSubmatch(body, -1) {
			target, section, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			path := filepath.Join("..", filepath.Dir(name), filepath.FromSlash(target))
			if target == "" {
				path = filepath.Join("..", name)
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: the link to %s leads nowhere", name, m[1])
				continue
			}
			if section != "" && !slices.Contains(anchors(string(read(t, path))), section) {
				t.Errorf("%s: %s has no section #%s", name, target, section)
			}
		}
	}
}

// anchors are the ends of links to the sections of a page.
func anchors(body string) []string {
	var out []string
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(body, ""), -1) {
		text := notAnchor.ReplaceAllString(strings.ToLower(linkTarget.ReplaceAllString(m[1], "")), "")
		out = append(out, strings.ReplaceAll(text, " ", "-"))
	}
	return out
}
