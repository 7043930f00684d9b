package main

import (
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A fault is one change of product code. Its place is a function, a text in it, and which
// of the same texts there it is, so that it stays the same fault when lines move.
type fault struct {
	ID, File, Func, Kind, Nth, Text string
	Suite, Package, Test            string // who catches it; empty for a fault that was only drawn
}

// seed decides the order in which faults are drawn: that of their IDs.
const seed = "stackgen 23"

// name sets the ID, from the seed and the place.
func (f *fault) name(area string) {
	sum := sha256.Sum256([]byte(strings.Join([]string{seed, f.File, f.Func, f.Kind, f.Nth, f.Text}, "\x00")))
	f.ID = fmt.Sprintf("%s-%x", area, sum[:4])
}

// place identifies a fault within the product code.
func (f *fault) place() string {
	return strings.Join([]string{f.File, f.Func, f.Kind, f.Nth, f.Text}, "\t")
}

// A site is where a fault can be made, and its Go text with the fault in it.
type site struct {
	fault
	from, to int                                 // offsets in the file
	text     func(id string, code source) string // the code from..to, which has the fault only when id is chosen
}

// A source returns the text of a node, with the faults inside of it.
type source func(ast.Node) string

// swaps are the comparisons and operators that are replaced.
var swaps = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR, token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.LAND: token.LOR, token.LOR: token.LAND,
}

// longest is the length of a text at most: faults are small.
const longest = 100

// A finder collects the sites of a file.
type finder struct {
	file, area string
	body       []byte
	set        *token.FileSet
	stack      []ast.Node
	seen       map[string]int
	sites      []site
}

// foldersOf are the folders of the code of an area: one of its name in internal, unless it
// is listed here.
var foldersOf = map[string][]string{
	"generator": {"generator"},
	"cluster":   {"internal/cluster", "internal/feasible"}, // which were one package when the faults were drawn
}

// areaSites returns all sites of an area, in the order in which they are drawn.
func areaSites(root, area string) ([]site, error) {
	folders := foldersOf[area]
	if folders == nil {
		folders = []string{"internal/" + area}
	}
	var paths []string
	for _, folder := range folders {
		more, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
		if err != nil {
			return nil, err
		}
		paths = append(paths, more...)
	}
	var out []site
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		file, err := filepath.Rel(root, path)
		if err != nil {
			return nil, err
		}
		f := &finder{file: filepath.ToSlash(file), area: area, body: body, set: token.NewFileSet(), seen: map[string]int{}}
		tree, err := parser.ParseFile(f.set, path, body, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		ast.Inspect(tree, f.visit)
		out = append(out, f.sites...)
	}
	slices.SortFunc(out, func(a, b site) int { return strings.Compare(a.ID, b.ID) })
	return out, nil
}

func (f *finder) visit(n ast.Node) bool {
	if n == nil {
		f.stack = f.stack[:len(f.stack)-1]
		return true
	}
	if d, ok := n.(*ast.GenDecl); ok && d.Tok == token.CONST {
		return false
	}
	f.stack = append(f.stack, n)
	if f.function() == "" {
		return true
	}
	switch n := n.(type) {
	case *ast.IfStmt:
		if b, ok := n.Cond.(*ast.BinaryExpr); !ok || b.Op != token.EQL && b.Op != token.NEQ { // those are swapped
			f.add(n.Cond, "negate", func(id string, code source) string { return fmt.Sprintf("mutant.Is(%q) != (%s)", id, code(n.Cond)) })
		}
	case *ast.BinaryExpr:
		f.binary(n)
	case *ast.SliceExpr:
		for _, bound := range []ast.Expr{n.Low, n.High} {
			if _, ok := oneMore(bound); ok {
				f.add(bound, "off-by-one", func(id string, code source) string {
					return fmt.Sprintf("mutant.Plus(%q, %s, 1)", id, code(bound))
				})
			}
		}
	case *ast.ExprStmt:
		if _, ok := n.X.(*ast.CallExpr); ok {
			f.drop(n)
		}
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			f.drop(n)
		}
	case *ast.ReturnStmt:
		f.results(n)
	}
	return true
}

