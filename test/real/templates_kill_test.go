//go:build unix

package real

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
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
	t.Run("downloading", func(t *testing.T) {
		t.Parallel()
		killedDownload(t)
	})
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

// killedDownload kills an apply while the node downloads the image, which goes on. The same command waits
// for it and makes the template; the image is fetched once.
func killedDownload(t *testing.T) {
	var fetched atomic.Int32
	begun, sent := make(chan struct{}), make(chan struct{})
	begin, send := sync.OnceFunc(func() { close(begun) }), sync.OnceFunc(func() { close(sent) })
	web, checksum := imageServerAfter(t, func() { fetched.Add(1); begin(); <-sent })
	t.Cleanup(send)
	p := newProject(t, map[string]string{"specs/base.yaml": templateSpec(web, checksum, "1", "[pve1]", "")})
	sim := p.simulate()
	p.render()
	c := p.command("apply --yes")
	check(t, c.Start())
	select {
	case <-begun:
	case <-time.After(2 * time.Minute):
		t.Error("the node does not download the image")
	}
	run := append([]int{c.Process.Pid}, descendants(c.Process.Pid)...)
	for _, pid := range run {
		_ = syscall.Kill(pid, syscall.SIGSTOP) // Terragrunt would see how OpenTofu ends, and its hook forget what was begun
	}
	for _, pid := range slices.Backward(run) {
		_ = syscall.Kill(pid, syscall.SIGKILL) // the provider first: it stops the download if OpenTofu ends before it
	}
	_ = c.Wait() // its status says how it ended

	// The image is sent once the next apply says that it waits, or does not.
	c = p.command("apply --yes")
	errOut, err := c.StderrPipe()
	check(t, err)
	var out bytes.Buffer
	c.Stdout = &out
	check(t, c.Start())
	waited := false
	for lines := bufio.NewScanner(errOut); lines.Scan(); {
		t.Log(lines.Text())
		waited = waited || strings.Contains(lines.Text(), "a task that an interrupted run began is not complete: base-1.0")
		if waited || strings.HasPrefix(lines.Text(), "planning ") {
			send()
		}
	}
	if err := c.Wait(); err != nil || !waited || !strings.Contains(out.String(), "base-1.0 is as its spec says") {
		t.Fatalf("%v, waited: %v\n%s", err, waited, out.String())
	}
	if n := fetched.Load(); n != 1 || stateOf(sim).guests[9100].config["template"] != "1" {
		t.Errorf("the image was fetched %d times, and VM 9100 is %v", n, stateOf(sim).guests[9100].config)
	}
	sim.ResetLog()
	p.deployed(0, "apply --yes", "nothing to do")
	noWrites(t, sim)
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
