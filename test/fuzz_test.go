package test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"stackgen/generator"
	"stackgen/internal/lock"
)

// FuzzSpec runs the pure packages on random bytes. They must not panic, and must
// return either a spec or errors. An accepted spec must render to HCL that
// parses, with its own lock to the same files.
func FuzzSpec(f *testing.F) {
	for _, glob := range []string{"../specs/*.yaml", "../templates/starter/specs/*.yaml"} {
		names, err := filepath.Glob(glob)
		if err != nil || len(names) == 0 {
			f.Fatalf("%s: no seeds: %v", glob, err)
		}
		for _, n := range names {
			f.Add(readSeed(f, n))
		}
	}
	for _, script := range scripts(f) {
		for _, file := range script.Files {
			if strings.HasSuffix(file.Name, ".yaml") {
				f.Add(file.Data)
			}
		}
	}
	const head = "apiVersion: stackgen/v1\nkind: Stack\nname: a\nvmids: 100-200\ndefaults: {node: n, template: 99}\n"
	for _, more := range []string{
		"vms: {a: {description: \"${x} %{ if y } $${z} \\\" \\n \\u2028 \\x1b[2J\"}}",
		"groups: {a: {count: 3, key: \"a{n}\", cloud_init: {ipv4: \"10.0.0.{n}/24\"}}}",
		"vms: &a {b: {<<: *a}}", "vms: {a: {<<: {cores: 4}}}", "vms: {? [a]: b}", "vms: {a: !!binary YQ==}", "vms: {~: {}}",
		"vms: {a: {networks: [], disks: [], serial: [], boot_order: [], cloud_init: false, agent: false, dns: false}}",
		"vms: {a: {cpu_limit: 1e2, memory: 0o17, cores: 0x2, vga: {}}}", "renamed: {a: b, b: a}\nretired: [a]",
		"pool: {id: ${a}, create: true}", "dns: {zone: a, server: b}\nvms: {a: {dns: {records: [\"@\", \"*\", \"*.a\"]}}}",
	} {
		f.Add([]byte(head + more + "\n"))
	}
	for _, nasty := range []string{"", "\xff\xfe", "\ufeff", "%YAML 1.2\n---\n", "--- !!map {}\n", "&a [*a]", "{", "\t", "\x00", "? ", "a: *b", "<<: 1", "- - - -", strings.Repeat("[", 100)} {
		f.Add([]byte(nasty))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) > 1<<16 || bytes.Count(src, []byte("count")) > 4 {
			return // size is not what this test checks
		}
		specs, order := map[string][]byte{"specs/a.yaml": src}, []string{"specs/a.yaml"}
		files, now, ok := core(t, specs, order, emptyLock(t))
		if !ok {
			return
		}
		parses(t, files)
		body := lockBytes(t, now)
		read, problems := lock.Read(lock.File, body)
		if read == nil {
			t.Fatalf("the lock cannot be read back: %v\n%s", problems, body)
		}
		again, same, ok := core(t, specs, order, read)
		if !ok || text(files) != text(again) || !bytes.Equal(body, lockBytes(t, same)) {
			t.Fatalf("with its own lock it renders differently (%v)\n%s", ok, firstDifference(text(files), text(again)))
		}
	})
}

func parses(t *testing.T, files []generator.File) {
	t.Helper()
	for _, f := range files {
		if !fs.ValidPath(f.Path) {
			t.Fatalf("%q is not a path", f.Path)
		}
		if ext := filepath.Ext(f.Path); ext != ".hcl" && ext != ".tf" {
			continue
		}
		if _, diags := hclsyntax.ParseConfig(f.Body, f.Path, hcl.InitialPos); diags.HasErrors() {
			t.Fatalf("%v\n%s", diags, f.Body)
		}
	}
}

func readSeed(f *testing.F, name string) []byte {
	f.Helper()
	src, err := os.ReadFile(name)
	if err != nil {
		f.Fatal(err)
	}
	return src
}