// drop adds the fault that a statement of a block is left out.
func (f *finder) drop(n ast.Stmt) {
	switch f.stack[len(f.stack)-2].(type) {
	case *ast.BlockStmt, *ast.CaseClause:
		f.add(n, "drop", func(id string, code source) string { return fmt.Sprintf("if !mutant.Is(%q) { %s }", id, code(n)) })
	}
}

func (f *finder) binary(n *ast.BinaryExpr) {
	if other, ok := swaps[n.Op]; ok {
		kind := "comparison"
		if n.Op == token.LAND || n.Op == token.LOR {
			kind = "and-or"
		}
		f.add(n, kind, func(id string, code source) string {
			return either(id, code(n), "("+code(n.X)+") "+other.String()+" ("+code(n.Y)+")")
		})
	}
	more, ok := oneMore(n.Y)
	switch _, swapped := swaps[n.Op]; {
	case ok && swapped:
		f.add(n, "off-by-one", func(id string, code source) string {
			return either(id, code(n), "("+code(n.X)+") "+n.Op.String()+" "+more)
		})
	case ok && (n.Op == token.ADD || n.Op == token.SUB):
		f.add(n, "off-by-one", func(id string, code source) string {
			return fmt.Sprintf("mutant.%s(%q, %s, 1)", map[token.Token]string{token.ADD: "Plus", token.SUB: "Minus"}[n.Op], id, code(n))
		})
	}
}

// either is a condition, and another one when id is chosen.
func either(id, right, wrong string) string {
	return fmt.Sprintf("(!mutant.Is(%q) && (%s) || mutant.Is(%q) && (%s))", id, right, id, wrong)
}

// oneMore returns the number after a literal one.
func oneMore(e ast.Expr) (string, bool) {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.INT {
		return "", false
	}
	n, err := strconv.Atoi(l.Value)
	return strconv.Itoa(n + 1), err == nil
}

// results adds the faults that a returned value is the zero of its type.
func (f *finder) results(n *ast.ReturnStmt) {
	types := f.resultTypes()
	if len(types) != len(n.Results) {
		return
	}
	for i, value := range n.Results {
		if s := f.source(value); slices.Contains([]string{"nil", "false", `""`, "0"}, s) || strings.HasSuffix(s, "{}") {
			continue
		}
		f.add(value, "zero", func(id string, code source) string {
			return fmt.Sprintf("mutant.Zero[%s](%q, %s)", types[i], id, code(value))
		})
	}
}

// resultTypes are the types that the innermost function returns.
func (f *finder) resultTypes() []string {
	for _, n := range slices.Backward(f.stack) {
		var t *ast.FuncType
		switch n := n.(type) {
		case *ast.FuncDecl:
			t = n.Type
		case *ast.FuncLit:
			t = n.Type
		default:
			continue
		}
		var out []string
		if t.Results != nil {
			for _, field := range t.Results.List {
				for range max(1, len(field.Names)) {
					out = append(out, f.source(field.Type))
				}
			}
		}
		return out
	}
	return nil
}

func (f *finder) add(n ast.Node, kind string, text func(string, source) string) {
	short := strings.Join(strings.Fields(f.source(n)), " ")
	if len(short) > longest {
		return
	}
	s := site{from: f.offset(n.Pos()), to: f.offset(n.End()), text: text}
	s.fault = fault{File: f.file, Func: f.function(), Kind: kind, Text: short}
	f.seen[s.place()]++
	s.Nth = strconv.Itoa(f.seen[s.place()])
	s.name(f.area)
	f.sites = append(f.sites, s)
}

// function is the declared function of the current node, with its receiver's type, or "".
func (f *finder) function() string {
	for _, n := range f.stack {
		if d, ok := n.(*ast.FuncDecl); ok {
			if d.Recv == nil {
				return d.Name.Name
			}
			return strings.TrimPrefix(f.source(d.Recv.List[0].Type), "*") + "." + d.Name.Name
		}
	}
	return ""
}

func (f *finder) source(n ast.Node) string {
	return string(f.body[f.offset(n.Pos()):f.offset(n.End())])
}

func (f *finder) offset(p token.Pos) int { return f.set.Position(p).Offset }
