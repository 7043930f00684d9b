package test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// A block is a code block of a page that shows a file of a script:
//
//	<!-- test/script/NAME.txtar FILE -->
//	```text
//	...
//	```
var block = regexp.MustCompile("(?m)^(<!-- test/script/(\\S+) (\\S+) -->\n```[a-z]*\n)((?:.*\n)*?)```$")

// mark is what a script puts before lines of standard error.
var mark = regexp.MustCompile("(?m)^! ")

// TestDocs checks that pages show what commands print: blocks that name a script
// are equal to its file, without the marks of standard error. UPDATE=1 rewrites
// the blocks.
func TestDocs(t *testing.T) {
	pages, err := filepath.Glob("../docs/*.md")
	check(t, err)
	guides, err := filepath.Glob("../docs/guides/*.md")
	check(t, err)
	blocks := 0
	for _, page := range append(append(pages, guides...), "../README.md") {
		src := read(t, page)
		out := block.ReplaceAllFunc(src, func(b []byte) []byte {
			blocks++
			m := block.FindSubmatch(b)
			script, file, shown := string(m[2]), string(m[3]), m[4]
			want, ok := scriptFile(t, script, file)
			if !ok {
				t.Errorf("%s: %s has no file %s", page, script, file)
				return b
			}
			if os.Getenv("UPDATE") == "" && string(shown) != want {
				t.Errorf("%s shows\n%s\n%s has\n%s", page, shown, script, want)
			}
			return slices.Concat(m[1], []byte(want), []byte("```"))
		})
		if os.Getenv("UPDATE") != "" && !bytes.Equal(src, out) {
			check(t, os.WriteFile(page, out, 0o666))
		}
	}
	if blocks == 0 {
		t.Error("no page shows a script")
	}
}

func scriptFile(t *testing.T, script, name string) (string, bool) {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("script", script))
	check(t, err)
	for _, f := range archive.Files {
		if f.Name == name {
			return mark.ReplaceAllString(string(f.Data), ""), true
		}
	}
	return "", false
}
