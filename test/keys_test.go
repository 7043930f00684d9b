package test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/schema"
)

// A word is a string literal that is equal to a property key or a resource type, and how the
// code uses it: "Get()" is an argument of a function of this name, "Raw[]" an index, "{}.Key"
// the value of a field, "==kind" what is compared with it, "const Kind" a constant of a type,
// "var columns" an item of a variable.
type word struct {
	file string // from the root of the repository
	line int
	text string
	use  string
}

func (w word) String() string { return fmt.Sprintf("%s:%d: %q as %s", w.file, w.line, w.text, w.use) }

// tableFiles are the table, and the names in it that decisions use.
func isTable(file string) bool {
	return strings.HasPrefix(file, "guest/") || strings.HasPrefix(file, "schema/table_")
}

// tableWords are the keys of all properties, and the types of resources.
func tableWords() map[string]bool {
	out := map[string]bool{guest.VMResource: true, guest.ContainerResource: true, guest.PoolResource: true, guest.RecordResource: true}
	var add func(fields []schema.Field)
	add = func(fields []schema.Field) {
		for _, f := range fields {
			out[f.Key] = true
			add(f.Fields)
			if f.Elem != nil {
				add(f.Elem.Fields)
			}
		}
	}
	add(schema.VMFields)
	return out
}

// wordsIn finds the words in a file of Go.
func wordsIn(t *testing.T, file string, source []byte, known map[string]bool) []word {
	t.Helper()
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, source, parser.SkipObjectResolution)
	check(t, err)
	var out []word
	var path []ast.Node
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil {
			path = path[:len(path)-1]
			return true
		}
		path = append(path, n)
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil && known[text] {
				out = append(out, word{file, set.Position(lit.Pos()).Line, text, useOf(path)})
			}
		}
		return true
	})
	return out
}

// useOf says how the last node of a path from the file is used.
func useOf(path []ast.Node) string {
	item := false // of a composite literal: what that is for says more
	for i := len(path) - 2; i >= 0; i-- {
		below := path[i+1]
		switch n := path[i].(type) {
		case *ast.CallExpr:
			if below != n.Fun {
				return lastName(n.Fun) + "()"
			}
		case *ast.IndexExpr:
			if below == n.Index {
				return lastName(n.X) + "[]"
			}
		case *ast.KeyValueExpr:
			lit, _ := path[i-1].(*ast.CompositeLit)
			if _, isMap := lit.Type.(*ast.MapType); isMap || below == n.Key {
				continue
			}
			return lastName(lit.Type) + "{}." + lastName(n.Key)
		case *ast.CompositeLit:
			if name := lastName(n.Type); name != "" && !item {
				return name + "{}"
			}
			item = true
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				return "==" + lastName(n.X)
			}
		case *ast.CaseClause:
			if s, ok := path[i-2].(*ast.SwitchStmt); ok && slices.ContainsFunc(n.List, func(e ast.Expr) bool { return e == below }) {
				return "==" + lastName(s.Tag)
			}
		case *ast.ValueSpec:
			if n.Type != nil && !item {
				return "const " + lastName(n.Type)
			}
			return "var " + n.Names[0].Name
		case *ast.AssignStmt:
			return "var " + lastName(n.Lhs[0])
		case *ast.RangeStmt:
			return "range"
		case *ast.ReturnStmt:
			return "return"
		case *ast.FuncDecl:
			return "func " + n.Name.Name
		}
	}
	return ""
}

// lastName is the last name in an expression: Get of v.Values.Get.
func lastName(e ast.Node) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.CallExpr:
		return lastName(e.Fun)
	case *ast.IndexExpr:
		return lastName(e.X)
	}
	return ""
}

// productWords are the words outside of the table and the tests. A package that does not
// import schema reads no spec: a key there is another word, and only types of resources are
// types of resources.
func productWords(t *testing.T) []word {
	t.Helper()
	var out []word
	known := tableWords()
	resources := map[string]bool{guest.VMResource: true, guest.ContainerResource: true, guest.PoolResource: true, guest.RecordResource: true}
	reads := map[string]bool{"schema": true, "internal/edit": true}
	for name, imports := range may {
		reads[name] = reads[name] || slices.Contains(imports, "schema")
	}
	for _, dir := range []string{"schema", "templates", "generator", "internal", "cmd"} {
		check(t, filepath.WalkDir(filepath.Join("..", dir), func(path string, d fs.DirEntry, err error) error {
			file := filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))
			if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") || isTable(file) {
				return err
			}
			source, err := os.ReadFile(path)
			if reads[filepath.ToSlash(filepath.Dir(file))] {
				out = append(out, wordsIn(t, file, source, known)...)
			} else {
				out = append(out, wordsIn(t, file, source, resources)...)
			}
			return err
		}))
	}
	return out
}

