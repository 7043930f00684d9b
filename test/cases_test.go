// Package test runs stackgen as a person does: command lines in a folder, and
// what they print and leave there.
package test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stackgen/cmd"
	"stackgen/schema"
)

// A case is a folder below cases/:
//
//	cmd        one command a line: stackgen, or one of the words below
//	in/        what the folder holds before
//	want.txt   what the commands print, and their exit codes
//	want/      what the folder holds afterwards, compared both ways
//	only       where it exists, want/ has only what lies below these paths
//	unchanged  in its place: the folder must be as it was before
//
// UPDATE=1 writes want.txt and want/ anew; their diff is reviewed like code.
func TestCases(t *testing.T) {
	for _, dir := range caseFolders(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) { runCase(t, dir) })
	}
}

// TestEveryCodeHasACase keeps a problem from being added that nobody has read.
func TestEveryCodeHasACase(t *testing.T) {
	var all []byte
	for _, dir := range caseFolders(t) {
		all = append(all, read(t, filepath.Join(dir, "want.txt"))...)
	}
	for _, c := range schema.Codes {
		if !bytes.Contains(all, []byte("["+c.Code+"]")) {
			t.Errorf("no case shows the problem %s", c.Code)
		}
	}
}

func caseFolders(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("cases/*/cmd")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	var out []string
	for _, f := range files {
		out = append(out, absolute(t, filepath.Dir(f)))
	}
	return out
}

func runCase(t *testing.T, dir string) {
	r := &runner{t: t, repo: absolute(t, ".."), root: resolved(t, t.TempDir())}
	if exists(filepath.Join(dir, "in")) {
		check(t, os.CopyFS(r.root, os.DirFS(filepath.Join(dir, "in"))))
	}
	before := tree(t, r.root)
	script := string(read(t, filepath.Join(dir, "cmd")))
	t.Chdir(r.root)
	for line := range strings.Lines(script) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			r.line(line)
		}
	}
	after := tree(t, r.root)
	text := strings.ReplaceAll(r.out.String(), r.root, "/project")
	var only []string
	if exists(filepath.Join(dir, "only")) {
		only = strings.Fields(string(read(t, filepath.Join(dir, "only"))))
	}
	unchanged := exists(filepath.Join(dir, "unchanged"))
	after = below(after, only)
	if os.Getenv("UPDATE") != "" {
		check(t, os.WriteFile(filepath.Join(dir, "want.txt"), []byte(text), 0o666))
		check(t, os.RemoveAll(filepath.Join(dir, "want")))
		if !unchanged {
			write(t, filepath.Join(dir, "want"), after)
		}
	}
	if want := string(read(t, filepath.Join(dir, "want.txt"))); text != want {
		t.Errorf("want.txt: the commands print\n%s\nwant\n%s", text, want)
	}
	if unchanged {
		compare(t, before, after)
	} else {
		compare(t, tree(t, filepath.Join(dir, "want")), after)
	}
}

// A runner runs the lines of one case.
type runner struct {
	t          *testing.T
	repo, root string
	out        bytes.Buffer
}

// line runs one command. Of a change that is no command of ours, the transcript
// has the line only.
func (r *runner) line(line string) {
	args := r.words(line)
	fmt.Fprintf(&r.out, "$ %s\n", line)
	a := func(i int) string {
		if i >= len(args) {
			r.t.Fatalf("%s: too few words", line)
		}
		return strings.NewReplacer("$REPO", r.repo, "$ROOT", r.root).Replace(args[i])
	}
	switch args[0] {
	case "stackgen":
		var out, errOut bytes.Buffer
		for i := range args {
			args[i] = a(i)
		}
		code := cmd.Main(args, strings.NewReader(""), &out, &errOut)
		r.show("| ", out.String())
		r.show("! ", errOut.String())
		fmt.Fprintf(&r.out, "= %d\n", code)
	case "cp":
		check(r.t, os.MkdirAll(filepath.Dir(a(2)), 0o777))
		check(r.t, os.WriteFile(a(2), read(r.t, a(1)), 0o666))
	case "rm":
		check(r.t, os.RemoveAll(a(1)))
	case "mv":
		check(r.t, os.Rename(a(1), a(2)))
	case "ln":
		check(r.t, os.Symlink(a(1), a(2)))
	case "mkdir":
		check(r.t, os.MkdirAll(a(1), 0o777))
	case "cd":
		r.t.Chdir(a(1))
	case "write":
		check(r.t, os.MkdirAll(filepath.Dir(a(1)), 0o777))
		check(r.t, os.WriteFile(a(1), []byte(a(2)), 0o666))
	case "append":
		check(r.t, os.WriteFile(a(1), append(read(r.t, a(1)), a(2)+"\n"...), 0o666))
	case "replace":
		r.replace(a(1), a(2), a(3))
	case "cat":
		r.show("| ", string(read(r.t, a(1))))
	case "grep":
		for line := range strings.Lines(string(read(r.t, a(2)))) {
			if strings.Contains(line, a(1)) {
				r.show("| ", line)
			}
		}
	case "ls":
		r.show("| ", strings.Join(slices.Sorted(maps.Keys(tree(r.t, a(1)))), "\n"))
	default:
		r.t.Fatalf("%s: unknown word", line)
	}
}

func (r *runner) show(prefix, text string) {
	for line := range strings.Lines(text) {
		r.out.WriteString(prefix + strings.TrimSuffix(line, "\n") + "\n")
	}
}

func (r *runner) replace(file, old, by string) {
	src := read(r.t, file)
	if bytes.Count(src, []byte(old)) != 1 {
		r.t.Fatalf("%s: %q stands there %d times, not once", file, old, bytes.Count(src, []byte(old)))
	}
	check(r.t, os.WriteFile(file, bytes.Replace(src, []byte(old), []byte(by), 1), 0o666))
}

// words splits a line at spaces. '...' is taken as it stands, "..." as Go does.
func (r *runner) words(line string) []string {
	var out []string
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		switch line[0] {
		case '\'':
			word, rest, ok := strings.Cut(line[1:], "'")
			if !ok {
				r.t.Fatalf("%s: no closing quote", line)
			}
			out, line = append(out, word), rest
		case '"':
			quoted, err := strconv.QuotedPrefix(line)
			check(r.t, err)
			word, err := strconv.Unquote(quoted)
			check(r.t, err)
			out, line = append(out, word), line[len(quoted):]
		default:
			word, rest, _ := strings.Cut(line, " ")
			out, line = append(out, word), rest
		}
	}
	return out
}
