package terratest

import "testing"

// TestProtected checks that a stack with a protected VM is not destroyed, and that a
// retired VM is, also a protected one.
func TestProtected(t *testing.T) {
	s := begin(t, "protected")
	s.stage("apply", func() {
		s.render("vms: {keep: " + off("profile: protected") + ", other: " + off() + "}\n")
		s.stackRun("apply")
		s.exist("keep", "other")
	})
	s.stage("refuse", func() {
		before := s.exist("keep", "other")
		s.refused([]string{"destroy"}, "stackgen guard refuses the destroy of "+s.stack+"/proxmox-vm", "retired: [keep]")
		after := s.exist("keep", "other")
		s.same(before["keep"], after["keep"])
		s.same(before["other"], after["other"])
		s.plans()
	})
	s.stage("retire", func() {
		s.render("vms: {other: " + off() + "}\nretired: [keep]\n")
		s.stackRun("apply")
		s.exist("other")
		s.destroyed()
	})
}
