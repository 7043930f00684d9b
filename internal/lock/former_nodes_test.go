package lock

import (
	"fmt"
	"strings"
	"testing"
)

// TestFormerNodes: the lock has the nodes from which an apply migrates a VM, which are
// those that the spec said before, and no node where somebody else moved it.
func TestFormerNodes(t *testing.T) {
	const managed, ignoring = "managed", "default"
	for name, c := range map[string]struct {
		nodes    []string // of one render after the other, with a profile if it changes
		want     string
		note     bool
		observed string // where resolve sees the VM at the end
	}{
		"same node":                       {[]string{"pve1", "pve1"}, "pve1 []", false, ""},
		"another node":                    {[]string{"pve1", "pve2"}, "pve2 [pve1]", false, ""},
		"another node, rendered twice":    {[]string{"pve1", "pve2", "pve2"}, "pve2 [pve1]", false, ""},
		"a third node":                    {[]string{"pve1", "pve2", "pve3"}, "pve3 [pve1 pve2]", false, ""},
		"and back":                        {[]string{"pve1", "pve2", "pve1"}, "pve1 [pve2]", false, ""},
		"and back, and there again":       {[]string{"pve1", "pve2", "pve1", "pve2"}, "pve2 [pve1]", false, ""},
		"seen on its node":                {[]string{"pve1", "pve2"}, "pve2 []", false, "pve2"},
		"seen on its former node":         {[]string{"pve1", "pve2"}, "pve2 [pve1]", false, "pve1"},
		"the profile ignores it":          {[]string{ignoring + " pve1", "pve2"}, "pve2 [pve1]", true, ""},
		"the profile manages it after":    {[]string{ignoring + " pve1", ignoring + " pve2", managed + " pve2"}, "pve2 [pve1]", false, ""},
		"the profile manages it now":      {[]string{ignoring + " pve1", managed + " pve1"}, "pve1 []", false, ""},
		"the profile and the node change": {[]string{ignoring + " pve1", managed + " pve2"}, "pve2 [pve1]", false, ""},
		"the profile ignores it now":      {[]string{"pve1", "pve2", ignoring + " pve2"}, "pve2 [pve1]", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l, profile := &Lock{Version: Version}, managed
			var notes []string
			for _, node := range c.nodes {
				if p, n, both := strings.Cut(node, " "); both {
					profile, node = p, n
				}
				spec := head + "profiles: {managed: {ignore_changes: [started]}}\nvms: {x: {node: " + node + ", profile: " + profile + "}}\n"
				r := decided(t, l, nil, spec)
				l, notes = r.Lock, r.Notes
				unchanged(t, l, spec)
			}
			if c.observed != "" {
				l, _ = l.Observe([]Observed{{Stack: "a", VMs: []ObservedVM{{Key: "x", VMID: 100, Node: c.observed}}}})
			}
			body, err := l.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			read, problems := Read("lock", body)
			if read == nil {
				t.Fatal(problems)
			}
			v := read.Stacks[0].Value.VMs[0].Value
			if got := fmt.Sprint(v.Node, " ", v.FormerNodes); got != c.want || (len(notes) > 0) != c.note {
				t.Errorf("got %s, notes %q; want %s", got, notes, c.want)
			}
		})
	}
}

// TestFormerNodesOfAnotherVM: a key that is another VM now has no former nodes.
func TestFormerNodesOfAnotherVM(t *testing.T) {
	spec := strings.Replace(head, "node: pve1}", "profile: managed}", 1) + "profiles: {managed: {ignore_changes: [started]}}\n"
	l := decided(t, &Lock{Version: Version}, nil, spec+"vms: {x: {node: pve1}}\n").Lock
	if v := decided(t, l, nil, spec+"vms: {x: {node: pve2, profile: managed, adopt: {vmid: 555}}}\n").Lock.Stacks[0].Value.VMs[0].Value; v.FormerNodes != nil {
		t.Errorf("VM 555 has the former nodes %v of VM 100", v.FormerNodes)
	}
}

// TestNodeNote: many VMs that stay where they are make one note.
func TestNodeNote(t *testing.T) {
	vms := func(node string) string {
		out := "vms:\n"
		for i := range 7 {
			out += fmt.Sprintf("  v%d: {node: %s}\n", i, node)
		}
		return head + out
	}
	l := decided(t, &Lock{Version: Version}, nil, vms("pve1")).Lock
	notes := decided(t, l, nil, vms("pve2")).Notes
	if len(notes) != 1 || !strings.HasPrefix(notes[0], "a: another node in the spec: v0, v1, v2, v3, v4, and 2 more in stackgen.lock.yaml. An apply creates a VM there if it does not exist yet") {
		t.Errorf("notes: %q", notes)
	}
}
