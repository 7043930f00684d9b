package real

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"stackgen/internal/dnstest"
)

// TestDNSModes switches dns.mode of a live stack to per-stack and back. Even without
// import files every query is answered at all times: the new unit adds records that
// exist already, and then the old unit removes them from its state.
func TestDNSModes(t *testing.T) {
	onEach(t, func(t *testing.T, kind dnstest.Kind) {
		p := newDNSProject(t, kind, "DNS\n"+dnsThree)
		p.apply()
		watch := p.watch("web", "10.0.0.7", "any.web", "10.0.0.7", "db", "10.0.0.8")
		for _, mode := range []string{"per-stack", "per-vm", "per-stack"} {
			p.write("specs/live.yaml", p.dnsText("DNS, mode: "+mode+"\n"+dnsThree))
			code, output := p.stackgen("render", p.dir)
			if code != 0 {
				t.Fatalf("render: exit %d\n%s", code, output)
			}
			p.contains(output, "its records move", "stackgen import-blocks && (cd stacks/live && terragrunt stack run apply)", "stackgen render --records-moved live")
			p.useTerraformData()
			if code, output := p.stackgen("render", p.dir); code != 0 || strings.Contains(output, "its records move") {
				t.Errorf("a second render: exit %d\n%s", code, output)
			}
			p.useTerraformData()
			output = p.applyWithWarnings()
			p.changed(output, "Destroying", 0)
			p.contains(output, "will be removed from the OpenTofu state but will not be destroyed")
			if code, output := p.stackgen("render", p.dir, "--records-moved", "live"); code != 0 {
				t.Fatalf("render --records-moved: exit %d\n%s", code, output)
			}
			p.useTerraformData()
			if code, output := p.stackgen("render", p.dir, "--records-moved", "live"); code != 1 {
				t.Fatalf("a second --records-moved: exit %d\n%s", code, output)
			}
			p.emptyPlans(map[string]int{"per-stack": 2, "per-vm": 3}[mode])
		}
		watch()
		for _, unit := range []string{"dns-a", "dns-b"} {
			if left := p.outputs(unit); left["resources"] != 0 {
				t.Errorf("%s still has resources: %v", unit, left)
			}
		}

		// Destroyed after a render and before its apply.
		p.respec("DNS, mode: per-vm\n" + dnsThree)
		p.all("live", "destroy")
		for _, name := range []string{"web", "any.web", "db"} {
			p.has(name)
		}
	})
}

// TestDNSDuration logs how long each mode takes. STACKGEN_DNS_VMS is the number of VMs,
// each with a record.
func TestDNSDuration(t *testing.T) {
	t.Parallel()
	vms, err := strconv.Atoi(cmp.Or(os.Getenv("STACKGEN_DNS_VMS"), "3"))
	if err != nil || vms < 1 || vms > 200 {
		t.Fatalf("STACKGEN_DNS_VMS is a number from 1 to 200 (%v)", err)
	}
	var spec strings.Builder
	for i := range vms {
		fmt.Fprintf(&spec, "  n%d: {name: n%d, cloud_init: {ipv4: 10.0.0.%d/24}}\n", i, i, i+1)
	}
	for _, mode := range []string{"per-vm", "per-stack"} {
		p := newDNSProject(t, dnstest.Any, "DNS, mode: "+mode+"\nvms:\n"+spec.String())
		timed := func(what string, do func()) {
			began := time.Now()
			do()
			t.Logf("%s, %d VMs: %s %.1f s", mode, vms, what, time.Since(began).Seconds())
		}
		timed("apply", func() { p.apply() })
		p.has(fmt.Sprintf("n%d", vms-1), fmt.Sprintf("10.0.0.%d", vms))
		timed("empty plan", func() { p.emptyPlans(map[string]int{"per-vm": vms + 1, "per-stack": 2}[mode]) })
		timed("destroy", func() { p.all("live", "destroy") })
		p.has("n0")
	}
}

// applyWithWarnings applies a stack whose old units warn that they remove records from their state.
func (p *dnsProject) applyWithWarnings() string {
	p.Helper()
	r := p.run("stacks/live", "terragrunt", "stack", "run", "apply", "--non-interactive")
	if r.Code != 0 {
		p.Fatalf("apply: exit %d\n%s", r.Code, r.Text())
	}
	return r.Text()
}

// watch queries names repeatedly. The returned function stops it, and fails unless
// every answer was the expected one.
func (p *dnsProject) watch(pairs ...string) func() {
	p.Helper()
	stop, done := make(chan struct{}), make(chan struct{})
	asked := 0
	wrong := map[string]int{}
	go func() {
		defer close(done)
		for {
			for i := 0; i < len(pairs); i += 2 {
				got, err := p.server.Lookup(pairs[i])
				if asked++; err != nil || strings.Join(got, " ") != pairs[i+1] {
					wrong[pairs[i]+" is "+strings.Join(got, " ")]++
				}
			}
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	return func() {
		p.Helper()
		close(stop)
		<-done
		if len(wrong) > 0 || asked < 100 {
			p.Errorf("of %d answers these were wrong: %v", asked, wrong)
		}
	}
}
