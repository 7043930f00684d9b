package test

import (
	"path/filepath"
	"strings"
	"testing"

	"stackgen/generator"
	"stackgen/internal/lock"
	"stackgen/schema"
)

// all selects every stack.
func all(string) bool { return true }

// labels are the paths that specs have in their project, by stack.
func labels(p *schema.Project) map[string]string {
	out := map[string]string{}
	for _, s := range p.Stacks {
		out[s.Name] = s.Spec
	}
	return out
}

// core runs the pure packages: specs and a lock become files and a lock. ok is
// false if the specs are refused. Specs that are accepted must render.
func core(t *testing.T, specs map[string][]byte, order []string, old *lock.Lock) (files []generator.File, now *lock.Lock, ok bool) {
	t.Helper()
	var inputs []schema.Input
	for _, name := range order {
		spec, problems := schema.Parse(name, specs[name])
		if (spec == nil) != schema.HasErrors(problems) {
			t.Fatalf("%s: want either a spec or errors: %v", name, problems)
		}
		if spec == nil || spec.Kind == schema.KindProject { // a Project has no VMs
			return nil, nil, false
		}
		inputs = append(inputs, schema.Input{Spec: spec, Label: name})
	}
	p, problems := schema.Join(nil, inputs, keyFiles(), old.Seats())
	if schema.HasErrors(problems) {
		return nil, nil, false
	}
	d := lock.Decide(p, old, lock.Options{Specs: labels(p), Selected: all})
	if schema.HasErrors(d.Problems) || len(d.Refusals) > 0 {
		return nil, nil, false
	}
	p.Stacks = d.Stacks
	files, err := generator.Render(p, d.Lock, all)
	if err != nil {
		t.Fatalf("the specs are accepted and do not render: %v", err)
	}
	return files, d.Lock, true
}

func keyFiles() schema.Files {
	files := schema.Files{}
	f := files["specs/keys/admin.pub"]
	f.Body = []byte("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOGf5oyqYiE6i2O2ljzHFAXlkdO5yHNNRSpk7Fz9vZq4 admin@example.org\n")
	files["specs/keys/admin.pub"] = f
	return files
}

// text joins files into one string, for comparison.
func text(files []generator.File) string {
	var b strings.Builder
	for _, f := range files {
		b.WriteString("== " + f.Path + "\n" + string(f.Body))
	}
	return b.String()
}

// emptyLock is a project's first lock.
func emptyLock(t *testing.T) *lock.Lock {
	t.Helper()
	l, problems := lock.Read(lock.File, nil)
	if l == nil {
		t.Fatal(problems)
	}
	return l
}

// examples returns this repository's own specs and lock.
func examples(t *testing.T) (map[string][]byte, []string, *lock.Lock) {
	t.Helper()
	names, err := filepath.Glob("../specs/*.yaml")
	check(t, err)
	specs := map[string][]byte{}
	var order []string
	for _, n := range names {
		name := "specs/" + filepath.Base(n)
		specs[name] = read(t, n)
		order = append(order, name)
	}
	l, problems := lock.Read(lock.File, read(t, "../stackgen.lock.yaml"))
	if l == nil || len(order) == 0 {
		t.Fatalf("%d specs, lock: %v", len(order), problems)
	}
	return specs, order, l
}
