package terratest

import "testing"

// TestMigration migrates a VM to another node by hand: the plan is empty, and it can be
// changed and destroyed there. Another one is migrated by its spec and stays the same VM;
// once it was migrated back by hand, an apply is refused.
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
	s.stage("spec", func() {
		before := s.exist("a", "b")["b"]
		placed := func(node string) string {
			return "profiles: {placed: {ignore_changes: [started]}}\nvms: {a: " + off("memory: 1024") + ", b: " + off("profile: placed", "node: "+node) + "}\n"
		}
		s.render(placed(here.cluster.Node))
		s.stackRun("apply")
		s.render(placed(here.cluster.Node2))
		s.contains(s.stackgen(0, "preflight"), "1 migrate")
		s.stackRun("apply")
		after := s.exist("a", "b")["b"]
		s.same(before, after)
		s.has(after, "net0", before.config["net0"])
		if after.Node != here.cluster.Node2 {
			s.Fatalf("after its node was changed in the spec it is on %s", after.Node)
		}
		s.plans()
		s.stackgen(0, "preflight")
		s.do(here.cluster.Migrate(s.context(), after.Guest, here.cluster.Node))
		s.contains(s.stackgen(3, "preflight"), "it would be moved back")
		s.refused([]string{"apply"}, "it would be moved back")
		s.do(here.cluster.Migrate(s.context(), s.exist("a", "b")["b"].Guest, here.cluster.Node2))
		s.plans()
	})
	s.stage("destroy", s.destroyed)
}
