//go:build unix

package real

import "testing"

// TestGuardExec: what `terragrunt exec` runs is judged as an apply, with the arguments of
// OpenTofu. Commands of OpenTofu without a hook of their own have none here either.
func TestGuardExec(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, oneVM("fast"))
	g.stack(true, "apply", "1 create")
	unit := unitDir("live", "proxmox-vm")
	exec := func(args ...string) []string { return append([]string{"exec", "--in-download-dir", "--"}, args...) }
	g.contains(g.succeeds(unit, "terragrunt", exec("tofu", "apply", "-auto-approve")...), "No changes")
	g.fails(unit, exec("tofu", "apply", "-auto-approve", "-var=vms={}"), "-var sets variables of the unit")
	g.sim.Remove(300)
	g.fails(unit, exec("tofu", "apply", "-auto-approve"), "refuses the exec of live/proxmox-vm", "blocked gone live/a")
	g.fails(unit, exec("sh", "-c", "tofu apply -auto-approve"), "blocked gone live/a")
	g.fails(unit, []string{"exec", "--", "ls"}, "blocked gone live/a")
	g.succeeds(unit, "terragrunt", exec("tofu", "output")...)
	g.hasVMs()
}
