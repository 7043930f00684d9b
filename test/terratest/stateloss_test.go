package terratest

import (
	"maps"
	"os"
	"testing"
)

// TestStateLoss removes the state of a stack. An apply, which would re-create every VM,
// is refused. With import blocks it creates nothing, and the next plan is empty. Without
// them one more apply settles the VMs, which changes nothing on them.
func TestStateLoss(t *testing.T) {
	s := begin(t, "stateloss")
	vms := "vms: {a: " + off() + ", b: " + off("profile: protected") + "}\n"
	s.stage("apply", func() {
		s.render(s.pool() + vms)
		s.stackRun("apply")
		s.exist("a", "b")
		s.plans()
	})
	s.stage("lose", func() {
		s.do(os.RemoveAll(s.path(".state")))
		s.do(os.RemoveAll(s.path("stacks/" + s.stack + "/.terragrunt-stack")))
		s.plans("proxmox-pool proxmox_virtual_environment_pool.this[\""+s.stack+"\"] [create]",
			`proxmox-vm proxmox_virtual_environment_vm.protected["b"] [create]`,
			`proxmox-vm proxmox_virtual_environment_vm.this["a"] [create]`)
	})
	s.stage("refuse", func() {
		before := s.exist("a", "b")
		s.refused([]string{"apply"}, "stackgen guard refuses the apply of "+s.stack+"/proxmox-pool", "stackgen import-blocks")
		after := s.exist("a", "b")
		s.same(before["a"], after["a"])
		s.same(before["b"], after["b"])
	})
	s.stage("adopt", func() {
		before := s.exist("a", "b")
		s.contains(s.stackgen(2, "preflight"), "adopt "+s.stack+"/a", "adopt "+s.stack+"/b")
		s.stackgen(0, "import-blocks")
		s.plans("proxmox-pool proxmox_virtual_environment_pool.this[\""+s.stack+"\"] import [no-op]",
			`proxmox-vm proxmox_virtual_environment_vm.protected["b"] import [no-op]`,
			`proxmox-vm proxmox_virtual_environment_vm.this["a"] import [no-op]`)
		s.stackRun("apply")
		s.plans()
		after := s.exist("a", "b")
		s.same(before["a"], after["a"])
		s.same(before["b"], after["b"])
		s.stackgen(0, "import-blocks") // removes import blocks that are applied
		s.contains(s.stackgen(0, "preflight"), "settling "+s.stack+"/a", "settling "+s.stack+"/b")
	})
	s.stage("settle", func() { // the first apply without import blocks sets what only the provider knows, and nothing on the VM
		before := s.exist("a", "b")
		s.stackRun("apply")
		s.plans()
		after := s.exist("a", "b")
		for key := range before {
			s.same(before[key], after[key])
			if !maps.Equal(before[key].config, after[key].config) {
				s.Errorf("%s was %v and is %v", key, before[key].config, after[key].config)
			}
		}
		s.contains(s.stackgen(0, "preflight"), "managed "+s.stack+"/a", "managed "+s.stack+"/b")
	})
	s.stage("destroy", func() {
		s.render(s.pool() + "vms: {a: " + off() + "}\nretired: [b]\n")
		s.stackRun("apply")
		s.exist("a")
		s.destroyed()
	})
}