// An otherWord is a use of words that means something else than a property. in begins the path
// of the files.
type otherWord struct {
	in   string
	uses []string // "" is all
	why  string
}

var otherWords = []otherWord{
	{"internal/", []string{"Raw[]", "raw[]", "Runs[]", "Option()", "Default()", "Option{}.Name", "==bus", "==TrimRight"}, "entries of a configuration in Proxmox VE, and their options"},
	{"internal/hardware/", []string{"Setting{}.Key", "sends()", "decimals()"}, "entries and options"},
	{"internal/hardware/entry.go", []string{"{}.Name"}, "options"},
	{"internal/hardware/unreadable.go", []string{"With()"}, "options"},
	{"internal/guard/disks.go", []string{"Has()"}, "options"},
	{"internal/guard/rule_migrate.go", []string{"==name"}, "entries"},
	{"internal/effect/disks.go", []string{"Has()"}, "options"},
	{"internal/starter/choose.go", []string{"Has()"}, "options"},
	{"internal/hardware/side_effect.go", []string{"{}.Key"}, "entries"},
	{"internal/hardware/limits.go", []string{"refuse()"}, "an entry, which is shown without its value"},
	{"internal/hardware/read.go", []string{"append()", "noOption()", "Has()", "var entryPool", "==key"}, "entries, and an option that no property sets"},
	{"internal/cluster/defaults.go", []string{"var addable"}, "entries"},
	{"internal/feasible/update.go", []string{"TrimPrefix()"}, "entries"},
	{"internal/feasible/", []string{"SetStorage()"}, "options of a storage"},
	{"internal/feasible/mapping.go", []string{"var mappingNouns"}, "kinds of resource mappings"},
	{"internal/effect/hotplug.go", []string{"count()"}, "entries"},
	{"internal/hardware/dropped.go", []string{"var attributesOfContainers", "var grownRootFS"}, "options of entries"},
	{"internal/tf/restore.go", []string{"state[]", "r[]"}, "keys of a state file"},
	{"internal/deploy/rebuild_keep.go", []string{"Find()"}, "an action"},
	{"internal/guard/rule_busy.go", []string{"Contains()"}, "locks of a VM"},
	{"internal/guard/rule_unknown.go", []string{"missingDevice()"}, "entries"},
	{"internal/guard/rules.go", []string{"{}.name"}, "names of rules"},
	{"internal/", []string{"Path()"}, "parts of a path in the API"},
	{"internal/cluster/access.go", []string{"Grantee{}", "==Type"}, "types of grantees"},
	{"internal/guard/", []string{"var lockBlocks", "==Lock"}, "locks of a VM"},
	{"internal/", []string{"const Check", "const Why", "const Kind", "const Type", "Matches()"}, "values of a type of their own, and formats"},
	{"schema/", []string{"const Effect", "const Dependency", "var formats"}, "effects, and names of formats"},
	{"schema/hardware.go", []string{"Contains()"}, "the kinds of devices in a value of hotplug"},
	{"internal/tf/change.go", []string{"Contains()"}, "the kinds of devices in a value of hotplug"},
	{"internal/hardware/devices.go", []string{"Contains()"}, "the kinds of devices in a value of hotplug"},
	{"internal/effect/hotplug.go", []string{"var kind", "var plugKinds", "==kind"}, "the kinds of devices in a value of hotplug"},
	{"internal/effect/", []string{"==Path", "==part", "==block", "Contains()", "changes()", "var USBs"}, "attributes and blocks of the VM resource"},
	{"internal/tf/", []string{"==Path", "==path", "var namedBy", "var NUMANodes", "var described", "var alwaysRead"}, "attributes and blocks of the VM resource"},
	{"internal/cluster/", []string{"var deeds", "var running"}, "attributes of the VM resource"},
	{"internal/feasible/", []string{"var updateChecks"}, "attributes of the VM resource"},
	{"internal/deploy/", []string{"append()"}, "attributes of the VM resource"},
	{"internal/hardware/", []string{"==attribute"}, "attributes of the VM resource"},
	{"internal/guard/", []string{"manages()", "Ignores()", "Attributes[]", "==Name"}, "attributes in a file of imports, a plan or a profile"},
	{"internal/tf/", []string{"values[]", "firstOf[]", "before[]", "disk[]", "agent[]", "var MigrateAttribute"}, "attributes in a state or a plan"},
	{"schema/join.go", []string{"Ignores()", "append()", "{}.IgnoreChanges", "var out"}, "attributes that profiles ignore"},
	{"schema/join.go", []string{"Get()", "get()"}, "keys of a stack"},
	{"schema/spec.go", []string{"Get()"}, "keys of a stack"},
	{"schema/clash.go", []string{"chosen[]"}, "providers"},
	{"schema/rosterfile.go", []string{"Index()", "Contains()"}, "columns of a roster"},
	{"schema/correction.go", []string{"range"}, "keys by which an item of a list becomes an entry of a map"},
	{"schema/suggest.go", []string{"var synonyms"}, "what people write instead of a property: a test of the package asks for each"},
	{"schema/starts.go", []string{"HasPrefix()"}, "values"},
	{"generator/", []string{"ref()", "call()", "ident()", "pair{}", "member()", "block()", "SetAttributeRaw()", "unit{}.values", "var values", "var pairs",
		"var ownValues", "reasons[]", "var reasons"}, "names in HCL"},
	{"generator/modules.go", []string{"range"}, "names in HCL"},
	{"generator/outdated.go", []string{"range"}, "names in HCL"},
	{"generator/records.go", []string{"range"}, "names in HCL"},
	{"generator/lifecycle.go", []string{"==a"}, "names in HCL"},
	{"generator/starting.go", []string{"==a"}, "names in HCL"},
	{"generator/vm.go", []string{"==key"}, "names in HCL"},
	{"generator/", []string{"var kinds", "==provider", "var unitVariables"}, "providers, and variables of units"},
	{"internal/guard/command.go", []string{"var UnitVariables", "var notOfPlans", "Contains()"}, "variables of units, and flags of OpenTofu"},
	{"internal/tf/action.go", []string{"const Action", "var actionOf"}, "actions of a plan"},
	{"internal/lock/read.go", []string{""}, "keys of the lock"},
	{"internal/lock/node.go", []string{""}, "keys of the lock"},
	{"internal/lock/", []string{"var SawSerial", "var SawDisks", "var SawNode", "var SawTemplate", "var UnitDNS", "var forms"}, "keys and values of the lock"},
	{"internal/drift/baseline.go", []string{""}, "keys of the baseline"},
	{"internal/outputs/", []string{"var columns", "must()"}, "columns of the outputs"},
	{"internal/cluster/codec.go", []string{"range"}, "keys of an inventory"},
	{"internal/report/", []string{"var recordingWords"}, "what was recorded in the lock"},
	{"internal/", []string{"Count()", "var rows", "var noun", "var kindOrder", "var wordOrder", "Action{}.Word"},
		"words for people"},
	{"internal/cluster/inventory.go", []string{"return"}, "words for people"},
	{"internal/lock/member.go", []string{"Replace()"}, "words for people"},
	{"internal/discover/", []string{"Or()"}, "the name of a stack"},
	{"cmd/", []string{""}, "flags and names of commands"},
}

