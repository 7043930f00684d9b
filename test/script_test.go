// Package test runs stackgen as a person does: command lines in a folder, and
// what they print and write there.
package test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"stackgen/internal/finding"
	"stackgen/schema"
)

// TestEveryCodeHasAScript requires a script for every problem code.
func TestEveryCodeHasAScript(t *testing.T) {
	all := expected(t)
	for _, c := range schema.Codes {
		if !strings.Contains(all, "["+c.Code+"]") {
			t.Errorf("no script shows the problem %s", c.Code)
		}
	}
}

// TestEveryFindingHasAScript requires a script and a description for every kind of
// finding.
func TestEveryFindingHasAScript(t *testing.T) {
	all := expected(t)
	_, page, _ := strings.Cut(string(read(t, "../docs/findings.md")), "\n## Kinds\n")
	page, _, _ = strings.Cut(page, "\n## ")
	for _, k := range finding.Kinds {
		if !strings.Contains(page, "\n| `"+string(k)+"` |") {
			t.Errorf("docs/findings.md does not describe the kind %s", k)
		}
		if !regexp.MustCompile(`(?m)^(! )?(ok|safe|failed|outdated|blocked) +` + string(k) + ` +\S`).MatchString(all) {
			t.Errorf("no script shows a finding of kind %s", k)
		}
	}
}

// expected is everything that the scripts expect.
func expected(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, file := range scripts(t) {
		for _, f := range file.Files {
			all.Write(f.Data)
		}
	}
	return all.String()
}

func scripts(t testing.TB) []*txtar.Archive {
	t.Helper()
	names, err := filepath.Glob("script/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	var out []*txtar.Archive
	for _, name := range names {
		file, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, file)
	}
	return out
}
