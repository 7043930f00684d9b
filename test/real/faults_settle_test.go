//go:build unix

package real

import (
	"os"
	"path/filepath"
)

// settleFaults are VMs whose import is done, and what only the provider knows is not
// set yet, or would be unset.
func settleFaults() []fault {
	permitted := both(applyEdit("agent: {timeout: 40s}"), applyEdit("restart: true"))
	return []fault{
		{name: "state lost and imported, and the import file is left over", event: both(loseAndImport, applySpec), apply: succeed(nothingToDo), imports: succeed("0 added, 3 changed, 0 destroyed")},
		fault{name: "import file left over after the VMs settled", event: leaveImportFile}.fixedByImport("managed a b c", "its import block is left over", nothingToDo),
		fault{byPlan: true, name: "state lost and imported, and memory changed in the spec before the VMs settle", event: both(loseAndImport, applySpec, editVM("memory: 2064")), harm: "restarts 300"}.fixedByImport("would-harm a", "would restart it", "0 added, 3 changed, 0 destroyed"),
		{name: "state lost and imported, and memory changed before the VMs settle in a spec that permits a restart", event: both(permitted, loseAndImport, applySpec, editVM("memory: 2064")), restarts: []int{300}, apply: succeed("0 added, 1 changed, 0 destroyed"), imports: succeed("0 added, 3 changed, 0 destroyed")},
		fault{name: "state lost and imported, and settling alone would restart a VM whose spec permits a restart", event: both(permitted, loseAndImport, applySpec, removeImports), harm: "restarts 300"}.refusedByPlan("although no change of the VM needs that"),
		fault{name: "state lost and imported, a disk grows, and to settle would restart the VM, whose spec permits that", event: both(permitted, loseAndImport, applySpec, removeImports, editVM(disksOf(9))), harm: "restarts 300"}.refusedByPlan("although no change of the VM needs that"),
		fault{name: "agent.timeout of a running VM changed in the spec, which permits a restart", event: editVM("restart: true, agent: {timeout: 40s}"), restarts: []int{300}}.succeedsInBoth("0 added, 1 changed, 0 destroyed"),
	}
}

// removeImports removes the import files as import-blocks does after an import.
func removeImports(w *faultCase) { w.remove("stacks/live/imports") }

// leaveImportFile leaves an import file of VMs that are in state and complete, as another
// checkout has it.
func leaveImportFile(w *faultCase) {
	state, kept := filepath.Join(w.dir, ".state"), filepath.Join(w.dir, ".state-kept")
	check(w.T, os.Rename(state, kept))
	w.must(w.stackgen("import-blocks"))
	check(w.T, os.RemoveAll(state))
	check(w.T, os.Rename(kept, state))
}
