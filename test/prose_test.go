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

// prose are the fields of findings that have sentences.
var prose = []string{"Reason", "Says", "Evidence", "What"}

// readers are the functions and methods that look into a text.
var readers = []string{"Contains", "ContainsAny", "Count", "Cut", "CutPrefix", "CutSuffix", "EqualFold", "Fields", "FindString", "FindStringSubmatch", "HasPrefix", "HasSuffix",
	"Index", "LastIndex", "MatchString", "Split", "SplitN", "SplitSeq", "TrimPrefix", "TrimSuffix"}

// mayReadProse are the places that may look into a sentence: what they do with it is not
// more than another sentence.
var mayReadProse = map[string]string{
	"internal/finding/step.go":      "the first step does not begin with or",
	"internal/report/drift_rows.go": "who made a change is said once",
	"internal/proxmox/power.go":     "the reason is of Proxmox VE",
	"internal/proxmox/transport.go": "the reason is of Proxmox VE",
}

// TestDecisionsReadNoProse: nothing looks for words in what stackgen says itself, so that
// another wording changes no decision.
func TestDecisionsReadNoProse(t *testing.T) {
	files, used := 0, map[string]bool{}
	check(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != ".." && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"tools", "test", "testdata", "pvesim"}, d.Name())):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		files++
		for _, at := range readsOfProse(t, path, nil) {
			rel, err := filepath.Rel("..", path)
			check(t, err)
			if used[filepath.ToSlash(rel)] = true; mayReadProse[filepath.ToSlash(rel)] == "" {
				t.Errorf("%s: a decision reads a sentence of a finding: give the finding a value for it", at)
			}
		}
		return nil
	}))
	for file := range mayReadProse {
		if !used[file] {
			t.Errorf("%s reads no sentence any more: remove it from the list", file)
		}
	}
	if files < 300 {
		t.Errorf("%d files were looked at, want those of the product", files)
	}
	const bad = `package p
func f(x *F) bool {
	for _, e := range x.Evidence { if strings.HasSuffix(e, "restart") { return true } }
	if slices.ContainsFunc(x.Evidence, func(e string) bool { return strings.Contains(e, "wait") }) { return true }
	if slices.ContainsFunc(x.Evidence, func(e Evidence) bool { return strings.Contains(e.Text, "wait") }) { return true }
	return strings.Contains(x.Says, "half made") || x.Steps[0].What == "wait" || x.Reason == "" || expression.MatchString(x.Reason)
}`
	if got := readsOfProse(t, "bad.go", bad); len(got) != 6 {
		t.Errorf("reads of sentences are not found: %v", got)
	}
}

// readsOfProse are the places where a file looks into a sentence or compares one with a text.
func readsOfProse(t *testing.T, path string, source any) []string {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, source, 0)
	check(t, err)
	r := &proseReader{set: set, found: map[string]bool{}}
	r.look(file, nil)
	return slices.Sorted(maps.Keys(r.found))
}

// A proseReader finds the places of one file.
type proseReader struct {
	set   *token.FileSet
	found map[string]bool
}

// look looks at a part of the file in which variables of these names are sentences.
func (r *proseReader) look(part ast.Node, sentences []string) {
	add := func(n ast.Node) { r.found[r.set.Position(n.Pos()).String()] = true }
	ast.Inspect(part, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			if name, ok := n.Value.(*ast.Ident); ok && isProse(n.X, sentences) {
				r.look(n.Body, append(slices.Clone(sentences), name.Name))
			}
		case *ast.CallExpr:
			if len(n.Args) == 0 || !isProse(n.Args[0], sentences) {
				break
			}
			if f, ok := n.Args[len(n.Args)-1].(*ast.FuncLit); ok && len(f.Type.Params.List) == 1 { // of slices.ContainsFunc
				r.look(f.Body, append(slices.Clone(sentences), f.Type.Params.List[0].Names[0].Name))
			}
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && slices.Contains(readers, s.Sel.Name) && !isPackage(s.X, "slices") {
				add(n)
			}
		case *ast.BinaryExpr:
			if (n.Op == token.EQL || n.Op == token.NEQ) && (isProse(n.X, sentences) && isText(n.Y) || isProse(n.Y, sentences) && isText(n.X)) {
				add(n)
			}
		}
		return true
	})
}

// isProse reports whether an expression is a field with sentences, one of these, or a
// variable that has one.
func isProse(e ast.Expr, sentences []string) bool {
	if i, ok := e.(*ast.IndexExpr); ok {
		e = i.X
	}
	if name, ok := e.(*ast.Ident); ok {
		return slices.Contains(sentences, name.Name)
	}
	s, ok := e.(*ast.SelectorExpr)
	return ok && (slices.Contains(prose, s.Sel.Name) || s.Sel.Name == "Text" && isProse(s.X, sentences)) // the text of evidence
}

func isPackage(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// isText reports whether an expression is a text that is not empty.
func isText(e ast.Expr) bool {
	literal, ok := e.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return false
	}
	text, err := strconv.Unquote(literal.Value)
	return err == nil && text != ""
}
