package test

import (
	"slices"
	"strings"
	"testing"
)

// TestDocsArchitecture compares the tables of docs/architecture.md with the packages: the
// pure ones of the rule in .golangci.yml, and all others.
func TestDocsArchitecture(t *testing.T) {
	page := string(read(t, "../docs/architecture.md"))
	var pure, edges []string
	for _, pattern := range readPurity(t).Files {
		if name, ok := strings.CutPrefix(pattern, "**/"); ok {
			pure = append(pure, strings.TrimSuffix(name, "/*.go"))
		}
	}
	for name := range may {
		if !slices.Contains(pure, name) {
			edges = append(edges, name)
		}
	}
	for header, want := range map[string][]string{"| pure package | turns |": pure, "| edge | does |": edges} {
		var got []string
		for _, name := range firstCells(page, header) {
			got = append(got, strings.TrimPrefix(name, "stackgen/"))
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("docs/architecture.md has below %q\n%q, and the repository has\n%q", header, got, want)
		}
	}
}
