package test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"stackgen/cmd"
	"stackgen/internal/guard"
)

// A guard case is a folder below guardcases/: `cmd` has one command a line, `in`
// what the folder holds before, want.txt what the commands print and their exit
// codes. UPDATE=1 writes want.txt anew.
func TestGuardCases(t *testing.T) {
	for _, dir := range guardFolders(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) { guardCase(t, dir) })
	}
}

// TestEveryVerdictHasACase keeps a verdict from being added that nobody has read.
func TestEveryVerdictHasACase(t *testing.T) {
	var all string
	for _, dir := range guardFolders(t) {
		body, err := os.ReadFile(filepath.Join(dir, "want.txt"))
		if err != nil {
			t.Fatal(err)
		}
		all += string(body)
	}
	for _, w := range guard.Words {
		if !strings.Contains(all, " "+string(w)+" ") {
			t.Errorf("no case shows the verdict %s", w)
		}
	}
}

func guardFolders(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("guardcases/*/cmd")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	var out []string
	for _, f := range files {
		dir, err := filepath.Abs(filepath.Dir(f))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, dir)
	}
	return out
}

func guardCase(t *testing.T, dir string) {
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS(filepath.Join(dir, "in"))); err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join(dir, "cmd"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(root)
	var text bytes.Buffer
	for line := range strings.Lines(string(script)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			fmt.Fprintln(&text, line)
			continue
		}
		fmt.Fprintf(&text, "$ %s\n", line)
		guardLine(t, &text, guardWords(t, line))
	}
	file := filepath.Join(dir, "want.txt")
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, text.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if text.String() != string(want) {
		t.Errorf("the commands print\n%s\nwant\n%s", text.String(), want)
	}
}

func guardLine(t *testing.T, w *bytes.Buffer, args []string) {
	t.Helper()
	fail := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	switch args[0] {
	case "stackgen":
		var out, errOut bytes.Buffer
		code := cmd.Main(args, strings.NewReader(""), &out, &errOut)
		guardShow(w, "| ", out.String())
		guardShow(w, "! ", errOut.String())
		fmt.Fprintf(w, "= %d\n", code)
	case "cat":
		body, err := os.ReadFile(args[1])
		fail(err)
		guardShow(w, "| ", string(body))
	case "ls":
		files, err := filepath.Glob(args[1])
		fail(err)
		guardShow(w, "| ", strings.Join(files, "\n"))
	case "write":
		fail(os.MkdirAll(filepath.Dir(args[1]), 0o777))
		fail(os.WriteFile(args[1], []byte(args[2]), 0o666))
	case "rm":
		fail(os.RemoveAll(args[1]))
	default:
		t.Fatalf("%s: unknown word", args[0])
	}
}

func guardShow(w *bytes.Buffer, prefix, text string) {
	for line := range strings.Lines(text) {
		w.WriteString(prefix + strings.TrimSuffix(line, "\n") + "\n")
	}
}

// guardWords splits a line at spaces; "..." is taken as Go does.
func guardWords(t *testing.T, line string) []string {
	t.Helper()
	var out []string
	for line != "" {
		if line[0] == '"' {
			quoted, err := strconv.QuotedPrefix(line)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			word, err := strconv.Unquote(quoted)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			out, line = append(out, word), strings.TrimSpace(line[len(quoted):])
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		out, line = append(out, word), strings.TrimSpace(rest)
	}
	return out
}
