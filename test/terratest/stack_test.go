package terratest

import (
	"testing"
)

// TestStack changes a stack of three running VMs: one more VM, one less, more memory,
// another key. No other VM changes, and DNS has the records of exactly the VMs that
// exist.
func TestStack(t *testing.T) {
	s := begin(t, "stack")
	line := func(key string, own ...string) string { return "  " + key + ": " + named(key, own...) + "\n" }
	a, b, c, d, e := line("a"), line("b", "cores: 2"), line("c"), line("d"), line("e")
	more := line("a", "memory: 1024")
	s.stage("apply", func() {
		s.render(zone() + "vms:\n" + a + b + c)
		s.stackRun("apply")
		found := s.exist("a", "b", "c")
		for _, v := range found {
			s.has(v, "memory", "768", "onboot", "0")
			if v.Status != "running" {
				s.Errorf("%s is %s", v.config["name"], v.Status)
			}
		}
		s.has(found["a"], "cores", "1")
		s.has(found["b"], "cores", "2")
		s.resolves("a", "b", "c")
		s.plans()
	})
	s.stage("add", func() {
		s.changes(zone()+"vms:\n"+a+b+c+d, []string{"a", "b", "c", "d"}, nil)
	})
	s.stage("memory", func() {
		after := s.changes(zone()+"vms:\n"+more+b+c+d, []string{"a", "b", "c", "d"}, nil)
		s.has(after["a"], "memory", "1024")
		s.has(after["b"], "memory", "768")
	})
	s.stage("remove", func() {
		s.changes(zone()+"vms:\n"+more+c+d+"retired: [b]\n", []string{"a", "c", "d"}, nil)
	})
	s.stage("rename", func() {
		after := s.changes(zone()+"vms:\n"+more+e+d+"retired: [b]\nrenamed: {c: e}\n", []string{"a", "d", "e"}, map[string]string{"e": "c"})
		s.has(after["e"], "name", s.stack+"-e")
	})
	s.stage("destroy", func() {
		s.destroyed()
		s.resolves()
	})
}

// changes renders the spec and applies it. Then exactly these VMs must exist, those
// that existed before must be the same, and the next plan must be empty. renamed has
// the old name of a new one.
func (s *suite) changes(rest string, want []string, renamed map[string]string) map[string]vm {
	s.Helper()
	before := map[string]vm{}
	for _, v := range s.vms() {
		before[s.key(v)] = v
	}
	s.render(rest)
	s.stackRun("apply")
	after := s.exist(want...)
	s.resolves(want...)
	for key, v := range after {
		old, was := before[key]
		if name, ok := renamed[key]; ok {
			old, was = before[name]
		}
		if was {
			s.same(old, v)
		}
	}
	s.plans()
	return after
}
