package check

import (
	"archive/zip"
	"os"
	"path/filepath"
	"testing"

	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/tf"
)

// TestStale: a saved plan is stale if its unit has another state than the one in it.
func TestStale(t *testing.T) {
	t.Parallel()
	unit := tf.Unit{Stack: "lab", Unit: "proxmox-vm"}
	for name, c := range map[string]struct {
		in    string // the state in the plan file; empty for an encrypted file
		now   tf.State
		stale bool
	}{
		"the same":         {`{"version":4,"serial":7,"lineage":"a","resources":[]}`, tf.State{Serial: 7, Lineage: "a"}, false},
		"changed":          {`{"version":4,"serial":7,"lineage":"a"}`, tf.State{Serial: 8, Lineage: "a"}, true},
		"another state":    {`{"version":4,"serial":7,"lineage":"a"}`, tf.State{Serial: 7, Lineage: "b"}, true},
		"removed":          {`{"version":4,"serial":7,"lineage":"a"}`, tf.State{}, true},
		"the first":        {`{"version":4,"serial":0,"lineage":""}`, tf.State{}, false},
		"an empty state":   {`{"version":4,"serial":0,"lineage":""}`, tf.State{Lineage: "new"}, false},
		"applied by other": {`{"version":4,"serial":0,"lineage":""}`, tf.State{Serial: 2, Lineage: "a"}, true},
		"not readable":     {`{"version":4,"serial":7,"lineage":"a"}`, tf.State{Unreadable: "no access"}, false},
		"encrypted":        {"", tf.State{Serial: 8, Lineage: "a"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := planFile(t, c.in)
			h := &Hook{Session: &Session{State: tf.States{unit: c.now}}, Unit: unit, command: guard.Command{Unit: unit, Args: []string{"apply", "-input=false", file}}}
			f := h.stale()
			if (f != nil) != c.stale || f != nil && (f.Severity != finding.Blocked || len(f.Steps) != 1) {
				t.Errorf("%+v", f)
			}
		})
	}
}

// planFile is a plan file with a state.
func planFile(t *testing.T, state string) string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "tfplan"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }() // its writer reports errors
	if state == "" {
		if _, err := file.WriteString(`{"encrypted_data":"x"}`); err != nil {
			t.Fatal(err)
		}
		return file.Name()
	}
	z := zip.NewWriter(file)
	w, err := z.Create("tfstate")
	if err == nil {
		_, err = w.Write([]byte(state))
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return file.Name()
}
