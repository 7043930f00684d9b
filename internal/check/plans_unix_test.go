//go:build unix

package check

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"stackgen/internal/drift"
	"stackgen/internal/engine"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/internal/tf"
)

// TestPlanThatDoesNotEnd: each unit has its own time, and one that does not end in it holds up
// no other one.
func TestPlanThatDoesNotEnd(t *testing.T) {
	dir := t.TempDir()
	write := func(path, body string, mode os.FileMode) {
		t.Helper()
		file := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(body), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("stacks/lab/terragrunt.stack.hcl", "", 0o644)
	write(".tools/bin/terragrunt", `#!/bin/sh
case "$*:$PWD" in
"stack generate:"*) mkdir -p .terragrunt-stack/proxmox-vm .terragrunt-stack/proxmox-pool ;;
*/proxmox-pool) mkdir -p "$4" && printf '{"format_version": "1.2", "planned_values": {}}' >"$4/tfplan.json" ;;
*) exec sleep 60 ;;
esac
`, 0o755)
	tools, err := engine.Find(dir, os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	s := New(&project.Project{Root: dir, Lock: &lock.Lock{}}, Sources{})
	s.planTime = 500 * time.Millisecond
	began := time.Now()
	made := s.planUnits(t.Context(), tools, []tf.Unit{tf.VMUnit("lab"), {Stack: "lab", Unit: lock.UnitPool}, tf.VMUnit("none")}, t.TempDir())
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
	for i, want := range []string{"its plan has not ended within 500ms", "", "the stack is not rendered: run `stackgen render`"} {
		if got := made[i].err; want == "" && (got != nil || made[i].plan == nil) || want != "" && (got == nil || got.Error() != want) {
			t.Errorf("unit %d: %v, want %q", i, got, want)
		}
	}
}

// TestChangingUnits: what an apply changes is asked of a plan only where something exists and
// nothing is in the way.
func TestChangingUnits(t *testing.T) {
	vm, pool, records := tf.VMUnit("lab"), tf.Unit{Stack: "lab", Unit: lock.UnitPool}, tf.Unit{Stack: "lab", Unit: "dns-web01"}
	something := tf.State{Resources: []tf.Resource{{Key: "web01"}}}
	of := func(f finding.Finding, severity finding.Severity) finding.Finding {
		f.Stack, f.Severity = "lab", severity
		return f
	}
	about := func(u tf.Unit) finding.Finding {
		return finding.Finding{Address: finding.Address{Unit: u.Unit, Type: finding.VM}}
	}
	for name, c := range map[string]struct {
		result        Result
		want, blocked []tf.Unit
	}{
		"nothing in the way":      {want: []tf.Unit{vm, pool}},
		"a VM is blocked":         {result: Result{Input: found(of(about(vm), finding.Blocked))}, want: []tf.Unit{pool}, blocked: []tf.Unit{vm}},
		"an import is missing":    {result: Result{Input: found(of(about(vm), finding.Outdated))}, want: []tf.Unit{pool}, blocked: []tf.Unit{vm}},
		"a warning":               {result: Result{Input: found(of(about(vm), finding.OK))}, want: []tf.Unit{vm, pool}},
		"a record is blocked":     {result: Result{Input: found(of(about(records), finding.Blocked))}, want: []tf.Unit{vm, pool}},
		"the stack is blocked":    {result: Result{Input: found(of(finding.Finding{Address: finding.Address{Type: finding.Stack}}, finding.Blocked))}, blocked: []tf.Unit{vm, pool}},
		"the stack is unrendered": {result: Result{Unrendered: []finding.Finding{of(finding.Finding{Address: finding.Address{Type: finding.Stack}}, finding.Outdated)}}, blocked: []tf.Unit{vm, pool}},
		"in use":                  {result: Result{InUse: true}, blocked: []tf.Unit{vm, pool}},
	} {
		c.result.Units = []tf.Unit{vm, pool, records}
		c.result.State = tf.States{vm: something, pool: something, records: something}
		if got, blocked := c.result.changing(); !slices.Equal(got, c.want) || !slices.Equal(blocked, c.blocked) {
			t.Errorf("%s: %v, blocked %v, want %v and %v", name, got, blocked, c.want, c.blocked)
		}
	}
	nothing := Result{}
	nothing.Units = []tf.Unit{vm, pool}
	if got, blocked := nothing.changing(); len(got)+len(blocked) > 0 {
		t.Errorf("without a state: %v, blocked %v", got, blocked)
	}
	lost := nothing
	lost.Found = []finding.Finding{of(finding.Finding{Address: finding.Address{Unit: vm.Unit, Type: finding.VM}, Kind: finding.Adopt}, finding.Outdated)}
	if got, blocked := lost.changing(); len(got) > 0 || !slices.Equal(blocked, []tf.Unit{vm}) {
		t.Errorf("with a lost state: %v, blocked %v", got, blocked)
	}
	nothing.Imports = map[tf.Unit]guard.Imports{vm: {`proxmox_virtual_environment_vm.this["web01"]`: "pve1/100"}}
	if got, _ := nothing.changing(); !slices.Equal(got, []tf.Unit{vm}) {
		t.Errorf("with an import file: %v", got)
	}
}

func found(f finding.Finding) drift.Input { return drift.Input{Found: []finding.Finding{f}} }
