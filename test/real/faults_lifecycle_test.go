//go:build unix

package real

import (
	"os"
	"path/filepath"
	"strings"

	"stackgen/internal/pvesim"
)

// lifecycleFaults are keys and stacks that are renamed, forgotten or merged, and lines of
// it that are changed before the apply.
func lifecycleFaults() []fault {
	const forgotten = "forgotten, and still in state"
	removeFromState := recovery{"state rm", nothingToDo, nil}
	return []fault{
		fault{name: "renamed a second time before the apply", event: specs(renamed("c", "z"), renamed("z", "y"))}.succeedsInBoth("1 changed, 0 destroyed"),
		fault{name: "line of a rename changed before the apply", event: specs(renamed("c", "z"), renamed("c", "y"))}.succeedsInBoth("1 changed, 0 destroyed"),
		fault{name: "renamed, and back before the apply", event: specs(renamed("c", "z"), renamed("z", "c"))}.succeedsInBoth(nothingToDo),
		fault{name: "line of a rename removed before the apply", event: specs(renamed("c", "z"), lastKey("z"))}.succeedsInBoth("1 changed, 0 destroyed"),
		fault{name: "new VM has the old key of a rename that was not applied", event: reuseKey, acts: map[string]func(*faultCase){
			"remove this VM from specs/live.yaml": func(w *faultCase) { w.spec(lastKey("z"), false) },
			"give this VM another key":            func(w *faultCase) { w.spec(lastKey("z")+"  d: {node: pve1}\n", true) },
		}}.refusedInBoth("other-vm c", "the state may still have that VM under it"),
		fault{name: "renamed, and forgotten before the apply", event: specs(renamed("c", "z"), faultSpec+"forgotten: [z]\n"), recovery: removeFromState}.refusedInBoth("would-destroy z", forgotten),
		fault{name: "retired VM of which another guest has a disk", event: both(applyEdit(disksOf(8, 5)), lendDisk, retireFirst), harm: "destroys 300; deletes scsi1 of 123", words: map[string]string{"STORAGE": "local-lvm"}}.refusedInBoth("would-destroy a", "delete a volume that another guest has"),
		fault{name: "line of a forgotten VM removed while the state has it", event: specs(faultSpec+"forgotten: [c]\n", faultSpec), recovery: removeFromState}.refusedInBoth("would-destroy c", forgotten),
		fault{name: "two merged branches took one VMID", event: mergeBranches, noHarmRun: "only the lock has the VMID twice"}.refusedInBoth("conflict c d", "its VMID is also another VM's in the lock"),
		fault{name: "stack renamed in its spec", event: renameStack, command: applyRenamed, acts: map[string]func(*faultCase){
			"destroy its guests": func(w *faultCase) { w.remove("specs/live.yaml") },
			"stop managing its guests": func(w *faultCase) {
				w.spec("apiVersion: stackgen/v1\nkind: Stack\nname: front\nvms: {}\n", false)
			},
		}}.refusedInBoth("removed live", "the stack is in the lock, and its spec is gone"),
	}
}

// lastKey is the spec with another key of its last VM.
func lastKey(key string) string { return faultSpec + strings.Replace(faultLast, "c:", key+":", 1) }

// renamed is the spec with a renamed last VM.
func renamed(from, to string) string { return lastKey(to) + "renamed: {" + from + ": " + to + "}\n" }

// specs renders one spec after the other, without an apply between them.
func specs(all ...string) func(*faultCase) {
	return func(w *faultCase) {
		for _, spec := range all {
			w.spec(spec, true)
		}
	}
}

// lendDisk gives a disk of VM a to a guest that is not the stack's, as somebody did who had the
// privileges for it.
func lendDisk(w *faultCase) {
	var disk string
	w.change(300, func(g *pvesim.Guest) {
		disk = g.Config["scsi1"]
		delete(g.Config, "scsi1")
	})
	w.change(123, func(g *pvesim.Guest) { g.Config["scsi1"] = disk })
}

// retireFirst retires VM a.
func retireFirst(w *faultCase) {
	before, rest, _ := strings.Cut(faultSpec, "  a: {")
	_, after, _ := strings.Cut(rest, "\n")
	w.spec(before+after+faultLast+"retired: [a]\n", true)
}

// reuseKey renames a VM, and gives its key to a new one.
func reuseKey(w *faultCase) {
	w.spec(renamed("c", "z"), true)
	w.spec(lastKey("z")+"  c: {node: pve1}\n", false)
}

// mergeBranches adds a VM, whose entry in the lock a merge left with the VMID of another
// one.
func mergeBranches(w *faultCase) {
	addVM(w)
	file := filepath.Join(w.dir, "stackgen.lock.yaml")
	body, err := os.ReadFile(file)
	check(w.T, err)
	merged := strings.Replace(string(body), "vmid: 303", "vmid: 302", 1)
	if merged == string(body) {
		w.Fatalf("the lock has no VMID 303:\n%s", body)
	}
	check(w.T, os.WriteFile(file, []byte(merged), 0o666))
}

// renameStack changes the name of the stack in its spec.
func renameStack(w *faultCase) {
	w.spec(strings.Replace(faultSpec+faultLast, "name: live", "name: front", 1), false)
}

// applyRenamed applies the stack under the name that it has now, if it has one.
func applyRenamed(w *faultCase) commandResult {
	w.Helper()
	for _, name := range []string{"front", "live"} {
		if _, err := os.Stat(filepath.Join(w.dir, "stacks", name, "terragrunt.stack.hcl")); err == nil {
			return w.run("stacks/"+name, nil, "terragrunt", "stack", "run", "apply", "--non-interactive")
		}
	}
	return w.stackgen("preflight")
}
