package deploy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/schema"
)

// SameTemplate refuses a rebuild of VMs, each as STACK/KEY, that a command line wants from another
// template than the specs: the next apply and preflight judge by the specs. want is a VMID, a name
// or NAME@RELEASE; empty is what the specs say. The error says which line to change.
func SameTemplate(p *project.Project, vms []string, want string) error {
	if want == "" {
		return nil
	}
	var others []string
	var first *schema.VM
	for _, s := range p.SelectedStacks() {
		l := p.Lock.Stacks.Get(s.Name)
		keys := of(s.Name, vms)
		for _, v := range s.VMs {
			if l == nil || !slices.Contains(keys, v.Key) {
				continue
			}
			if e := l.VMs.Get(v.Key); e == nil || !isTemplate(e.Template, want) {
				if others = append(others, s.Name+"/"+v.Key); first == nil {
					first = v
				}
			}
		}
	}
	switch {
	case first == nil:
		return nil
	case first.Template == nil:
		return fmt.Errorf("--template %s: %s has no template in its spec, at %s", want, some(others), first.Pos)
	}
	return fmt.Errorf("--template %s is not what the spec says for %s: write `template: %s` at %s, run `stackgen render`, "+
		"then run the same command again; nothing was changed", want, some(others), templateText(want), first.Template.Pos)
}

// isTemplate reports whether a template is the one that a word names.
func isTemplate(t *lock.Template, want string) bool {
	if t == nil {
		return false
	}
	name, release, pinned := strings.Cut(want, "@")
	return strconv.Itoa(t.VMID) == want || t.Name != "" && t.Name == name && (!pinned || t.Release == release)
}

// templateText is the value of the property for a word.
func templateText(want string) string {
	if name, release, pinned := strings.Cut(want, "@"); pinned {
		return fmt.Sprintf("{name: %s, release: %q}", name, release)
	}
	return want
}
