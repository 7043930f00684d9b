package test

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stackgen/internal/lock"
	"stackgen/templates"
)

var (
	rendered = regexp.MustCompile(`(?m)^(! )?rendered \d+ stacks?, `)
	created  = regexp.MustCompile(`(?m)^created (\S+)$`)
)

// TestDocsFiles compares docs/files.md with what renders in scripts create, with what init
// writes, and with the .gitignore that init writes.
func TestDocsFiles(t *testing.T) {
	page := string(read(t, "../docs/files.md"))
	_, list, _ := strings.Cut(page, "```text\n")
	list, _, _ = strings.Cut(list, "```")
	unseen := map[string]*regexp.Regexp{}
	for line := range strings.Lines(list) {
		name := strings.Fields(line)[0]
		pattern := strings.ReplaceAll(regexp.QuoteMeta(name), "<name>", `[^/]+`)
		if strings.HasSuffix(name, "/") {
			pattern += `.+`
		}
		unseen[name] = regexp.MustCompile(`(^|/)` + pattern + `$`) // some scripts render a project in a folder
	}
	all := map[string]*regexp.Regexp{}
	for name, pattern := range unseen {
		all[name] = pattern
	}
	for _, path := range renderedFiles(t) {
		known := false
		for name, pattern := range all {
			if pattern.MatchString(path) {
				known = true
				delete(unseen, name)
			}
		}
		if !known {
			t.Errorf("docs/files.md does not have %s, which a render creates", path)
		}
	}
	for name := range unseen {
		t.Errorf("docs/files.md has %s, and no render in a script creates it", name)
	}
	ignored(t, page)
	check(t, fs.WalkDir(templates.FS, "starter", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.Contains(page, "`"+strings.TrimPrefix(path, "starter/")+"`") {
			t.Errorf("docs/files.md does not have %s, which init writes", path)
		}
		return err
	}))
}

// renderedFiles are the files that the renders of scripts have created.
func renderedFiles(t *testing.T) []string {
	t.Helper()
	out := []string{lock.File}
	for _, script := range scripts(t) {
		for _, f := range script.Files {
			if !rendered.Match(f.Data) {
				continue
			}
			for _, m := range created.FindAllSubmatch(f.Data, -1) {
				out = append(out, string(m[1]))
			}
		}
	}
	if len(out) < 100 {
		t.Fatalf("scripts create %d files, want more: the pattern does not match", len(out))
	}
	return out
}

// ignored requires that the .gitignore of a new project leaves out what the page says is
// not in Git, and nothing that it says is.
func ignored(t *testing.T, page string) {
	t.Helper()
	body, err := fs.ReadFile(templates.FS, "starter/.gitignore")
	check(t, err)
	var patterns []string
	for line := range strings.Lines(string(body)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			patterns = append(patterns, strings.Trim(line, "/"))
		}
	}
	_, table, _ := strings.Cut(page, "\n| file | by | in Git |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		last := strings.TrimSpace(cells[len(cells)-1])
		for _, m := range quoted.FindAllStringSubmatch(cells[0], -1) {
			path := strings.TrimSuffix(strings.ReplaceAll(m[1], "<name>", "x"), "/")
			left := slices.ContainsFunc(patterns, func(p string) bool {
				for dir := path; dir != "."; dir = filepath.ToSlash(filepath.Dir(dir)) {
					if ok, _ := filepath.Match(p, dir); ok {
						return true
					}
				}
				return false
			})
			if (last == "yes" || last == "no") && left != (last == "no") {
				t.Errorf("docs/files.md says of %s in Git: %s, and the .gitignore of a new project differs", m[1], last)
			}
		}
	}
}
