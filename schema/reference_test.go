package schema

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestReferenceIsCurrent compares docs/spec.md and docs/dev/attributes.md with the tables.
// With UPDATE=1 in the environment it writes the files.
func TestReferenceIsCurrent(t *testing.T) {
	for file, want := range map[string][]byte{"../docs/spec.md": Reference(), "../docs/dev/attributes.md": AttributesPage()} {
		if os.Getenv("UPDATE") == "1" {
			if err := os.WriteFile(file, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		have, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(have, want) {
			t.Errorf("%s is out of date: run make golden", file)
		}
	}
}

func TestReferenceLinks(t *testing.T) {
	checkLinks(t, string(Reference()))
	checkLinks(t, string(AttributesPage()))
}

// checkLinks checks the links and tables of a page.
func checkLinks(t *testing.T, text string) {
	t.Helper()
	var anchors []string
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		if slices.Contains(anchors, anchor(m[1])) {
			t.Errorf("two sections are called %s", m[1])
		}
		anchors = append(anchors, anchor(m[1]))
	}
	for _, m := range regexp.MustCompile(`\]\(#([^)]*)\)`).FindAllStringSubmatch(text, -1) {
		if !slices.Contains(anchors, m[1]) {
			t.Errorf("a link leads to #%s, which is not there", m[1])
		}
	}
	columns := 0
	for _, line := range strings.Split(text, "\n") {
		n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if columns != 0 && n != 0 && n != columns {
			t.Errorf("a row of %d borders in a table of %d: %s", n, columns, line)
		}
		columns = n
	}
}

// TestReferenceNamesEveryKey proves that no row is left out.
func TestReferenceNamesEveryKey(t *testing.T) {
	text := string(Reference())
	for _, kind := range []string{KindProject, KindStack, KindClass} {
		eachPlace(&Field{Type: Object, Fields: fieldsOf(kind)}, map[*Field]bool{}, func(v string) string { return v }, func(f *Field, _ func(string) string) {
			if f.Key == "" {
				return
			}
			if !strings.Contains(text, "\n| `"+f.Key+"` | ") || !strings.Contains(text, escapeCell(f.Doc)) {
				t.Errorf("%s %s: %q is missing", kind, f.Key, f.Doc)
			}
			if f.Doc == "" || !strings.HasSuffix(f.Doc, ".") {
				t.Errorf("%s %s: the meaning %q is not a sentence", kind, f.Key, f.Doc)
			}
		})
	}
}

// TestCodes proves that every code is listed, once, in order.
func TestCodes(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "codes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if ok && strings.HasPrefix(spec.Names[0].Name, "Code") && spec.Names[0].Name != "Codes" {
			want = append(want, strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `"`))
		}
		return true
	})
	var have []string
	for _, c := range Codes {
		have = append(have, c.Code)
		if !strings.HasSuffix(c.Doc, ".") {
			t.Errorf("%s: %q is not a sentence", c.Code, c.Doc)
		}
	}
	if len(want) == 0 || !slices.Equal(have, want) {
		t.Errorf("listed %q\nwant %q", have, want)
	}
}
