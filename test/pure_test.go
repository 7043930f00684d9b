package test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// may lists the packages of ours that each package may import. What is not
// listed here may be imported by cmd only.
var may = map[string][]string{
	"schema":            {},
	"templates":         {},
	"internal/lock":     {"schema"},
	"generator":         {"schema", "templates", "internal/lock"},
	"internal/cluster":  {"schema", "internal/lock"},
	"internal/guard":    {"schema", "internal/lock", "internal/cluster", "internal/hardware"},
	"internal/hardware": {"schema", "internal/cluster"},
	"internal/drift":    {"schema", "internal/lock", "internal/cluster"},
	"internal/disk":     {},
	"internal/pvesim":   {},
	"internal/proxmox":  {"internal/cluster", "schema"},
	"internal/names":    {"internal/cluster"},
	"internal/engine":   {},
	"internal/project":  {"schema", "internal/lock", "internal/disk"},
	"internal/dnstest":  {},
}

// pure are the packages that touch nothing but what they are given.
var pure = []string{"schema", "templates", "generator", "internal/lock", "internal/cluster", "internal/hardware", "internal/guard", "internal/drift"}

// worldly are what a pure package must not import, with all below them.
var worldly = []string{"os", "net", "time", "math/rand", "crypto/rand", "log", "context", "syscall", "io/ioutil"}

// harmless are below worldly ones and touch nothing.
var harmless = []string{"net/netip", "net/url"}

// TestImports keeps the core pure, and the direction of imports as it is.
func TestImports(t *testing.T) {
	seen := map[string]bool{}
	check(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != ".." && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"tools", "test", "testdata"}, d.Name())) {
			return fs.SkipDir
		}
		if d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel("..", filepath.Dir(path))
		check(t, err)
		pkg := filepath.ToSlash(rel)
		seen[pkg] = true
		imports(t, pkg, path)
		return nil
	}))
	for _, pkg := range []string{"schema", "generator", "internal/lock", "internal/disk", "cmd", "cmd/stackgen"} {
		if !seen[pkg] {
			t.Errorf("no file of package %s was looked at", pkg)
		}
	}
}

// imports checks what one file imports.
func imports(t *testing.T, pkg, file string) {
	t.Helper()
	src, err := os.ReadFile(file)
	check(t, err)
	f, err := parser.ParseFile(token.NewFileSet(), file, src, parser.ImportsOnly)
	check(t, err)
	for _, spec := range f.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		check(t, err)
		if ours, ok := strings.CutPrefix(path, "stackgen/"); ok {
			mayImport(t, pkg, file, ours)
			continue
		}
		if !slices.Contains(pure, roomOf(pkg)) || slices.Contains(harmless, path) {
			continue
		}
		for _, w := range worldly {
			if path == w || strings.HasPrefix(path, w+"/") {
				t.Errorf("%s: the pure package %s imports %s", file, pkg, path)
			}
		}
	}
}

// roomOf is the package of the table that a package belongs to.
func roomOf(pkg string) string {
	parts := strings.Split(pkg, "/")
	if parts[0] != "internal" {
		return parts[0]
	}
	return strings.Join(parts[:min(2, len(parts))], "/")
}

func mayImport(t *testing.T, pkg, file, imported string) {
	t.Helper()
	room := roomOf(pkg)
	allowed, known := may[room]
	switch {
	case room == roomOf(imported) && room != "cmd": // what a room has inside is its own affair
	case pkg == "cmd/stackgen":
		if imported != "cmd" {
			t.Errorf("%s: main imports cmd and nothing else, not %s", file, imported)
		}
	case pkg == "cmd":
	case !known:
		t.Errorf("%s: the package %s is not in the table of directions", file, pkg)
	case !slices.Contains(allowed, roomOf(imported)):
		t.Errorf("%s: %s must not import %s", file, pkg, imported)
	}
}
