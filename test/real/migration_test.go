//go:build unix

package real

import (
	"slices"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// TestPlanAfterHandMigration checks that the plan after a migration by hand is empty, also
// with -detailed-exitcode and without an apply between them: no output has the node where
// a VM is.
func TestPlanAfterHandMigration(t *testing.T) {
	t.Parallel()
	w := (&faultWorld{build: faultStack, tools: findFaultTools(t)}).copy(t, t)
	migrate(w)
	w.checkEmptyPlan()
	if r := w.stackgen("preflight"); r.code != 0 || !strings.Contains(r.output, "1 moved") {
		t.Errorf("preflight: exit %d\n%s", r.code, r.output)
	}
}

// TestPlacedVMAfterImport checks that VMs whose profile manages the node are imported
// without a change, and that a changed node migrates them also before the attribute that
// makes the provider do so is in state. While the import file has them, it would replace
// them, which preflight and the guard refuse.
func TestPlacedVMAfterImport(t *testing.T) {
	t.Parallel()
	world := &faultWorld{build: placedStack, tools: findFaultTools(t)}
	w := world.copy(t, t)
	w.before = stateOf(w.sim)
	loseState(w)
	w.must(w.stackgen("import-blocks"))
	if r := w.apply(); r.code != 0 || !strings.Contains(r.output, "3 imported, 0 added, 0 changed, 0 destroyed") {
		t.Fatalf("the import: exit %d\n%s", r.code, r.output)
	}
	placed("a", "pve2")(w)
	for _, level := range []string{"fast", "full"} {
		w.level(level)
		writes := w.sim.Counters().Writes
		r := w.apply()
		if r.code == 0 || !strings.Contains(r.output, "an apply would replace it") || w.sim.Counters().Writes > writes {
			t.Errorf("guard: %s permits an apply while the import file has the VM: exit %d\n%s", level, r.code, r.output)
		}
	}
	w.must(w.stackgen("import-blocks"))
	if r := w.stackgen("preflight"); r.code != 0 || !strings.Contains(r.output, "1 migrate") || !strings.Contains(r.output, "2 settling") {
		t.Errorf("preflight: exit %d\n%s", r.code, r.output)
	}
	if r := w.apply(); r.code != 0 || !strings.Contains(r.output, "0 added, 3 changed, 0 destroyed") {
		t.Errorf("the migration: exit %d\n%s", r.code, r.output)
	}
	w.checkEmptyPlan()
	w.must(w.stackgen("preflight"))
	w.checkInvariants(&fault{moved: moves{300: "pve2"}}, nil)
}

// TestFailedMigration checks that the next apply does not move a VM that an apply could
// not migrate, because it looks like one that somebody migrated back, and that the printed
// command ends with an empty plan.
func TestFailedMigration(t *testing.T) {
	t.Parallel()
	w := (&faultWorld{build: placedStack, tools: findFaultTools(t)}).copy(t, t)
	w.before = stateOf(w.sim)
	placed("a", "pve2")(w)
	check(t, w.sim.AddFault(&pvesim.Fault{Method: "POST", Path: "/nodes/*/qemu/300/migrate", Do: pvesim.DoError, Status: 500, Message: "out of memory"}))
	if r := w.apply(); r.code == 0 {
		t.Fatalf("the apply succeeds\n%s", r.output)
	}
	w.sim.ClearFaults()
	const line = "      pvesh create /nodes/pve1/qemu/300/migrate --target pve2 --with-local-disks 1 --online 1\n"
	if r := w.stackgen("preflight"); r.code != 3 || !strings.Contains(r.output, "or an apply could not migrate it") || !strings.Contains(r.output, line) {
		t.Errorf("preflight: exit %d\n%s", r.code, r.output)
	}
	w.post("POST", "/nodes/pve1/qemu/300/migrate", "target", "pve2", "with-local-disks", "1", "online", "1")
	w.waitUntil("the migration has ended", func() bool { return w.guests()[300].node == "pve2" })
	w.checkEmptyPlan()
	w.must(w.apply())
	w.checkInvariants(&fault{moved: moves{300: "pve2"}}, nil)
	if log := w.writesTo(300); !slices.Contains(log, "POST /api2/json/nodes/pve1/qemu/300/migrate") {
		t.Errorf("the log has no migration: %v", log)
	}
}
