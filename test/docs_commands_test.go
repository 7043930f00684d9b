package test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stackgen/cmd"
	"stackgen/test/page"
)

// listed is a line of the list of commands that --help prints, with the other names of the command.
var listed = regexp.MustCompile(`(?m)^   ([a-z-]+)(?:, [a-z-]+)* +(\S.*)$`)

// TestDocsCommands compares docs/commands.md with what --help prints, and requires every
// command in README.md. UPDATE=1 writes the page.
func TestDocsCommands(t *testing.T) {
	const file = "../docs/commands.md"
	all := help(t)
	_, all, _ = strings.Cut(all, "COMMANDS:\n")
	all, _, _ = strings.Cut(all, "\n\n")
	readme := string(read(t, "../README.md"))
	table, sections := "", ""
	for _, m := range listed.FindAllStringSubmatch(all, -1) {
		name, usage := m[1], m[2]
		if !strings.Contains(readme, "\n| `stackgen "+name+"` | ") {
			t.Errorf("the table of commands in README.md does not have %s", name)
		}
		table += fmt.Sprintf("| [`%s`](#%s) | %s |\n", name, name, strings.ReplaceAll(usage, "|", `\|`))
		text := help(t, name)
		_, text, _ = strings.Cut(text, "USAGE:\n")
		sections += fmt.Sprintf("\n## %s\n\n```text\n%s```\n", name, "USAGE:\n"+text)
	}
	want := "# Commands\n\n<!-- UPDATE=1 go test ./test -run DocsCommands writes this page. -->\n\n" +
		"What `stackgen COMMAND --help` prints. PATH is a spec, a folder or nothing: the project here. Flags may come before or after the\n" +
		"paths. The [exit codes](exit-codes.md) are the same for all commands.\n\n| command | does |\n|---|---|\n" + table + sections
	if os.Getenv("UPDATE") != "" {
		check(t, os.WriteFile(file, []byte(want), 0o666))
		return
	}
	if string(read(t, file)) != want {
		t.Errorf("docs/commands.md is out of date: run make golden")
	}
}

// help is what a command prints with --help, without spaces at ends of lines.
func help(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if code := cmd.Main(append(append([]string{"stackgen"}, args...), "--help"), zeros{}, strings.NewReader(""), &out, &out); code != 0 {
		t.Fatalf("%v --help: exit %d", args, code)
	}
	return regexp.MustCompile(`(?m) +$`).ReplaceAllString(out.String(), "")
}

// variable matches the name of an environment variable in a string of the program.
var variable = regexp.MustCompile(`^(?:PROXMOX_VE|PM_VE|STACKGEN|DNS_UPDATE|TF|TG|CHECKPOINT)_[A-Z_]+`)

// TestDocsEnvironment requires every environment variable that the program names in
// docs/environment.md.
func TestDocsEnvironment(t *testing.T) {
	described := string(read(t, "../docs/environment.md"))
	seen := 0
	for _, folder := range []string{"../cmd", "../internal"} {
		check(t, filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
					text, err := strconv.Unquote(l.Value)
					check(t, err)
					if name := variable.FindString(text); name != "" {
						seen++
						if !strings.Contains(described, "`"+strings.TrimRight(name, "_")) {
							t.Errorf("%s: docs/environment.md does not have %s", path, name)
						}
					}
				}
				return true
			})
			return nil
		}))
	}
	if seen < 20 {
		t.Errorf("the program names %d variables, want more: the pattern does not match", seen)
	}
}

// TestDocsReadme: README.md is short, its first two commands are those that CI runs, and
// what it shows of `make` is what a render of this repository prints.
func TestDocsReadme(t *testing.T) {
	if n := bytes.Count(read(t, "../README.md"), []byte("\n")); n > 150 {
		t.Errorf("README.md has %d lines, want at most 150", n)
	}
	dir := t.TempDir()
	for _, name := range []string{"specs", "modules", "units", "stacks"} {
		check(t, os.CopyFS(filepath.Join(dir, name), os.DirFS("../"+name)))
	}
	for _, name := range []string{"root.hcl", "stackgen.lock.yaml"} {
		check(t, os.WriteFile(filepath.Join(dir, name), read(t, "../"+name), 0o666))
	}
	var out bytes.Buffer
	if code := cmd.Main([]string{"stackgen", "render", dir}, zeros{}, strings.NewReader(""), &out, &out); code != 0 {
		t.Fatalf("render: exit %d\n%s", code, &out)
	}
	blocks, err := page.Read("../README.md")
	check(t, err)
	for i, console := range slices.DeleteFunc(slices.Clone(blocks), func(b page.Block) bool { return b.Language != "console" })[:2] {
		if console.Mark != ".ci/run" { // TestDocsBlocks compares the commands
			t.Errorf("README.md:%d: CI does not run command %d of the page", console.Line, i+1)
		}
	}
	at := slices.IndexFunc(blocks, func(b page.Block) bool { return b.Language == "text" })
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if got, want := lines[len(lines)-3], strings.Split(blocks[at].Body, "\n")[0]; got != want {
		t.Errorf("README.md shows\n%s\nand a render prints\n%s", want, got)
	}
}
