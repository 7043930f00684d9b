package real

import (
	"strings"
	"testing"

	"stackgen/internal/dnstest"
)

// silentPair has a VM that reports an address if it is given, and another one.
func silentPair(mode, address, other string) string {
	mute := "  mute: {name: mute, dns: {records: [mute, \"*.mute\"]}}\n"
	if address != "" {
		mute = strings.Replace(mute, "name: mute,", "name: mute, meta: {address: "+address+"},", 1)
	}
	return "DNS, mode: " + mode + "\nvms:\n" + mute + "  loud: {name: loud, meta: {address: " + other + "}}\n"
}

// TestDNSSilentVM checks that a VM that reports no address keeps its records, that no
// record is made while none was ever reported, and that all other records are updated.
func TestDNSSilentVM(t *testing.T) {
	onEach(t, func(t *testing.T, kind dnstest.Kind) {
		for _, mode := range []string{"per-vm", "per-stack"} {
			t.Run(mode, func(t *testing.T) {
				t.Parallel()
				silentLife(t, kind, mode)
			})
		}
	})
}

func silentLife(t *testing.T, kind dnstest.Kind, mode string) {
	const none, first, second = "", "10.0.0.7", "10.0.0.17"
	p := newDNSProject(t, kind, silentPair(mode, none, "10.0.1.1"))
	units := map[string]int{"per-vm": 3, "per-stack": 2}[mode]
	for _, step := range []struct{ reported, other, mute string }{
		{none, "10.0.1.1", none},     // it never reported one
		{first, "10.0.1.1", first},   // it reports its first address
		{none, "10.0.1.2", first},    // it is off
		{second, "10.0.1.2", second}, // it has another address
		{none, "10.0.1.3", second},   // it is off again
	} {
		p.respec(silentPair(mode, step.reported, step.other))
		p.applyWithWarnings()
		p.has("loud", step.other)
		var want []string
		if step.mute != "" {
			want = []string{step.mute}
		}
		p.has("mute", want...)
		p.has("any.mute", want...)
		p.emptyPlansWithWarnings(units)
	}

	// A saved plan does the same. A record that somebody removed from DNS is published again.
	plans := p.TempDir()
	if err := p.server.Remove("loud"); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"plan", "apply"} {
		if r := p.run("stacks/live", "terragrunt", "stack", "run", command, "--non-interactive", "--out-dir", plans); r.Code != 0 {
			t.Fatalf("%s: exit %d\n%s", command, r.Code, r.Text())
		}
	}
	p.has("mute", second)
	p.has("loud", "10.0.1.3")

	// A record that the spec removes is removed, and a destroy removes all.
	p.respec(strings.Replace(silentPair(mode, none, "10.0.1.3"), `[mute, "*.mute"]`, `["*.mute"]`, 1))
	p.changed(p.applyWithWarnings(), "Destroying", 1)
	p.has("mute")
	p.has("any.mute", second)
	p.contains(p.run("stacks/live", "terragrunt", "stack", "run", "plan", "--", "-destroy").Text(), `dns_a_record_set.this["*.mute"] will be destroyed`)
	if r := p.run("stacks/live", "terragrunt", "stack", "run", "destroy", "--non-interactive"); r.Code != 0 {
		t.Fatalf("destroy: exit %d\n%s", r.Code, r.Text())
	}
	p.has("any.mute")
	p.has("loud")
}

// emptyPlansWithWarnings fails unless the plans of this many units are empty.
func (p *dnsProject) emptyPlansWithWarnings(units int) {
	p.Helper()
	r := p.run("stacks/live", "terragrunt", "stack", "run", "plan", "--non-interactive", "--", "-detailed-exitcode")
	if n := strings.Count(r.Text(), "No changes."); r.Code != 0 || n != units {
		p.Errorf("plan: exit %d, %d units have no changes, want %d\n%s", r.Code, n, units, r.Text())
	}
}
