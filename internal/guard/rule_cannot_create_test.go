package guard

import (
	"strings"
	"testing"

	"stackgen/internal/lock"
)

// TestConversionOfProjectGuest: a guest of the project, named as the template by a wrong VMID, is not offered to be made one.
func TestConversionOfProjectGuest(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Input)
		line   bool
	}{
		"a stranger":           {func(*Input) {}, true},
		"in the lock":          {func(in *Input) { in.Lock.Stacks[0].Value.VMs[1].Value.VMID = 105 }, false},
		"in the lock, retired": {func(in *Input) { e := &in.Lock.Stacks[0].Value.VMs[1].Value; e.VMID, e.Status = 105, lock.Retired }, false},
		"in a spec":            {func(in *Input) { in.Project.Stacks[0].VMs[1].VMID = 105 }, false},
	} {
		in := input(nil, newGuest(105, "db"))
		in.Lock.Stacks[0].Value.VMs[0].Value.Template = &lock.Template{VMID: 105, Node: "pve1"}
		c.change(&in)
		for _, f := range Judge(in) {
			if f.Key != "web1" {
				continue
			}
			var all string
			for _, s := range f.Steps {
				for _, l := range s.Lines {
					all += l.String() + "\n"
				}
			}
			if !strings.HasPrefix(all, "template: VMID") || strings.Contains(all, "/template\n") != c.line {
				t.Errorf("%s: %s", name, all)
			}
			if got := said(&f); strings.Contains(got, "VMID 105 is of lab/web2") == c.line {
				t.Errorf("%s: %s", name, got)
			}
		}
	}
}
