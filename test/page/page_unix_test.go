//go:build unix

package page

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestRunLimit: commands that are not complete in time are an error, not a wrong page.
func TestRunLimit(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	blocks := []Block{{Language: "console", Mark: "TestX", Body: "$ echo one; sleep 9\n"}}
	wrong, err := Run(ctx, Shell{Dir: t.TempDir(), Env: os.Environ()}, blocks, "TestX")
	if wrong != nil || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "one") {
		t.Errorf("got %q, %v; want a deadline and what was printed", wrong, err)
	}
}

// TestRun: what a page shows and does not happen is reported, and the rest is not.
func TestRun(t *testing.T) {
	const fence = "```"
	for _, c := range []struct{ name, page, want string }{
		{"right", "<!-- TestX a/b.txt -->\nFtext\none\nF\n\n<!-- TestX -->\nFconsole\n$ cat a/b.txt\n$ echo two \\\n  three\nF\n\nFtext\none\ntwo three\nF\n", ""},
		{"one shell", "<!-- blocks: TestX -->\nFconsole\n$ cd / && x=1\nF\nFconsole\n$ echo $PWD$x\nF\nFtext\n/1\nF\n", ""},
		{"its output in the block", "<!-- TestX -->\nFconsole\n$ echo one\ntwo\nF\n", "the page shows\ntwo\n"},
		{"another order", "<!-- TestX -->\nFconsole\n$ echo one; echo two\nF\nFtext\ntwo\none\nF\n", "the page shows\none"},
		{"a part of a line", "<!-- TestX -->\nFconsole\n$ echo one two\nF\nFtext\none\nF\n", "the page shows\none"},
		{"failed", "<!-- TestX -->\nFconsole\n$ false\n$ true\nF\n", `"false" ends with "1", want 0`},
		{"expected code", "<!-- TestX exits 3 -->\nFconsole\n$ sh -c 'exit 3'\nF\n", ""},
		{"another code", "<!-- TestX exits 3 -->\nFconsole\n$ true\nF\n", `"true" ends with "0", want 3`},
		{"text of another mark", "<!-- TestX -->\nFconsole\n$ true\nF\n\n<!-- test/script/a.txtar b -->\nFtext\none\nF\n", ""},
		{"no block", "Fconsole\n$ true\nF\n", "no block of the page names TestX"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "page.md")
			if err := os.WriteFile(file, []byte(strings.ReplaceAll(c.page, "F", fence)), 0o600); err != nil {
				t.Fatal(err)
			}
			blocks, err := Read(file)
			if err != nil {
				t.Fatal(err)
			}
			wrong, err := Run(t.Context(), Shell{Dir: dir, Env: os.Environ()}, blocks, "TestX")
			if err != nil {
				wrong = append(wrong, err.Error())
			}
			if got := strings.Join(wrong, "\n"); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
