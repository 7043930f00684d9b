package lock

import (
	"fmt"
	"strings"
	"testing"

	"stackgen/internal/finding"
)

// merged is a lock in which two branches took VMID 100, with more in each entry.
func merged(t *testing.T, x, y string) *Lock {
	t.Helper()
	l, problems := Read("lock", fmt.Appendf(nil, `version: 3
stacks:
  a:
    spec: specs/a.yaml
    state_key: a
    backend: {type: local}
    vms:
      x: {vmid: 100, node: pve1, clone: full, template: {vmid: 9000}%s}
      y: {vmid: 100, node: pve1, clone: full, template: {vmid: 9000}%s}
      z: {vmid: 101, node: pve1, clone: full, template: {vmid: 9000}}
`, x, y))
	if l == nil {
		t.Fatal(problems)
	}
	return l
}

// TestMergedBranches checks what is said of a VMID or MAC address that two entries of
// the lock have, and that new decisions for one of them end it.
func TestMergedBranches(t *testing.T) {
	const seen = ", fingerprint: {uuid: 1b4e28ba-2fa1-11d2-883f-0016d3cca427, macs: ['BC:24:11:00:00:09']}"
	const spec = head + "vms: {x: {}, y: {}, z: {}}\n"
	for name, c := range map[string]struct {
		x, y, says string
		again      string
	}{
		"one was applied":  {seen, "", "a/y: lock:9:10: VMID 100 is a/x's, applied; a/y was never applied > stackgen resolve --again a/y", "a/y"},
		"the other one":    {"", seen, "a/x: lock:8:10: VMID 100 is a/y's, applied; a/x was never applied > stackgen resolve --again a/x", "a/x"},
		"not known":        {"", "", "a/x: lock:8:10: VMID 100 is that of a/x and a/y; which of them was applied is not recorded > stackgen resolve; a/y: lock:9:10: VMID 100 is that of a/x and a/y; which of them was applied is not recorded > stackgen resolve", "a/y"},
		"both are seen":    {seen, seen, "a/x: lock:8:10: VMID 100 is that of a/x and a/y, and a/x was seen in the cluster > forgotten: [x]; a/y: lock:9:10: VMID 100 is that of a/x and a/y, and a/y was seen in the cluster > forgotten: [y]", ""},
		"one is forgotten": {"", ", status: forgotten", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := merged(t, c.x, c.y)
			if c.y == ", status: forgotten" {
				if r := decided(t, l, nil, head+"vms: {x: {}, z: {}}\n"); said(r) != "" {
					t.Errorf("says %s", said(r))
				}
				return
			}
			if got := explained(decided(t, l, nil, spec)); got != c.says {
				t.Errorf("says\n%s\nwant\n%s", got, c.says)
			}
			if c.again == "" {
				return
			}
			r := decidedAgain(t, l, spec, c.again)
			if said(r) != "" || r.Lock.Stacks[0].Value.VMs.Get(c.again[2:]).VMID != 102 {
				t.Errorf("again: %s: %s", said(r), vmids(r.Lock.Stacks.Get("a")))
			}
		})
	}
}

// TestMergedMACs checks the same for a MAC address that was decided.
func TestMergedMACs(t *testing.T) {
	l := merged(t, ", macs: ['BC:24:11:00:00:01'], fingerprint: {uuid: 1b4e28ba-2fa1-11d2-883f-0016d3cca427}", ", macs: ['BC:24:11:00:00:01']")
	l.Stacks[0].Value.VMs.Get("y").VMID = 105
	const spec = head + "vms: {x: {}, y: {}, z: {}}\n"
	want := "a/y: lock:9:10: MAC address BC:24:11:00:00:01 is a/x's, applied; a/y was never applied > stackgen resolve --again a/y"
	r := decided(t, l, nil, spec)
	if got := explained(r); got != want || len(r.Problems) > 0 {
		t.Errorf("says\n%s\nwant\n%s", got, want)
	}
	r = decidedAgain(t, l, spec, "a/y")
	y := r.Lock.Stacks[0].Value.VMs.Get("y")
	if said(r) != "" || len(y.MACs) != 1 || y.MACs[0] == "BC:24:11:00:00:01" {
		t.Errorf("again: %s: %v", said(r), y.MACs)
	}
}

// TestAgainKeepsWhatWasSeen checks that a VM that exists, or may exist, gets no new
// decisions.
func TestAgainKeepsWhatWasSeen(t *testing.T) {
	const spec = head + "vms: {x: {}, z: {}}\nretired: [y]\n"
	l := rendered(t, &Lock{Version: Version}, "vms: {x: {}, y: {}, z: {}}")
	l.Stacks[0].Value.VMs.Get("y").Status = Retired
	l.Stacks[0].Value.VMs.Get("x").Fingerprint = &Fingerprint{UUID: "u"}
	for _, name := range []string{"a/x", "a/y", "a/q", "q/x", "x"} {
		if r := decidedAgain(t, l, spec, name); len(r.Refusals) != 1 || !strings.HasPrefix(said(r), "stop: ") {
			t.Errorf("%s: %s", name, said(r))
		}
	}
}

// explained is what refusals say in evidence, and their first commands.
func explained(r Result) string {
	var out []string
	for _, f := range r.Refusals {
		if f.Kind == finding.Conflict {
			out = append(out, f.String()+": "+f.Evidence[0].Text+" > "+f.Steps[0].Lines[0].String())
		}
	}
	return strings.Join(out, "; ")
}
