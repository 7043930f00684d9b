package terratest

import "testing"

// TestProtected: a stack with a protected VM is not destroyed, whoever asks; a
// VM that is retired is, protected or not.
func TestProtected(t *testing.T) {
	s := begin(t, "protected")
	s.stage("apply", func() {
		s.render("vms: {keep: " + off("profile: protected") + ", other: " + off() + "}\n")
		s.stackRun("apply")
		s.there("keep", "other")
	})
	s.stage("refuse", func() {
		before := s.there("keep", "other")
		s.refused([]string{"destroy"}, "stackgen guard refuses the destroy of "+s.stack+"/proxmox-vm", "retired: [keep]")
		after := s.there("keep", "other")
		s.same(before["keep"], after["keep"])
		s.same(before["other"], after["other"])
		s.plans()
	})
	s.stage("retire", func() {
		s.render("vms: {other: " + off() + "}\nretired: [keep]\n")
		s.stackRun("apply")
		s.there("other")
		s.destroyed()
	})
}
