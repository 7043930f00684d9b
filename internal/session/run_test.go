package session

import (
	"os"
	"path/filepath"
	"testing"

	"stackgen/internal/cluster"
	"stackgen/internal/guard"
	"stackgen/internal/project"
)

// TestSharedRun: the units of one run share what the first of them read. Another
// run, and a file that is not whole, are read again.
func TestSharedRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), runFile)
	inv, err := cluster.Inventory{Version: 1, Endpoint: "https://pve:8006", Quorate: true}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	unit := guard.UnitID{Stack: "lab", Unit: "proxmox-vm"}
	first := &sharedRun{Process: 7, Started: 1000, Inventory: inv, Units: []runUnit{{unit, guard.UnitState{Unreadable: "no access"}}}, file: file}
	if err := first.save(); err != nil {
		t.Fatal(err)
	}
	if err := first.refuse("apply", unit); err != nil {
		t.Fatal(err)
	}
	h := &Hook{Session: New(&project.Project{}, Sources{})}
	for _, other := range []*sharedRun{{Process: 8, Started: 1000, file: file}, {Process: 7, Started: 9000, file: file}, {Process: 7, Started: 1000, file: file + "x"}} {
		if h.load(other) || h.run != nil {
			t.Errorf("%+v: another run's file was used", other)
		}
	}
	if !h.load(&sharedRun{Process: 7, Started: 1500, file: file}) {
		t.Fatal("the run's own file was not used")
	}
	if h.Inventory.Endpoint != "https://pve:8006" || h.State[unit].Unreadable != "no access" {
		t.Errorf("%+v, %+v", h.Inventory, h.State)
	}
	if apply, destroy := h.run.refusedBy("apply"), h.run.refusedBy("destroy"); apply != unit.String() || destroy != "" {
		t.Errorf("refused: apply by %q, destroy by %q", apply, destroy)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.WriteFile(file, []byte(`{"process": 7, "started": 1000, "inventory": {`), 0o600); err != nil {
		t.Fatal(err)
	}
	if h.load(&sharedRun{Process: 7, Started: 1000, file: file}) {
		t.Error("half a file was used")
	}
}

// TestNoSharedRun: a unit that shares nothing is never refused for another one.
func TestNoSharedRun(t *testing.T) {
	var none *sharedRun
	if err := none.refuse("apply", guard.UnitID{}); err != nil || none.refusedBy("apply") != "" {
		t.Errorf("%v, %q", err, none.refusedBy("apply"))
	}
}

func TestSelectedWorkspace(t *testing.T) {
	t.Chdir(t.TempDir())
	if got := selectedWorkspace(); got != "" {
		t.Errorf("without a file: %q", got)
	}
	if err := os.Mkdir("data", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("data/environment", []byte("dev\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TF_DATA_DIR", "data")
	if got := selectedWorkspace(); got != "dev" {
		t.Errorf("got %q, want dev", got)
	}
}
