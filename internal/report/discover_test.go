package report

import (
	"bytes"
	"errors"
	"testing"

	"stackgen/internal/cluster"
	"stackgen/internal/discover"
)

// TestHarmlessDiscover prints hostile text of a cluster in every format.
func TestHarmlessDiscover(t *testing.T) {
	reason := discover.Reason{Config: hostile, Why: hostile, Commands: []string{hostile}}
	neutral := reason
	neutral.Neutral = true
	p := &discover.Proposal{Stacks: []discover.Stack{{Name: hostile, File: hostile, Why: hostile, Groups: []string{hostile}, Missing: []string{hostile}, VMs: []discover.VM{
		{Key: "a", Name: hostile, Node: hostile, Reasons: []discover.Reason{reason, neutral}}, {Key: "b", Name: hostile, Managed: true, Later: []discover.Reason{neutral}, Pending: []string{hostile}, Command: hostile, Defaults: []cluster.Setting{{Key: hostile, Value: hostile}}}}}}}
	for _, k := range []discover.Kind{discover.Locked, discover.NoNetwork, discover.Unknown, discover.Template, discover.InSpec, discover.Elsewhere, discover.Leaving, discover.Unclear, discover.Unread, discover.Unfit, discover.Unnamable} {
		p.Left = append(p.Left, discover.Left{Kind: k, VMID: 1, Name: hostile, Node: hostile, Reason: reason})
	}
	r := NewDiscover(p, []Change{{Path: hostile, Word: "created", Diff: "+" + hostile}}, nil, []cluster.Gap{{Path: "/vms", Privilege: cluster.VMAudit, Reason: hostile, Fix: hostile}})
	if !r.Blocked() || len(r.Script) != 1 || len(r.Hidden) != 1 || r.Lines == 0 {
		t.Errorf("blocked %v, script %q, hidden %v, lines %d", r.Blocked(), r.Script, r.Hidden, r.Lines)
	}
	r.Written, r.Defaults = true, []cluster.Written{{Name: hostile, Node: hostile, Entries: []string{hostile}, Waits: []string{hostile}}, {Name: hostile, Node: hostile, Error: hostile}}
	for _, format := range []string{"text", "json"} {
		for _, verbose := range []bool{false, true} {
			var out bytes.Buffer
			if err := errors.Join(r.Print(&out, Options{Format: format, Verbose: verbose}), r.PrintDefaults(&out, 2), PrintWritten(&out, r.Defaults[0]), PrintWritten(&out, r.Defaults[1]), r.PrintEnd(&out, true, true)); err != nil {
				t.Fatal(err)
			}
			if format == "text" {
				if err := r.PrintSpecs(&out); err != nil {
					t.Fatal(err)
				}
			}
			checkHarmless(t, "discover in "+format, out.String())
		}
	}
}
