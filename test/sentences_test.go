package test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestSentences: each reason that the product gives has a sentence in package report that takes
// all of its values, and each sentence is that of a reason.
func TestSentences(t *testing.T) {
	sentences := literals(t, "../internal/report/table_sentences.go")
	texts := map[string]bool{} // all texts of the other files
	reasons := 0
	check(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != ".." && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"tools", "test", "testdata", "pvesim", "sample"}, d.Name())):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || d.Name() == "table_sentences.go":
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		check(t, err)
		about := map[ast.Node]bool{} // reasons with another one at their end
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
					texts[text] = true
				}
			case *ast.CallExpr:
				s, ok := n.Fun.(*ast.SelectorExpr)
				if ok && s.Sel.Name == "Of" {
					about[s.X] = true
				}
				if !ok || s.Sel.Name != "Why" || len(n.Args) == 0 {
					break
				}
				literal, ok := n.Args[0].(*ast.BasicLit)
				if !ok {
					break
				}
				reasons++
				code, err := strconv.Unquote(literal.Value)
				check(t, err)
				values := len(n.Args) - 1
				if about[n] {
					values++
				}
				if sentence, known := sentences[code]; !known || strings.Count(sentence, "%s") != values {
					t.Errorf("%s: %s has %d values, and the sentence %q", set.Position(n.Pos()), code, values, sentence)
				}
			}
			return true
		})
		return nil
	}))
	for _, code := range slices.Sorted(maps.Keys(sentences)) {
		if of, cause := strings.CutPrefix(code, "changed-"); !texts[code] && !(cause && texts[of]) { // drift makes these of its causes
			t.Errorf("no reason has the code %s", code)
		}
	}
	if reasons < 150 {
		t.Errorf("%d reasons were looked at, want those of the product", reasons)
	}
}

// literals are the texts of the map in a file.
func literals(t *testing.T, path string) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	check(t, err)
	out := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		pair, ok := n.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		key, isKey := pair.Key.(*ast.BasicLit)
		value, isValue := pair.Value.(*ast.BasicLit)
		if isKey && isValue {
			k, err := strconv.Unquote(key.Value)
			check(t, err)
			v, err := strconv.Unquote(value.Value)
			check(t, err)
			out[k] = v
		}
		return true
	})
	return out
}