// means returns the use in otherWords that a word is, or -1.
func (w word) means() (row int, use string) {
	for i, o := range otherWords {
		if !strings.HasPrefix(w.file, o.in) {
			continue
		}
		for _, use := range o.uses {
			if use == "" || use == w.use {
				return i, use
			}
		}
	}
	return -1, ""
}

// TestPropertyKeysOnlyInTable: outside of the table, no code has a key of a property or a type
// of resource as a literal. A word that is equal to one and means something else is told apart
// by its file and its use; otherWords has both, and nothing that is not needed.
func TestPropertyKeysOnlyInTable(t *testing.T) {
	t.Parallel()
	known := tableWords()
	needed := map[string]bool{}
	for _, w := range productWords(t) {
		row, use := w.means()
		if row < 0 {
			t.Errorf("%s: take it from the table", w)
		}
		needed[fmt.Sprint(row, use)] = true
	}
	for i, o := range otherWords {
		for _, use := range o.uses {
			if !needed[fmt.Sprint(i, use)] {
				t.Errorf("no file in %s has %q as %s: remove that", o.in, use, o.why)
			}
		}
	}
	bad := []byte(`package x
var all = []string{"cpu_affinity"}
func f(v *schema.VM) bool {
	for _, key := range []string{"efi", "scsi1"} {
		_ = set(v.Values.Get("memory"), "cores of", nil)
	}
	switch d.Field {
	case "networks":
	}
	return c.Type == "proxmox_virtual_environment_vm" || d == Difference{Field: "disks"}
}`)
	var found []string
	for _, w := range wordsIn(t, "internal/cluster/x.go", bad, known) {
		if row, _ := w.means(); row >= 0 {
			t.Errorf("%s means %s", w, otherWords[row].why)
		}
		found = append(found, w.use+" "+w.text)
	}
	want := []string{"var all cpu_affinity", "range efi", "Get() memory", "==Field networks", "==Type proxmox_virtual_environment_vm", "Difference{}.Field disks"}
	if !slices.Equal(found, want) {
		t.Errorf("found %q, want %q", found, want)
	}
}
