package project

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stackgen/internal/lock"
)

// folder writes the files of a project and makes it the working directory.
func folder(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, body := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

const spec = "apiVersion: stackgen/v1\nkind: Stack\nname: lab\nvmids: 300-399\ndefaults: {node: pve1, template: 9002}\nvms: {web: {}}\n"

func TestOpenDecides(t *testing.T) {
	folder(t, map[string]string{"specs/lab.yaml": spec})
	p, err := Open([]string{"specs/lab.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	if p.Root != "." || strings.Join(p.SelectedNames(), " ") != "lab" {
		t.Errorf("root %q, stacks %v", p.Root, p.SelectedNames())
	}
	if vm := p.Lock.Stacks.Get("lab").VMs.Get("web"); vm == nil || vm.VMID != 300 {
		t.Errorf("decided: %+v", vm)
	}
	if p.Rendered.Has("lab", "web") {
		t.Error("the lock on disk was changed")
	}
	if differs, err := p.Unrendered(); err != nil || !differs {
		t.Errorf("a new VM needs a render: %v, %v", differs, err)
	}
	body, err := p.Lock.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(lock.File, body, 0o600); err != nil {
		t.Fatal(err)
	}
	if p, err = Open(nil); err != nil {
		t.Fatal(err)
	}
	if differs, err := p.Unrendered(); err != nil || differs {
		t.Errorf("after the render: %v, %v", differs, err)
	}
}

func TestOpenIsBlocked(t *testing.T) {
	folder(t, map[string]string{"specs/lab.yaml": "kind: Stack\n"})
	var blocked *BlockedError
	if _, err := Open(nil); !errors.As(err, &blocked) || !blocked.Invalid() || len(blocked.Project.Problems) == 0 {
		t.Fatalf("a spec with errors: %v", err)
	}
	folder(t, map[string]string{})
	if _, err := Open(nil); err == nil || errors.As(err, &blocked) || !strings.Contains(err.Error(), "stackgen init") {
		t.Errorf("no spec: %v", err)
	}
	folder(t, map[string]string{"specs/lab.yaml": spec})
	p, err := Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := p.Lock.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	folder(t, map[string]string{"specs/lab.yaml": strings.Replace(spec, "web", "db", 1), lock.File: string(body)})
	if _, err := Open(nil); !errors.As(err, &blocked) || blocked.Invalid() || len(blocked.Project.Refusals) == 0 {
		t.Errorf("a VM that left the spec: %v", err)
	}
}

func TestHome(t *testing.T) {
	folder(t, map[string]string{"a/stackgen.yaml": "", "a/specs/x.yaml": "", "b/specs/y.yaml": "", "c/z.yaml": ""})
	for path, want := range map[string]string{"a/specs": "a", "a/specs/x.yaml": "a", "b/specs/y.yaml": "b", "c": "c", "c/z.yaml": "c"} {
		if got, err := Home(path); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", path, got, err, want)
		}
	}
	if _, err := Home("none"); err == nil {
		t.Error("a missing path has a project")
	}
}

func TestLockFolder(t *testing.T) {
	folder(t, map[string]string{"specs/lab.yaml": spec})
	unlock, err := LockFolder(t.Context(), nil, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	waited := false
	if _, err := LockFolder(ctx, []string{"specs/lab.yaml"}, "", func(string) { waited = true }); err == nil || !waited {
		t.Errorf("two writers at once: %v, told %v", err, waited)
	}
	if err := unlock(); err != nil {
		t.Error(err)
	}
}

func TestStartKeepsFiles(t *testing.T) {
	folder(t, map[string]string{"specs/example.yaml": "mine"})
	files, err := Start(".", nil)
	if err != nil {
		t.Fatal(err)
	}
	kept := 0
	for _, f := range files {
		if f.Kept {
			kept++
		}
	}
	if body, err := os.ReadFile("specs/example.yaml"); err != nil || string(body) != "mine" || kept != 1 || len(files) < 3 {
		t.Errorf("%d of %d kept; %q, %v", kept, len(files), body, err)
	}
}
