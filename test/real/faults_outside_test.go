//go:build unix

package real

import (
	"encoding/json"
	"os"
	"path/filepath"

	grants "stackgen/internal/check"
	"stackgen/internal/guard"
	"stackgen/internal/tf"
)

// outsideFaults are variables and files that change what an apply does.
func outsideFaults() []fault {
	later := func(f fault, verdicts, contains string) fault {
		f = f.refusedInBoth(verdicts, contains)
		f.imports.afterImport = true // nothing is to import
		return f
	}
	refused := func(f fault, contains string) fault { return later(f, "misled proxmox-pool", contains) }
	return []fault{
		refused(fault{pool: true, name: "TF_CLI_ARGS_init names the state of another unit", event: otherBackend, harm: "destroys 300; destroys 301; destroys 302"}, "names another backend than the unit's"),
		refused(fault{pool: true, name: "TF_CLI_ARGS_apply names a file of variables without VM a", event: otherVariables, harm: "destroys 300"}, "sets variables of the unit"),
		later(fault{name: "apply with -replace, by hand", byCommand: true, event: func(*faultCase) {}, command: applyReplacing, harm: "replaces 300; destroys 300", byPlan: true}, "would-destroy a", "replace"),
		later(fault{name: "apply with -replace, and a grant from the environment", byCommand: true, event: grantByEnvironment, command: applyReplacing, harm: "replaces 300; destroys 300"}, "would-destroy proxmox-vm", "the environment alone permits nothing"),
		fault{name: "an override was added to the module of VMs", event: addOverride, harm: "destroys 300; destroys 301"}.refusedInBoth("misled live", "a file that stackgen did not write"),
	}
}

// addOverride adds a file to a rendered module with which all VMs are destroyed.
func addOverride(w *faultCase) { w.write("modules/proxmox-vm/x_override.tf", noVMs) }

// otherBackend makes every init use the state of the VM unit.
func otherBackend(w *faultCase) {
	w.tools = w.tools.With("TF_CLI_ARGS_init=-backend-config=path=" + filepath.Join(w.dir, ".state/live/proxmox-vm/tofu.tfstate"))
}

// otherVariables makes every apply read a file of variables in which a VM is missing.
func otherVariables(w *faultCase) {
	w.must(w.run("stacks/live", nil, "terragrunt", "stack", "run", "plan", "--non-interactive"))
	found, err := filepath.Glob(filepath.Join(w.dir, "stacks/live/.terragrunt-stack/proxmox-vm/.terragrunt-cache/*/*/proxmox-vm/vms.auto.tfvars.json"))
	check(w.T, err)
	if len(found) != 1 {
		w.Fatalf("%v, want one file", found)
	}
	body, err := os.ReadFile(found[0])
	check(w.T, err)
	var variables map[string]map[string]any
	check(w.T, json.Unmarshal(body, &variables))
	delete(variables["vms"], "a")
	body, err = json.Marshal(variables)
	check(w.T, err)
	w.write("less.tfvars.json", string(body))
	w.tools = w.tools.With("TF_CLI_ARGS_apply=-var-file=" + filepath.Join(w.dir, "less.tfvars.json"))
}

// applyReplacing applies the unit of the VMs with a replacement of a.
func applyReplacing(w *faultCase) commandResult {
	return w.run("stacks/live", nil, "terragrunt", "stack", "run", "apply", "--non-interactive", "--filter", "./.terragrunt-stack/proxmox-vm", "--", "-replace="+vmAddress("this", "a"))
}

// grantByEnvironment writes a grant of the replacement, and names it in the environment.
func grantByEnvironment(w *faultCase) {
	variable, err := grants.WriteGrant(w.TempDir(), &guard.Grant{Unit: tf.VMUnit("live"), Kind: guard.GrantReplace, Parts: []guard.Granted{{Address: vmAddress("this", "a"), Key: "a", VMID: 300, Template: 9000}}})
	check(w.T, err)
	w.tools = w.tools.With(variable)
}
