//go:build unix

package real

import (
	"strings"
	"testing"
)

// TestApplyGone kills the apply that destroys a retired VM. The next apply has nothing to do in
// that stack, and changes another one: it records that the VM is gone, so that its line can be
// removed.
func TestApplyGone(t *testing.T) {
	t.Parallel()
	const state = ".state/live/proxmox-vm/tofu.tfstate"
	live := func(vms string) string { return strings.Replace(oneSpec, "vms: {a: {}}", vms, 1) }
	other := strings.NewReplacer("name: live", "name: other", "id: live", "id: other", "300-399", "400-499").Replace(live("vms: {a: {started: false}}"))
	p := newProject(t, map[string]string{"specs/live.yaml": live("vms: {a: {}, b: {}}"), "specs/other.yaml": other})
	p.simulate()
	p.render()
	p.deployed(0, "apply --yes")
	p.write("specs/live.yaml", live("retired: [a]\nvms: {b: {}}"))
	p.render()
	p.killedOnce(func() bool { return !strings.Contains(p.read(state), `"index_key": "a"`) })

	p.write("specs/other.yaml", strings.Replace(other, "started: false", "started: false, tags: [new]", 1))
	p.render()
	p.deployed(0, "apply --yes", "change  other: VM a", "other is as its spec says")
	p.write("specs/live.yaml", live("vms: {b: {}}"))
	p.step(0, "render", "removed from the lock: a (VMID 300, retired)")
}
