package test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// may lists the packages of stackgen that each package may import. A command reads
// nothing and decides nothing itself, so it needs few of them.
var may = map[string][]string{
	"guest":              {},
	"schema":             {"guest", "internal/secret", "internal/sshkey"},
	"internal/sshkey":    {},
	"internal/secret":    {},
	"internal/natural":   {},
	"templates":          {},
	"internal/shell":     {},
	"internal/pve":       {"internal/shell"},
	"internal/finding":   {"guest", "schema", "internal/natural", "internal/pve"},
	"internal/report":    {"guest", "schema", "internal/secret", "internal/cluster", "internal/finding", "internal/shell", "internal/discover", "internal/outputs", "internal/power"},
	"internal/lock":      {"guest", "schema", "internal/natural", "internal/finding", "internal/shell", "internal/pve"},
	"generator":          {"guest", "schema", "internal/natural", "templates", "internal/finding", "internal/lock"},
	"internal/cluster":   {"guest", "schema", "internal/lock", "internal/shell", "internal/pve"},
	"internal/feasible":  {"guest", "schema", "internal/natural", "internal/effect", "internal/lock", "internal/shell", "internal/pve", "internal/cluster"},
	"internal/placement": {"guest", "schema", "internal/natural", "internal/lock", "internal/cluster", "internal/feasible"},
	"internal/starter":   {"guest", "schema", "internal/shell", "internal/lock", "internal/cluster", "internal/feasible", "internal/hardware", "internal/pve"},
	"internal/effect":    {"guest", "schema", "internal/natural", "internal/pve", "internal/tf"},
	"internal/tf":        {"guest", "schema", "internal/natural", "internal/finding", "internal/lock"},
	"internal/guard":     {"guest", "schema", "internal/natural", "internal/finding", "internal/shell", "internal/lock", "internal/cluster", "internal/feasible", "internal/effect", "internal/hardware", "internal/tf", "internal/pve"},
	"internal/hardware":  {"guest", "schema", "internal/natural", "internal/sshkey", "internal/finding", "internal/shell", "internal/cluster", "internal/effect", "internal/edit", "internal/pve", "internal/tf"},
	"internal/discover":  {"guest", "schema", "internal/natural", "internal/shell", "internal/lock", "internal/cluster", "internal/hardware", "internal/edit", "internal/pve"},
	"internal/drift":     {"guest", "schema", "internal/secret", "internal/natural", "internal/shell", "internal/finding", "internal/lock", "internal/cluster", "internal/effect", "internal/edit", "internal/hardware", "internal/tf", "internal/guard"},
	"internal/outputs":   {"guest", "schema", "generator", "internal/natural", "internal/shell", "internal/lock"},
	"internal/power":     {},
	"internal/rollout":   {},
	"internal/health":    {"internal/cluster"},
	"internal/selection": {"schema", "internal/lock", "internal/cluster"},
	"internal/files":     {},
	"internal/pvesim":    {"internal/sshkey"},
	"internal/proxmox":   {"guest", "internal/cluster", "internal/power", "internal/secret", "internal/shell", "internal/files", "internal/pve"},
	"internal/operate":   {"guest", "internal/cluster", "internal/feasible", "internal/hardware", "internal/lock", "internal/power", "internal/project", "internal/proxmox", "internal/pve", "internal/selection", "internal/shell", "internal/check"},
	"internal/dns":       {"internal/cluster", "internal/secret"},
	"internal/engine":    {},
	"internal/edit":      {"guest"},
	"internal/project":   {"schema", "generator", "templates", "internal/finding", "internal/lock", "internal/files", "internal/shell"},
	"internal/render":    {"schema", "generator", "internal/report", "internal/lock", "internal/files", "internal/project"},
	"internal/check": {"guest", "schema", "generator", "internal/secret", "internal/finding", "internal/lock", "internal/cluster", "internal/feasible", "internal/effect", "internal/tf", "internal/pve", "internal/guard", "internal/drift",
		"internal/files", "internal/engine", "internal/dns", "internal/proxmox", "internal/project"},
	"internal/adopt": {"guest", "schema", "internal/pve", "internal/natural", "internal/shell", "internal/finding", "internal/lock", "internal/cluster", "internal/hardware", "internal/tf", "internal/guard",
		"internal/discover", "internal/edit", "internal/files", "internal/project", "internal/check"},
	"internal/register": {"schema", "generator", "internal/lock", "internal/tf", "internal/outputs", "internal/files", "internal/project", "internal/check"},
	"internal/resolve":  {"internal/cluster", "internal/finding", "internal/lock", "internal/placement", "internal/project", "internal/render", "internal/selection", "internal/check"},
	"cmd": {"schema", "internal/shell", "internal/finding", "internal/report", "internal/lock", "internal/files", "internal/pvesim",
		"internal/project", "internal/check", "internal/render", "internal/resolve", "internal/adopt", "internal/outputs", "internal/register",
		"internal/live", "internal/deploy", "internal/discover", "internal/starter", "internal/cluster", "internal/tf", "internal/operate", "internal/power", "internal/progress", "internal/selection"},
	"internal/progress": {"guest", "internal/power", "internal/pve", "internal/natural", "internal/finding", "internal/shell"},
	"internal/live":     {"internal/progress", "internal/report", "internal/finding"},
	"internal/deploy":   {"guest", "schema", "generator", "internal/pve", "internal/finding", "internal/report", "internal/lock", "internal/tf", "internal/guard", "internal/files", "internal/engine", "internal/progress", "internal/live", "internal/proxmox", "internal/project", "internal/check", "internal/natural", "internal/cluster", "internal/register", "internal/render", "internal/shell", "internal/edit", "internal/operate", "internal/power", "internal/selection", "internal/rollout", "internal/health"},
	"internal/dnstest":  {},
}

