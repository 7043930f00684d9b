package terratest

import (
	"testing"

	"github.com/gruntwork-io/terratest/modules/terragrunt"
)

// TestUnit applies the units of a stack one by one: their dependencies, with a pool and
// without, and how defaults, group and VM are merged.
func TestUnit(t *testing.T) {
	s := begin(t, "unit")
	s.stage("pool", func() {
		s.render(s.pool() + "vms: {a: " + off() + "}\n")
		s.generate()
		out, err := terragrunt.ApplyContextE(s.T, s.context(), s.options(s.unit("proxmox-vm")))
		if err == nil {
			s.Errorf("the VMs were applied before their pool\n%s", out)
		}
		s.exist()
		s.pools()
		s.applyUnit("proxmox-pool")
		s.pools(s.stack)
		s.exist()
		s.applyUnit("proxmox-vm")
		if v := s.exist("a")["a"]; v.Pool != s.stack {
			s.Errorf("%s is in the pool %q, want %s", v.config["name"], v.Pool, s.stack)
		}
		s.destroyed()
	})
	s.stage("merging", func() {
		s.reset()
		s.render("groups: {web: {count: 2, cores: 2, memory: 800, tags: [web], description: 'web {n}', started: false}}\n" +
			"vms: {a: " + on("memory: 1024", "tags: [own, web]") + ", b: " + off() + "}\n")
		s.generate()
		if exists(s.path(s.unit("proxmox-pool"))) {
			s.Error("there is a unit for a pool that the spec does not have")
		}
		s.applyUnit("proxmox-vm")
		s.pools()
		found := s.exist("a", "b", "web1", "web2")
		s.has(found["a"], "memory", "1024", "cores", "1", "tags", "own;stackgen-test;web", "description", "")
		s.has(found["b"], "memory", "768", "cores", "1", "tags", "stackgen-test", "description", "")
		s.has(found["web1"], "memory", "800", "cores", "2", "tags", "stackgen-test;web", "description", "web 1")
		s.has(found["web2"], "memory", "800", "cores", "2", "tags", "stackgen-test;web", "description", "web 2")
		for key, status := range map[string]string{"a": "running", "b": "stopped", "web1": "stopped", "web2": "stopped"} {
			if v := found[key]; v.Status != status || v.Pool != "" {
				s.Errorf("%s is %s in the pool %q, want %s in none", v.config["name"], v.Status, v.Pool, status)
			}
		}
		s.destroyed()
	})
}
