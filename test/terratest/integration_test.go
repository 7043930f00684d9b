package terratest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestIntegration creates a stack in the order pool, VMs, records, and destroys it in
// the reverse order.
func TestIntegration(t *testing.T) {
	s := begin(t, "integration")
	s.stage("apply", func() {
		s.render(s.pool() + zone() + "vms: {a: " + named("a") + ", b: " + named("b") + ", c: " + off("dns: false") + "}\n")
		s.exist()
		s.pools()
		runs := s.reported("apply")
		s.ordered(runs, append([]string{"proxmox-pool", "proxmox-vm"}, records("a")...)...)
		s.ordered(runs, append([]string{"proxmox-vm"}, records("b")...)...)
		s.resolves("a", "b")
		for _, v := range s.exist("a", "b", "c") {
			if v.Pool != s.stack {
				s.Errorf("%s is in the pool %q", v.config["name"], v.Pool)
			}
		}
		s.pools(s.stack)
		s.plans()
		s.stackgen(0, "preflight")
	})
	s.stage("destroy", func() {
		runs := s.reported("destroy")
		s.ordered(runs, append(records("a"), "proxmox-vm", "proxmox-pool")...)
		s.ordered(runs, append(records("b"), "proxmox-vm")...)
		s.resolves()
		s.exist()
		s.pools()
	})
}

// records are the units of a VM's records, or none without a zone.
func records(key string) []string {
	if here.cluster.Zone == nil {
		return nil
	}
	return []string{"dns-" + key}
}

// A unitRun is when a unit ran, from Terragrunt's report.
type unitRun struct {
	Name    string
	Result  string
	Started time.Time
	Ended   time.Time
}

// reported runs a command on the stack and returns when each unit ran.
func (s *suite) reported(command string) map[string]unitRun {
	s.Helper()
	file := filepath.Join(s.temp(""), "report.json")
	s.stackRun(command, "--report-file", file, "--report-format", "json")
	text, err := os.ReadFile(file)
	s.do(err)
	var runs []unitRun
	s.do(json.Unmarshal(text, &runs))
	byUnit := map[string]unitRun{}
	for _, r := range runs {
		if r.Result != "succeeded" {
			s.Errorf("%s of %s: %s", command, r.Name, r.Result)
		}
		byUnit[filepath.Base(r.Name)] = r
	}
	return byUnit
}

// ordered fails unless each unit had ended before the next one started.
func (s *suite) ordered(runs map[string]unitRun, order ...string) {
	s.Helper()
	for i, name := range order {
		run, ok := runs[name]
		if !ok {
			s.Fatalf("%s did not run: %v", name, runs)
		}
		if i > 0 && run.Started.Before(runs[order[i-1]].Ended) {
			s.Errorf("%s started before %s had ended: %s", name, order[i-1], strings.Join(order, " -> "))
		}
	}
}