// purity is the rule of .golangci.yml that says which packages are pure and what
// they must not import. Lint applies the same rule.
type purity struct {
	Files    []string
	Deny     []struct{ Pkg string }
	Allow    []string
	ListMode string `yaml:"list-mode"`
}

func readPurity(t *testing.T) purity {
	t.Helper()
	var config struct {
		Linters struct {
			Settings struct {
				Depguard struct{ Rules map[string]purity }
			}
		}
	}
	check(t, yaml.Unmarshal(read(t, "../.golangci.yml"), &config))
	rule := config.Linters.Settings.Depguard.Rules["pure"]
	if len(rule.Files) < 2 || len(rule.Deny) == 0 || rule.ListMode != "lax" {
		t.Fatalf(".golangci.yml: the depguard rule pure is %+v", rule)
	}
	return rule
}

// packages are the pure packages.
func (p purity) packages(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, pattern := range p.Files {
		if pattern == "!$test" {
			continue
		}
		pkg, ok := strings.CutSuffix(strings.TrimPrefix(pattern, "**/"), "/*.go")
		if !ok || !exists(filepath.Join("..", pkg)) {
			t.Errorf(".golangci.yml: %s is not **/PACKAGE/*.go of a package that exists", pattern)
		}
		out = append(out, pkg)
	}
	return out
}

// denies reports whether the rule forbids an import. The longer prefix wins.
func (p purity) denies(path string) bool {
	deny, allow := -1, -1
	for _, d := range p.Deny {
		if strings.HasPrefix(path, d.Pkg) {
			deny = max(deny, len(d.Pkg))
		}
	}
	for _, prefix := range p.Allow {
		if strings.HasPrefix(path, prefix) {
			allow = max(allow, len(prefix))
		}
	}
	return deny > allow
}

// TestPurePackages checks that pure packages import nothing that reads the
// machine or the clock, and no package that is not pure.
func TestPurePackages(t *testing.T) {
	rule := readPurity(t)
	pure := rule.packages(t)
	for _, pkg := range pure {
		files, err := filepath.Glob(filepath.Join("..", pkg, "*.go"))
		check(t, err)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, path := range importsOf(t, file) {
				ours, isOurs := strings.CutPrefix(path, "stackgen/")
				if rule.denies(path) || isOurs && !slices.Contains(pure, ours) {
					t.Errorf("%s: the pure package %s imports %s", file, pkg, path)
				}
			}
		}
	}
}

// TestImportDirections checks that no import goes upward.
func TestImportDirections(t *testing.T) {
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
		for _, imported := range importsOf(t, path) {
			if ours, ok := strings.CutPrefix(imported, "stackgen/"); ok {
				mayImport(t, pkg, path, ours)
			}
		}
		return nil
	}))
	for _, pkg := range []string{"schema", "generator", "internal/lock", "internal/files", "cmd", "cmd/stackgen"} {
		if !seen[pkg] {
			t.Errorf("no file of package %s was looked at", pkg)
		}
	}
}

// importsOf are the paths that a file imports.
func importsOf(t *testing.T, file string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	check(t, err)
	var out []string
	for _, spec := range f.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		check(t, err)
		out = append(out, path)
	}
	return out
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
	case !known:
		t.Errorf("%s: the package %s is not in the table of directions", file, pkg)
	case !slices.Contains(allowed, roomOf(imported)):
		t.Errorf("%s: %s must not import %s", file, pkg, imported)
	}
}
