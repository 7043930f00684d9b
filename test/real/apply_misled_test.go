//go:build unix

package real

import (
	"os"
	"path/filepath"
	"testing"
)

// TestApplyMisled: an apply says that a stack is as its spec says only of a plan of what is
// rendered. Here the VM does not exist.
func TestApplyMisled(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, oneVM("off"))
	tofu, err := g.tools.Path("tofu")
	check(t, err)
	wrapper := filepath.Join(t.TempDir(), "tofu")
	check(t, os.WriteFile(wrapper, []byte("#!/bin/sh\n[ \"$1\" != plan ] || { shift; set -- plan \"-var=vms={}\" \"$@\"; }\nexec "+tofu+" \"$@\"\n"), 0o755))
	for _, c := range []struct{ env, want string }{
		{"TG_NO_STACK_GENERATE=true", "`unset TG_NO_STACK_GENERATE`, then run the same command again; nothing was read or changed"},
		{"TG_WORKING_DIR=" + t.TempDir(), "`unset TG_WORKING_DIR`"},
		{"TG_TF_PATH=" + wrapper, "live/proxmox-vm was not planned as it is rendered (a differ or are missing)"},
	} {
		g.with(c.env, func() { g.deployed(1, "apply --yes", c.want) })
	}
	g.write("units/proxmox-vm/x_override.tf", noVMs)
	g.deployed(3, "apply --yes", "units/proxmox-vm/x_override.tf: stackgen did not write it")
	g.remove("units/proxmox-vm/x_override.tf")
	noWrites(t, g.sim)
	g.deployed(0, "apply --yes", "live is as its spec says")
	g.hasVMs(300)
	g.deployed(0, "apply --yes", "nothing to do: live is as its spec says")
}
