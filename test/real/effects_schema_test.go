//go:build unix

package real

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/schema"
)

// TestEveryAttributeHasAnEffect compares the tables of effects with the schemas of the
// providers, for every resource type of the rendered modules: each attribute and each
// block has a row, and each row is about one that exists. Of a VM, each is also set by a
// property, or left out for a reason, and not both.
func TestEveryAttributeHasAnEffect(t *testing.T) {
	t.Parallel()
	p := newStack(t, "pool: {id: live, create: true}\ndns: {zone: lab.example, server: 127.0.0.1}\nvms: {a: {}}\n").render()
	seen := map[string]int{}
	for _, module := range []string{"proxmox-vm", "proxmox-pool", "dns-records"} {
		dir := "modules/" + module
		p.succeeds(dir, "tofu", "init", "-input=false", "-backend=false")
		blocks := p.resourceSchemas(dir)
		source := p.read(dir + "/main.tf")
		if module == "proxmox-vm" {
			source += p.read(dir + "/profile-default.tf")
		}
		for _, m := range regexp.MustCompile(`(?m)^resource "([^"]+)"`).FindAllStringSubmatch(source, -1) {
			block, ok := blocks[m[1]]
			if !ok {
				t.Fatalf("no provider of %s has a resource %s", module, m[1])
			}
			seen[m[1]] = compareRows(t, m[1], block)
		}
	}
	want := map[string]int{guest.VMResource: 150, guest.PoolResource: 7, guest.RecordResource: 5}
	for _, resource := range slices.Sorted(maps.Keys(want)) {
		if seen[resource] < want[resource] {
			t.Errorf("%s has only %d attributes", resource, seen[resource])
		}
	}
	if modules, err := filepath.Glob(filepath.Join(p.dir, "modules", "*")); err != nil || len(seen) != len(want) || len(modules) != 3 {
		t.Errorf("the modules are %v (%v), their resources %v", modules, err, seen)
	}
}

// resourceSchemas are the resource types of a module's providers.
func (p *project) resourceSchemas(dir string) map[string]*providerBlock {
	p.Helper()
	var out struct {
		Providers map[string]struct {
			Resources map[string]struct{ Block providerBlock } `json:"resource_schemas"`
		} `json:"provider_schemas"`
	}
	check(p.T, json.Unmarshal(p.run(dir, "tofu", "providers", "schema", "-json").Stdout, &out))
	blocks := map[string]*providerBlock{}
	for _, provider := range out.Providers {
		for name, r := range provider.Resources {
			blocks[name] = &r.Block
		}
	}
	return blocks
}

// compareRows compares the rows of a resource type with its schema, and returns the
// number of its attributes.
func compareRows(t *testing.T, resource string, block *providerBlock) int {
	t.Helper()
	attributes, blocks := block.paths("")
	for _, path := range slices.Concat(attributes, blocks) {
		row := schema.ResourceAttribute(resource, path)
		switch {
		case row == nil:
			t.Errorf("%s: %s has no row", resource, path)
		case resource == guest.VMResource && !row.Group && (row.Key == "") == (row.Why == ""):
			t.Errorf("%s: property %q sets %s, which is left out because: %q", resource, row.Key, path, row.Why)
		}
	}
	for _, a := range schema.Attributes(resource) {
		if !slices.Contains(attributes, a.HCL) && !slices.Contains(blocks, a.HCL) {
			t.Errorf("%s: the provider has no %s", resource, a.HCL)
		}
		if a.Group && !slices.Contains(blocks, a.HCL) {
			t.Errorf("%s: %s is no block", resource, a.HCL)
		}
	}
	return len(attributes)
}

// A providerBlock is a block of a provider's schema.
type providerBlock struct {
	Attributes map[string]struct{ Type json.RawMessage }
	BlockTypes map[string]struct{ Block providerBlock } `json:"block_types"`
}

