package check

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shirou/gopsutil/v4/process"

	"stackgen/internal/guard"
	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/internal/tf"
)

// TestTakeGrant: a grant counts once, in the folder of the command that lives and that started
// the run.
func TestTakeGrant(t *testing.T) {
	root, work := t.TempDir(), t.TempDir()
	h := &Hook{Session: New(&project.Project{Root: root, Lock: &lock.Lock{}}, Sources{}), Unit: tf.VMUnit("lab")}
	h.command = guard.Command{Unit: h.Unit, Args: []string{"apply", "tfplan"}, Env: os.Getenv}
	record := func(change func(*recordedRun)) {
		t.Helper()
		parent, err := process.NewProcess(int32(os.Getppid()))
		if err != nil {
			t.Fatal(err)
		}
		started, err := parent.CreateTime()
		if err != nil {
			t.Fatal(err)
		}
		r := recordedRun{Process: parent.Pid, Started: started, Work: []string{work}, Tool: parent.Pid, ToolStarted: started}
		change(&r)
		if err := WriteRecord(RecordFile(root, "lab", "apply"), r); err != nil {
			t.Fatal(err)
		}
	}
	grant := func(dir string) {
		t.Helper()
		variable, err := WriteGrant(dir, &guard.Grant{Unit: h.Unit, Kind: guard.GrantDestroy, Plan: "s"})
		if err != nil {
			t.Fatal(err)
		}
		name, file, _ := strings.Cut(variable, "=")
		t.Setenv(name, file)
	}
	take := func() string {
		t.Helper()
		h.grant = nil
		found, err := h.takeGrant()
		switch {
		case err != nil:
			return err.Error()
		case len(found) > 0:
			return string(found[0].Reason.Code)
		case h.grant == nil:
			return "none"
		}
		return string(h.grant.Kind)
	}
	want := func(name, want string) {
		t.Helper()
		if got := take(); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	want("no variable", "none")
	grant(work)
	want("no record of a run", "grant-other-run")
	record(func(*recordedRun) {})
	want("a grant", "destroy")
	want("a second use", "grant-used")
	grant(t.TempDir())
	want("a folder of somebody else", "grant-other-run")
	t.Setenv(guard.GrantVariable, filepath.Join(work, grantDir, "..", "..", "x"))
	want("a path that leads elsewhere", "grant-other-run")
	t.Setenv(guard.GrantVariable, filepath.Join(work, grantDir, "x.json"))
	want("no file", "grant-used")
	grant(work)
	record(func(r *recordedRun) { r.Tool, r.Process = 1<<30, 1<<30 })
	want("a run that another process started", "grant-other-run")
	record(func(r *recordedRun) { r.Tool = 1 << 30 })
	want("a run that is not recorded yet", "destroy")
	grant(work)
	record(func(r *recordedRun) { r.Started -= 60_000 })
	want("a command that ended", "grant-other-run")
	record(func(r *recordedRun) { r.Work = []string{t.TempDir(), work} })
	want("the folder of a killed command", "grant-other-run")
	record(func(*recordedRun) {})
	h.command.Args = []string{"apply"}
	want("no saved plan", "grant-other-plan")
	grant(work)
	h.command.Args, h.Unit = []string{"apply", "tfplan"}, tf.Unit{Stack: "lab", Unit: "dns"}
	want("another unit", "grant-other-unit")
}

// TestFailedBesideOther: a run of Terragrunt that was refused beside an apply changes nothing of what that is about to create.
func TestFailedBesideOther(t *testing.T) {
	root := t.TempDir()
	h := &Hook{Session: New(&project.Project{Root: root, Lock: &lock.Lock{}}, Sources{}), Unit: tf.VMUnit("lab")}
	other, err := process.NewProcess(int32(os.Getpid())) // it lives, and did not start the hook
	if err != nil {
		t.Fatal(err)
	}
	started, err := other.CreateTime()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		started int64
		kept    bool
	}{{started, true}, {started - 60_000, false}} {
		begun := Begun{"a": {VMID: 300}}
		if err := begun.Write(root, "lab"); err != nil {
			t.Fatal(err)
		}
		if err := WriteRecord(RecordFile(root, "lab", "apply"), recordedRun{Process: other.Pid, Started: c.started}); err != nil {
			t.Fatal(err)
		}
		if err := h.Failed(t.Context(), WithoutAnswer); err != nil {
			t.Fatal(err)
		}
		if is, err := ReadBegun(root, "lab"); err != nil || is["a"].Unanswered == c.kept {
			t.Errorf("a run that began at %d: %v (%v)", c.started, is, err)
		}
	}
}
