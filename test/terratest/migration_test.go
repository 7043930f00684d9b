package terratest

import "testing"

// TestMigration migrates a VM to another node by hand: the plan is empty, and it can be
// changed and destroyed there.
func TestMigration(t *testing.T) {
	s := begin(t, "migration")
	if here.cluster.Node2 == "" {
		t.Skip("one node only: STACKGEN_TEST_NODE2 is not set")
	}
	s.stage("apply", func() {
		s.render("vms: {a: " + off() + ", b: " + off() + "}\n")
		s.stackRun("apply")
		s.exist("a", "b")
	})
	s.stage("migrate", func() {
		before := s.exist("a", "b")["a"]
		s.do(here.cluster.Migrate(s.context(), before.Guest, here.cluster.Node2))
		after := s.exist("a", "b")["a"]
		s.same(before, after)
		if after.Node != here.cluster.Node2 {
			s.Fatalf("after the migration it is on %s", after.Node)
		}
		s.plans()
	})
	s.stage("change", func() {
		before := s.exist("a", "b")["a"]
		s.render("vms: {a: " + off("memory: 1024") + ", b: " + off() + "}\n")
		s.stackRun("apply")
		after := s.exist("a", "b")["a"]
		s.same(before, after)
		s.has(after, "memory", "1024")
		if after.Node != here.cluster.Node2 {
			s.Errorf("the change moved it to %s", after.Node)
		}
	})
	s.stage("destroy", s.destroyed)
}