// paths are the paths of all attributes and blocks.
func (b *providerBlock) paths(prefix string) (attributes, blocks []string) {
	for name, a := range b.Attributes {
		var kind []json.RawMessage
		var of []json.RawMessage
		var members map[string]json.RawMessage
		if json.Unmarshal(a.Type, &kind) == nil && len(kind) == 2 && json.Unmarshal(kind[1], &of) == nil && len(of) == 2 && json.Unmarshal(of[1], &members) == nil {
			blocks = append(blocks, prefix+name) // an attribute that is written as blocks
			for member := range members {
				attributes = append(attributes, prefix+name+"."+member)
			}
			continue
		}
		attributes = append(attributes, prefix+name)
	}
	for name, sub := range b.BlockTypes {
		blocks = append(blocks, prefix+name)
		a, bs := sub.Block.paths(prefix + name + ".")
		attributes, blocks = append(attributes, a...), append(blocks, bs...)
	}
	return attributes, blocks
}

// TestSourcesOfEffects reads the source of the Proxmox provider that the tests run: the
// link of each row leads to a line that names the attribute, in the function that the
// row names.
func TestSourcesOfEffects(t *testing.T) {
	t.Parallel()
	const module = "github.com/bpg/terraform-provider-proxmox"
	download := exec.Command("go", "mod", "download", "-json", module)
	download.Dir, download.Env = filepath.Join(repository, "tools", "provider-proxmox"), append(os.Environ(), "GOWORK=off")
	body, err := download.Output()
	check(t, err)
	var source struct{ Dir, Version string }
	check(t, json.Unmarshal(body, &source))
	prefix := "https://" + module + "/blob/" + source.Version + "/"
	files, found := map[string]*sourceFile{}, 0
	for _, resource := range []string{guest.VMResource, guest.PoolResource} {
		for _, a := range schema.Attributes(resource) {
			path, isProvider := strings.CutPrefix(a.Source, prefix)
			if !isProvider {
				if strings.Contains(a.Source, module) {
					t.Errorf("%s: %s is not of %s, which the tests run", a.HCL, a.Source, source.Version)
				}
				continue
			}
			path, line, _ := strings.Cut(path, "#L")
			n, err := strconv.Atoi(line)
			check(t, err)
			if files[path] == nil {
				files[path] = readSource(t, filepath.Join(source.Dir, path))
			}
			if err := files[path].names(n, a.Function, a.HCL); err != nil {
				t.Errorf("%s: %s: %v", a.HCL, a.Source, err)
			}
			found++
		}
	}
	if found < 100 {
		t.Errorf("only %d rows refer to the provider", found)
	}
}

// A sourceFile is a file of Go source.
type sourceFile struct {
	lines     []string
	functions map[string][2]int // first and last line
	constants map[string]string // of texts
}

func readSource(t *testing.T, name string) *sourceFile {
	t.Helper()
	body, err := os.ReadFile(name)
	check(t, err)
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, body, 0)
	check(t, err)
	out := &sourceFile{lines: strings.Split(string(body), "\n"), functions: map[string][2]int{}, constants: map[string]string{}}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			out.functions[n.Name.Name] = [2]int{set.Position(n.Pos()).Line, set.Position(n.End()).Line}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if i < len(n.Values) {
					if text, ok := n.Values[i].(*ast.BasicLit); ok && text.Kind == token.STRING {
						out.constants[name.Name], _ = strconv.Unquote(text.Value)
					}
				}
			}
		}
		return true
	})
	return out
}

var sourceWord = regexp.MustCompile(`\w+`)

// names checks that a line is in a function, and names an attribute or a block around it:
// by its constant, or by a word of its name.
func (f *sourceFile) names(line int, function, path string) error {
	at, ok := f.functions[function]
	if !ok || line < at[0] || line > at[1] {
		return fmt.Errorf("line %d is not in the function %s, which is in %v", line, function, at)
	}
	parts := strings.Split(path, ".")
	own := strings.FieldsFunc(parts[len(parts)-1], func(r rune) bool { return r == '_' })
	for _, word := range sourceWord.FindAllString(f.lines[line-1], -1) {
		if slices.Contains(parts, f.constants[word]) {
			return nil
		}
		if slices.ContainsFunc(own, func(o string) bool { return len(o) > 1 && strings.Contains(strings.ToLower(word), o) }) {
			return nil
		}
	}
	return fmt.Errorf("line %d does not name it: %s", line, strings.TrimSpace(f.lines[line-1]))
}
