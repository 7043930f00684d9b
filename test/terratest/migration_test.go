package terratest

import "testing"

// TestMigration: a VM that somebody moved to another node by hand is left
// there: nothing is planned, and it can be changed and destroyed where it is.
func TestMigration(t *testing.T) {
	s := begin(t, "migration")
	if here.cluster.Node2 == "" {
		t.Skip("one node only: STACKGEN_TEST_NODE2 is not set")
	}
	s.stage("apply", func() {
		s.render("vms: {a: " + off() + ", b: " + off() + "}\n")
		s.stackRun("apply")
		s.there("a", "b")
	})
	s.stage("migrate", func() {
		before := s.there("a", "b")["a"]
		s.do(here.cluster.Migrate(s.context(), before.Guest, here.cluster.Node2))
		after := s.there("a", "b")["a"]
		s.same(before, after)
		if after.Node != here.cluster.Node2 {
			s.Fatalf("after the migration it lies on %s", after.Node)
		}
		s.plans()
	})
	s.stage("change", func() {
		before := s.there("a", "b")["a"]
		s.render("vms: {a: " + off("memory: 1024") + ", b: " + off() + "}\n")
		s.stackRun("apply")
		after := s.there("a", "b")["a"]
		s.same(before, after)
		s.has(after, "memory", "1024")
		if after.Node != here.cluster.Node2 {
			s.Errorf("the change has moved it to %s", after.Node)
		}
	})
	s.stage("destroy", s.destroyed)
}
