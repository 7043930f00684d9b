//go:build unix

package real

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"stackgen/internal/pvesim"
)

// oneTemplate is a project with a Template on one node.
func oneTemplate(t *testing.T) (*project, *pvesim.Server) {
	t.Helper()
	url, checksum := imageServer(t)
	p := newProject(t, map[string]string{"specs/base.yaml": templateSpec(url, checksum, "1", "[pve1]", "")})
	sim := p.simulate()
	p.render()
	return p, sim
}

// TestTemplateKindKilled kills everything before each request that makes a template, and in each state
// on the way. Then preflight says what to do by hand, if anything, and the next apply is right.
func TestTemplateKindKilled(t *testing.T) {
	t.Parallel()
	p, sim := oneTemplate(t)
	p.deployed(0, "apply --yes")
	n := map[string]int{}
	for _, r := range sim.Requests() {
		if !r.Write || r.Method == http.MethodGet {
			continue
		}
		method, path := r.Method, strings.TrimPrefix(r.Path, "/api2/json")
		after := n[method+path]
		n[method+path]++
		t.Run(fmt.Sprintf("before %s %s %d", method, strings.ReplaceAll(path, "/", "."), after), func(t *testing.T) {
			t.Parallel()
			p, sim := oneTemplate(t)
			check(t, sim.AddFault(&pvesim.Fault{Method: method, Path: path, After: after, Do: pvesim.DoError, Delay: time.Hour}))
			p.killedOnce(func() bool { return sim.Faults()[0].Hits > 0 })
			sim.ClearFaults()
			p.madeAfterKill(sim, "")
		})
	}
	config := func(sim *pvesim.Server, key string) string {
		if g := stateOf(sim).guests[9100]; g.config != nil {
			return g.config[key]
		}
		return ""
	}
	for name, is := range map[string]func(*pvesim.Server) bool{
		"importing": func(sim *pvesim.Server) bool { return config(sim, "lock") == "create" },
		"converted": func(sim *pvesim.Server) bool { return config(sim, "template") == "1" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, sim := oneTemplate(t)
			sim.Change(func(s *pvesim.Seed) {
				for _, storage := range s.Storages {
					storage.Bandwidth = 500 << 20 // an import takes some seconds
				}
			})
			p.killedOnce(func() bool { return is(sim) })
			p.madeAfterKill(sim, "destroy")
		})
	}
}

// madeAfterKill does by hand what preflight says, and applies. way is that of a template that is not
// converted: the conversion if it is printed, or always the destroy.
func (p *project) madeAfterKill(sim *pvesim.Server, way string) {
	p.Helper()
	waitUntil(p.T, "the task of the killed run has ended", func() bool { return stateOf(sim).guests[9100].config["lock"] == "" })
	_, output := p.stackgen("preflight", p.dir)
	p.Log(output)
	const convert, destroy = "pvesh create /nodes/pve1/qemu/9100/template", "pvesh delete /nodes/pve1/qemu/9100"
	switch {
	case strings.Contains(output, convert) && way == "":
		p.wait(sim, "POST", "/nodes/pve1/qemu/9100/template")
	case strings.Contains(output, destroy):
		p.wait(sim, "DELETE", "/nodes/pve1/qemu/9100")
	}
	p.Log(p.deployed(0, "apply --yes", "base-1.0 is as its spec says"))
	if c := stateOf(sim).guests[9100].config; c["template"] != "1" || !strings.Contains(c["scsi0"], "size=4G") {
		p.Errorf("VM 9100 is no complete template: %v", c)
	}
	sim.ResetLog()
	p.deployed(0, "apply --yes", "nothing to do")
	noWrites(p.T, sim)
}

// wait sends a request by hand and waits for the end of its task.
func (p *project) wait(sim *pvesim.Server, method, path string) {
	p.Helper()
	callAPI(p.T, sim, method, path, nil)
	waitUntil(p.T, method+" "+path+" has ended", func() bool {
		g, there := stateOf(sim).guests[9100]
		return !there || g.config["template"] == "1"
	})
}
