package deploy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stackgen/internal/files"
)

// TestHold: a second hold of a stack names the first one, and one that was left by a
// killed process counts until its run of Terragrunt has ended.
func TestHold(t *testing.T) {
	dir := t.TempDir()
	me := holder{Process: int32(os.Getpid()), Started: startOf(int32(os.Getpid())), Host: "here", Since: time.Now(), Command: "stackgen apply", Work: []string{"one"}}
	first, err := takeHold(dir, "live", dir, me)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := takeHold(dir, "live", dir, me); err == nil || !strings.Contains(err.Error(), "`stackgen apply`, process ") || !strings.Contains(err.Error(), " on here, since ") {
		t.Errorf("a second hold: %v", err)
	}
	if err := first.runs(os.Getpid()); err != nil {
		t.Fatal(err)
	}
	if err := first.unlock(); err != nil { // as a killed process
		t.Fatal(err)
	}
	me.Work = []string{"two"}
	second, err := takeHold(dir, "live", dir, me)
	if err != nil {
		t.Fatal(err)
	}
	if !second.before.left() || second.Tool != int32(os.Getpid()) || strings.Join(second.Work, " ") != "two one" {
		t.Errorf("what was left is %+v, and the hold %+v", second.before, second.holder)
	}
	if err := second.release(); err != nil {
		t.Fatal(err)
	}
	third, err := takeHold(dir, "live", dir, me)
	if err != nil {
		t.Fatal(err)
	}
	if !third.before.left() || strings.Join(third.before.Work, " ") != "one" {
		t.Errorf("what a killed process has left is forgotten: %+v", third.before)
	}
	third.before, third.Tool = nil, 0 // as if it had ended
	if err := third.release(); err != nil {
		t.Error(err)
	}
	if left := readHolder(third.file); left != nil {
		t.Errorf("a hold that was released is left: %+v", left)
	}
	if alive(int32(os.Getpid()), startOf(int32(os.Getpid()))+10_000) {
		t.Error("a process that started at another time is the same")
	}
}

func TestRefusal(t *testing.T) {
	const log = `12:00:00.000 INFO   [x] Executing hook: stackgen
stackgen guard refuses the apply of live/proxmox-vm: fix 1 finding
blocked gone  live/a: VM 300  in state, and not in the cluster any more
    evidence
  > a step
      a command
failed  unknown  live/b: its configuration could not be read
outdated  adopt  live/c: its import block is missing
note: the cluster was read at https://pve
12:00:01.000 ERROR  Run failed
  not a part
`
	if got := refusal(log); !strings.HasPrefix(got, "stackgen guard refuses") || !strings.HasSuffix(got, "https://pve\n") || strings.Count(got, "\n") != 8 || strings.Contains(got, "ERROR") {
		t.Errorf("got\n%s", got)
	}
	if got := refusal("stackgen guard: the apply of live/proxmox-vm may go on: 1 create\n"); got != "" {
		t.Errorf("a run that goes on is refused: %q", got)
	}
}

func TestProblems(t *testing.T) {
	const log = `12:00:00.000 STDOUT [vm] tofu: Creating...
12:00:00.001 STDERR [vm] tofu: Error: no route
12:00:00.001 STDERR [vm] tofu:   on main.tf line 3
12:00:00.002 ERROR  Run failed: exit status 1
`
	if got := problems(log); got != "Error: no route\n  on main.tf line 3" {
		t.Errorf("got %q", got)
	}
	if got := problems("a\nb\n"); got != "a\nb" {
		t.Errorf("without an error of OpenTofu: %q", got)
	}
}

// TestReverse undoes changes of files.
func TestReverse(t *testing.T) {
	root := t.TempDir()
	body := func(name string) string { b, _ := os.ReadFile(filepath.Join(root, name)); return string(b) } // empty without one
	for _, name := range []string{"changed", "removed"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	changes := []files.Change{{Path: "new/created", Kind: files.Created, New: []byte("new")}, {Path: "changed", Kind: files.Changed, Old: []byte("old"), New: []byte("new")},
		{Path: "removed", Kind: files.Removed, Old: []byte("old")}}
	if err := files.Apply(root, changes); err != nil {
		t.Fatal(err)
	}
	if body("new/created") != "new" || body("removed") != "" {
		t.Fatal("the changes were not made")
	}
	if err := files.Apply(root, reverse(changes)); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(root)
	if err != nil || len(entries) != 2 || body("changed") != "old" || body("removed") != "old" {
		t.Errorf("left: %v %v", entries, err)
	}
}
