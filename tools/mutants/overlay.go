package main

import (
	"cmp"
	"encoding/json"
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// chosen is the package that the changed code asks which fault it has. It exists only in
// the overlay. The variable MUTANT has the ID; each process that gets to a fault adds its ID
// to the file MUTANTS_REACHED.
const chosen = `package mutant

import (
	"os"
	"sync"
)

var (
	id      = os.Getenv("MUTANT")
	reached = os.Getenv("MUTANTS_REACHED")
	noted   sync.Map
)

func Is(a string) bool {
	if reached != "" {
		if _, known := noted.LoadOrStore(a, true); !known {
			if f, err := os.OpenFile(reached, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
				_, _ = f.WriteString(a + "\n")
				_ = f.Close()
			}
		}
	}
	return a == id
}

type number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr | ~float32 | ~float64
}

func Zero[T any](a string, v T) T {
	if Is(a) {
		var zero T
		return zero
	}
	return v
}

func Plus[T number](a string, v, more T) T {
	if Is(a) {
		return v + more
	}
	return v
}

func Minus[T number](a string, v, less T) T {
	if Is(a) {
		return v - less
	}
	return v
}
`

// writeOverlay writes copies of the files with faults, each of which does nothing until it
// is chosen, and returns the path of the file for go's -overlay.
func writeOverlay(root, dir string, sites []site) (string, error) {
	replace := map[string]string{}
	write := func(path, body string) error {
		to := filepath.Join(dir, strings.ReplaceAll(path, "/", "-"))
		replace[filepath.Join(root, path)] = to
		return os.WriteFile(to, []byte(body), 0o600)
	}
	if err := write("internal/mutant/mutant.go", chosen); err != nil {
		return "", err
	}
	byFile := map[string][]site{}
	for _, s := range sites {
		byFile[s.File] = append(byFile[s.File], s)
	}
	for file, sites := range byFile {
		body, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return "", err
		}
		if err := write(file, apply(string(body), sites)); err != nil {
			return "", err
		}
	}
	body, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, body, 0o600)
}

// packageClause is the line that the import follows, on the same line.
var packageClause = regexp.MustCompile(`(?m)^package \w+`)

// apply returns a file with the faults of its sites.
func apply(body string, sites []site) string {
	slices.SortFunc(sites, func(a, b site) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to), cmp.Compare(a.ID, b.ID))
	})
	return packageClause.ReplaceAllString(change(body, 0, len(body), sites), `$0; import "stackgen/internal/mutant"`)
}

// change returns body[from:to] with the faults of its sites, which are sorted.
func change(body string, from, to int, sites []site) string {
	var out strings.Builder
	for len(sites) > 0 {
		s := sites[0]
		inner := 1 // the sites in s
		for inner < len(sites) && sites[inner].from < s.to {
			inner++
		}
		out.WriteString(body[from:s.from])
		out.WriteString(s.text(s.ID, sourceOf(body, sites[1:inner])))
		from, sites = s.to, sites[inner:]
	}
	return out.String() + body[from:to]
}

// sourceOf returns the texts of nodes with the faults of the sites in them.
func sourceOf(body string, sites []site) source {
	return func(n ast.Node) string {
		from, to := int(n.Pos())-1, int(n.End())-1 // a file set of one file begins at 1
		in := slices.DeleteFunc(slices.Clone(sites), func(s site) bool { return s.from < from || s.to > to })
		return change(body, from, to, in)
	}
}
