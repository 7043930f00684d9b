package register_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"stackgen/internal/check"
	"stackgen/internal/files"
	"stackgen/internal/project"
	"stackgen/internal/register"
)

const spec = "apiVersion: stackgen/v1\nkind: Stack\nname: lab\nvmids: 300-399\ndefaults: {node: pve1, template: 9002}\nvms: {web: {}}\n"

// lab is a project with a state, which the address belongs to.
func lab(t *testing.T) *project.Project {
	t.Helper()
	t.Chdir(t.TempDir())
	must(t, os.MkdirAll("specs", 0o700))
	must(t, os.WriteFile("specs/lab.yaml", []byte(spec), 0o600))
	p, err := project.Open(nil)
	must(t, err)
	return p
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// read reads the outputs of a state in which the VM has an address.
func read(t *testing.T, p *project.Project, address string) *register.Outputs {
	t.Helper()
	state := `{"version": 4, "lineage": "x", "resources": [], "outputs": {"vms": {"value": {"web": {"id": 300, "name": "lab-web", "node": "pve1", "ipv4": "` + address + `"}}}}}`
	must(t, os.WriteFile("state.json", []byte(state), 0o600))
	o, err := register.Read(t.Context(), register.Request{Project: p, Stacks: register.Selected(p), Sources: check.Sources{States: []string{"lab/proxmox-vm=state.json"}}})
	must(t, err)
	return o
}

// TestWriteAfterKill: a run may be killed after any of its files. The next one completes
// it, and takes no file for that of another program.
func TestWriteAfterKill(t *testing.T) {
	files := 5
	for killed := range files + 1 {
		p := lab(t)
		if _, err := read(t, p, "10.0.0.1").Write(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		o := read(t, p, "10.0.0.2")
		if len(o.Files) != files {
			t.Fatalf("%d files", len(o.Files))
		}
		for _, f := range o.Files[:killed] {
			must(t, os.WriteFile(f.Path, f.Body, 0o600))
		}
		if changes, err := o.Write(t.Context(), nil); err != nil || len(changes) != files-killed {
			t.Errorf("killed after %d files: %d changes, %v", killed, len(changes), err)
		}
		if changes, err := o.Write(t.Context(), nil); err != nil || len(changes) != 0 {
			t.Errorf("killed after %d files, completed: %d changes, %v", killed, len(changes), err)
		}
	}
}

// TestWriteRefuses: one file of another program, and no file is written.
func TestWriteRefuses(t *testing.T) {
	p := lab(t)
	must(t, os.Mkdir("registration", 0o700))
	must(t, os.WriteFile("registration/lab.hosts", []byte("10.0.0.1 mine\n"), 0o600))
	var refused *files.RefusedError
	if _, err := read(t, p, "10.0.0.1").Write(t.Context(), nil); !errors.As(err, &refused) || !strings.Contains(err.Error(), "registration/lab.hosts") {
		t.Errorf("error %v", err)
	}
	entries, err := os.ReadDir("registration")
	if err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestReadNothing: without stacks nothing is read, so it cannot fail.
func TestReadNothing(t *testing.T) {
	p := lab(t)
	if wanted := register.Wanted(p); len(wanted) != 0 {
		t.Errorf("wanted: %v", wanted)
	}
	o, err := register.Read(t.Context(), register.Request{Project: p, Live: true, Sources: check.Sources{Inventory: "none"}})
	must(t, err)
	if changes, err := o.Write(t.Context(), nil); err != nil || len(changes) != 0 {
		t.Errorf("%v, %v", changes, err)
	}
}

// TestRemove removes what stackgen wrote, and nothing that somebody else did.
func TestRemove(t *testing.T) {
	p := lab(t)
	o := read(t, p, "10.0.0.1")
	if _, err := o.Write(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	must(t, os.WriteFile("registration/lab.hosts", []byte("mine\n"), 0o600))
	must(t, os.WriteFile("registration/notes.txt", []byte("mine\n"), 0o600))
	removed, kept, err := register.Remove(t.Context(), p, p.SelectedStacks()[0], nil)
	must(t, err)
	if len(removed) != len(o.Files)-1 || len(kept) != 1 || kept[0] != "registration/lab.hosts" {
		t.Errorf("removed %d files, kept %v", len(removed), kept)
	}
	left, err := os.ReadDir("registration")
	if must(t, err); len(left) != 2 {
		t.Errorf("left: %v", left)
	}
	if removed, _, err := register.Remove(t.Context(), p, p.SelectedStacks()[0], nil); err != nil || len(removed) != 0 {
		t.Errorf("again: %v %v", removed, err)
	}
}
