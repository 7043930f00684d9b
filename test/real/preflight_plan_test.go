//go:build unix

package real

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPreflightPlans: a plan says what an apply changes, and preflight changes nothing for that.
// Without a plan, the first line says so, and one that fails is unknown.
func TestPreflightPlans(t *testing.T) {
	t.Parallel()
	const spec = "apiVersion: stackgen/v1\nkind: Stack\nname: live\nvmids: 300-399\ndefaults: {node: pve1, template: 9002, agent: false}\nvms:\n  a: {}\n"
	p := newProject(t, map[string]string{"specs/live.yaml": spec})
	sim := p.simulate()
	p.render()
	p.deployed(0, "preflight", "safe to apply (1 create)")
	p.deployed(0, "apply --yes")
	p.write("specs/live.yaml", strings.Replace(spec, "a: {}", "a: {memory: 3072}", 1))
	p.render()
	state := p.read(".state/live/proxmox-vm/tofu.tfstate")
	sim.ResetLog()
	p.deployed(0, "preflight", "safe to apply; the plan will change 1 VM, listed below (1 managed)\n", "an apply changes memory (after a restart)", "memory: 2048 -> 3072")
	p.deployed(0, "preflight --no-plan", "safe to apply (1 managed); what an apply changes was not looked at\n")
	if n := sim.Counters().Writes; n != 0 || p.read(".state/live/proxmox-vm/tofu.tfstate") != state {
		t.Errorf("preflight has sent %d writes, or has changed the state", n)
	}

	// With a lost state, the plan of the import is the plan; without import files there is none.
	p.remove(".state")
	if out := p.deployed(2, "preflight", "1 adopt"); strings.Contains(out, "memory") {
		t.Errorf("without import files, preflight names a change\n%s", out)
	}
	p.deployed(0, "import-blocks")
	p.deployed(3, "preflight", "after its import, an apply would restart it", "memory is 2048 MiB in Proxmox VE and 3072 MiB in the spec")
	callAPI(t, sim, "POST", "/nodes/pve1/qemu/300/status/stop", nil)
	p.deployed(0, "preflight", "the first plan after the import would change it", "memory is 2048 MiB in Proxmox VE and 3072 MiB in the spec")

	tofu, err := p.tools.Path("tofu")
	check(t, err)
	bin := t.TempDir()
	check(t, os.WriteFile(filepath.Join(bin, "tofu"), []byte("#!/bin/sh\n[ \"$1\" = plan ] && echo 'Error: no plan today' >&2 && exit 1\nexec "+tofu+" \"$@\"\n"), 0o755))
	p.tools = p.tools.With("TG_TF_PATH=" + filepath.Join(bin, "tofu"))
	p.deployed(1, "preflight", "unknown: 1 finding could not be checked", "live/proxmox-vm", "it could not be planned", "no plan today")
}
