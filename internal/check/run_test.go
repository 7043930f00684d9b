package check

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// TestSharedRun: the units of one run share what the first of them read. Another
// run, and a file that is not whole, are read again.
func TestSharedRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), runFile)
	inv, err := cluster.Inventory{Version: 1, Endpoint: "https://pve:8006", Quorate: true}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	unit := tf.Unit{Stack: "lab", Unit: "proxmox-vm"}
	first := &sharedRun{Process: 7, Started: 1000, Inventory: inv, Units: []runUnit{{unit, tf.State{Unreadable: "no access"}}}, file: file}
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

// TestJudgedAgain: a unit that Terragrunt runs again after an error is known, and one of another run, or with another command, is not.
func TestJudgedAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), judgedFile)
	run, other := &sharedRun{Process: 7, Started: 1000}, &sharedRun{Process: 8, Started: 1000}
	for i, c := range []struct {
		run  *sharedRun
		unit string
		want bool
	}{
		{run, "apply lab/proxmox-vm", false}, {run, "apply lab/dns-a", false}, {run, "destroy lab/dns-a", false},
		{run, "apply lab/proxmox-vm", true}, {run, "apply lab/dns-a", true},
		{other, "apply lab/proxmox-vm", false}, {other, "apply lab/proxmox-vm", true},
	} {
		if again, err := c.run.again(file, c.unit); err != nil || again != c.want {
			t.Errorf("%d, %s: %v, %v", i, c.unit, again, err)
		}
	}
}

// TestNoSharedRun: a unit that shares nothing is never refused for another one.
func TestNoSharedRun(t *testing.T) {
	var none *sharedRun
	if err := none.refuse("apply", tf.Unit{}); err != nil || none.refusedBy("apply") != "" {
		t.Errorf("%v, %q", err, none.refusedBy("apply"))
	}
}

// TestRootModule: the workspace and the backend that init recorded are those of the
// run, wherever TF_DATA_DIR is.
func TestRootModule(t *testing.T) {
	t.Chdir(t.TempDir())
	l := &lock.Lock{Stacks: lock.Ordered[lock.Stack]{{Key: "lab", Value: lock.Stack{StateKey: "lab", Backend: lock.Backend{Type: "local"}}}}}
	h := &Hook{Session: New(&project.Project{Root: ".", Lock: l}, Sources{}), Unit: tf.VMUnit("lab")}
	if err := h.readRootModule(); err != nil || h.command.Workspace != "" || h.command.Backend != "" {
		t.Errorf("without a file: %v, %+v", err, h.command)
	}
	t.Setenv("TG_CTX_HOOK_NAME", "stackgen")
	if err := h.readRootModule(); err == nil {
		t.Error("a hook in a folder without a backend is no error")
	}
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	check(os.Mkdir("data", 0o700))
	check(os.WriteFile("data/environment", []byte("dev\n"), 0o600))
	check(os.WriteFile("data/terraform.tfstate", []byte(`{"backend": {"type": "local", "config": {"path": "/other"}}}`), 0o600))
	t.Setenv("TF_DATA_DIR", "data")
	if err := h.readRootModule(); err != nil || h.command.Workspace != "dev" || !strings.HasPrefix(h.command.Backend, `its path is "/other"`) {
		t.Errorf("%v, %+v", err, h.command)
	}
}

// TestLeftUnit: Terragrunt runs a unit that an earlier render had. The hook refuses it
// before it reads anything, and says what removes it.
func TestLeftUnit(t *testing.T) {
	t.Chdir(t.TempDir())
	p := &project.Project{Root: ".", Selected: func(string) bool { return true }, Lock: &lock.Lock{Stacks: lock.Ordered[lock.Stack]{{Key: "lab"}}}, Stacks: &schema.Project{Stacks: []*schema.Stack{{Name: "lab"}}}}
	if _, err := NewHook(p, "lab/dns-old", []string{"apply"}, nil, Sources{}); err == nil {
		t.Error("a unit that a person typed is no error")
	}
	t.Setenv("TG_CTX_HOOK_NAME", "stackgen")
	if _, err := NewHook(p, "other/dns-old", []string{"apply"}, nil, Sources{}); err == nil {
		t.Error("a stack that is not in the project is no error")
	}
	for _, command := range []string{"apply", "destroy"} {
		h, err := NewHook(p, "lab/dns-old", []string{command}, nil, Sources{})
		if err != nil {
			t.Fatal(err)
		}
		a, err := h.Check(t.Context())
		if err != nil || len(a.Findings) != 1 || finding.Exit(a.Findings) == finding.OK || a.Findings[0].Steps[0].Lines[0].Text != "stackgen render" {
			t.Errorf("%s: %v, %+v", command, err, a)
		}
	}
}

// TestRecordsLeftKeepsStates: the states of retired units are read again in the middle of a
// run. Plans are judged by the former ones, as DNS was read before the run too.
func TestRecordsLeftKeepsStates(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("empty", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dns, vms := tf.Unit{Stack: "lab", Unit: "dns-old"}, tf.VMUnit("lab")
	l := lock.Stack{
		Units: lock.Ordered[lock.Unit]{{Key: dns.Unit, Value: lock.Unit{Status: lock.Retired}}, {Key: vms.Unit}},
		VMs:   lock.Ordered[lock.VM]{{Key: "old", Value: lock.VM{VMID: 100, Unit: dns.Unit, Status: lock.Retired}}},
	}
	p := &project.Project{Root: ".", Selected: func(string) bool { return true }, Lock: &lock.Lock{Stacks: lock.Ordered[lock.Stack]{{Key: "lab", Value: l}}},
		Stacks: &schema.Project{Stacks: []*schema.Stack{{Name: "lab"}}}}
	h := &Hook{Session: New(p, Sources{States: []string{"lab/dns-old=empty", "lab/proxmox-vm=empty"}}), Unit: vms}
	h.State[dns] = tf.State{Resources: []tf.Resource{{Type: guest.RecordResource, Key: "www", ID: "www.lab.test."}}}
	h.State[vms] = tf.State{Resources: []tf.Resource{{Type: guest.VMResource, Key: "old", VMID: 100}}}
	in := h.input()
	if left, err := h.recordsLeft(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("%v, %+v", err, left)
	}
	if len(in.State[dns].Resources) != 1 || len(h.State[dns].Resources) != 1 {
		t.Errorf("the record is in no state any more: %+v, %+v", in.State, h.State)
	}
}

// TestWholeRun: a run of some units of a stack leaves others behind.
func TestWholeRun(t *testing.T) {
	for line, want := range map[string]bool{
		"terragrunt stack run apply":                                                   true,
		"terragrunt stack run apply --non-interactive --out-dir x":                     true,
		"terragrunt run --all apply":                                                   true,
		"terragrunt stack run apply -- --filter x":                                     true,
		"terragrunt apply -auto-approve":                                               false,
		"terragrunt run apply":                                                         false,
		"terragrunt stack run apply --queue-include-dir .terragrunt-stack/proxmox-vm":  false,
		"terragrunt stack run apply --queue-exclude-dir=.terragrunt-stack/dns":         false,
		"terragrunt run --all apply --filter ./x":                                      false,
		"TG_FILTER=x terragrunt stack run apply":                                       false,
		"TG_QUEUE_INCLUDE_DIR=x terragrunt stack run apply":                            false,
		"TG_QUEUE_IGNORE_ERRORS=true terragrunt stack run apply --queue-ignore-errors": true,
	} {
		words := strings.Fields(line)
		i := slices.Index(words, "terragrunt")
		if got := wholeRun(words[i:], words[:i]); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}
