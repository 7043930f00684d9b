package guard

import (
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/finding"
	"stackgen/schema"
)

// TestShareLines: a line for the entries of all VMs of a stack is one of its defaults. It stays
// with each VM where one of them does not need it, says the property for itself, or where
// there are few.
func TestShareLines(t *testing.T) {
	entry := &schema.Node{Shape: schema.ShapeMap}
	says := entry.With(&schema.Node{Shape: schema.ShapeString, Text: "restart"}, &schema.Node{Shape: schema.ShapeBool, Text: "false"})
	for _, c := range []struct {
		name, kind, line string
		own              []*schema.Node
		without          bool // the last VM has no finding
		want             string
	}{
		{"all", schema.KindStack, "restart: true", []*schema.Node{entry, entry, nil}, false, "restart: true  # defaults, for all VMs of lab"},
		{"template of a class", schema.KindClass, "template: VMID", []*schema.Node{entry, entry, entry}, false, "template: VMID  # of the class, for all of its VMs"},
		{"one less", schema.KindStack, "restart: true", []*schema.Node{entry, entry, entry}, true, "restart: true  # vms.a"},
		{"one says it", schema.KindStack, "restart: true", []*schema.Node{entry, entry, says}, false, "restart: true  # vms.a"},
		{"two", schema.KindStack, "restart: true", []*schema.Node{entry, entry}, false, "restart: true  # vms.a"},
		{"names", schema.KindStack, "name: ANOTHER_NAME", []*schema.Node{entry, entry, entry}, false, "name: ANOTHER_NAME  # vms.a"},
	} {
		s := &schema.Stack{Name: "lab", Kind: c.kind}
		var found []finding.Finding
		for i, own := range c.own {
			v := &schema.VM{Key: string(rune('a' + i)), Own: own}
			v.Path = "vms." + v.Key
			s.VMs = append(s.VMs, v)
			if f := (finding.Finding{Address: finding.Address{Stack: "lab", Type: finding.VM, Key: v.Key}}); !c.without || i < len(c.own)-1 {
				found = append(found, *f.Next("write into specs/lab.yaml", specLine(v, c.line)))
			}
		}
		shareLines(&schema.Project{Stacks: []*schema.Stack{s}}, found)
		if got := found[0].Steps[0].Lines[0].Text; got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestShareLinesOfContainers: the place of a line is one from which all guests of the stack inherit.
func TestShareLinesOfContainers(t *testing.T) {
	for _, c := range []struct {
		line string
		vms  int
		want string
	}{
		{"restart: true", 0, "restart: true  # defaults, for all containers of lab"},
		{"restart: true", 1, "restart: true  # defaults, for all guests of lab"},
		{"swap: 0", 0, "swap: 0  # defaults.containers, for all containers of lab"},
		{"template: local:vztmpl/ARCHIVE", 0, "template: local:vztmpl/ARCHIVE  # defaults.containers, for all containers of lab"},
		{"template: X", 1, "template: X  # containers.c"},
	} {
		s := &schema.Stack{Name: "lab", Kind: schema.KindStack}
		var found []finding.Finding
		for i := range 3 {
			v := &schema.VM{Key: string(rune('a' + i)), Own: &schema.Node{Shape: schema.ShapeMap}, Kind: guest.Container}
			if i < c.vms {
				v.Kind = guest.VM
			}
			v.Path = v.Kind.List() + "." + v.Key
			s.VMs = append(s.VMs, v)
			f := finding.Finding{Address: finding.Address{Stack: "lab", Type: finding.VM, Key: v.Key}}
			found = append(found, *f.Next("write into specs/lab.yaml", specLine(v, c.line)))
		}
		shareLines(&schema.Project{Stacks: []*schema.Stack{s}}, found)
		if got := found[2].Steps[0].Lines[0].Text; got != c.want {
			t.Errorf("%s with %d VMs: %q, want %q", c.line, c.vms, got, c.want)
		}
	}
}

// TestShareLinesOfGroups: a line for the entries of all VMs of a group is one of the group, also
// where a member has properties of its own beside it.
func TestShareLinesOfGroups(t *testing.T) {
	s := &schema.Stack{Name: "lab", Kind: schema.KindStack}
	for i, path := range []string{"groups.web", "groups.web", "groups.web.overrides.c", "vms.d", "groups.few", "groups.few"} {
		s.VMs = append(s.VMs, &schema.VM{Key: string(rune('a' + i)), Path: path})
	}
	for _, c := range []struct{ keys, want string }{
		{"abcef", "groups.web, for all of its VMs|groups.web, for all of its VMs|groups.web, for all of its VMs|groups.few.overrides.e|groups.few.overrides.f"},
		{"abd", "groups.web.overrides.a|groups.web.overrides.b|vms.d"},
		{"abcdef", strings.Repeat("|defaults, for all VMs of lab", 6)[1:]},
	} {
		var found []finding.Finding
		for _, v := range s.VMs {
			if strings.Contains(c.keys, v.Key) {
				f := finding.Finding{Address: finding.Address{Stack: "lab", Type: finding.VM, Key: v.Key}}
				found = append(found, *f.Next("write into specs/lab.yaml", specLine(v, "restart: true")))
			}
		}
		shareLines(&schema.Project{Stacks: []*schema.Stack{s}}, found)
		var got []string
		for _, f := range found {
			got = append(got, strings.TrimPrefix(f.Steps[0].Lines[0].Text, "restart: true  # "))
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s: %q, want %q", c.keys, got, c.want)
		}
	}
}
