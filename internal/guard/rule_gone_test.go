package guard

import (
	"strings"
	"testing"

	"stackgen/internal/tf"
	"stackgen/schema"
)

func goneCases() []ruleCase {
	return []ruleCase{
		{"gone", onlyState, nil, "qmrestore BACKUP 100"},
		{"gone: it has another VMID now", onlyState, (*scene).renumbered, "stackgen adopt lab/web1=300"},
		{"gone: it has another VMID now", nowhere, (*scene).renumbered, "stackgen adopt lab/web1=300"},
	}
}

// TestRetireKeepsOthers: a line of the spec replaces the one that is there, so it has what that has.
func TestRetireKeepsOthers(t *testing.T) {
	in := input([]tf.Resource{inState("web1", 100)})
	in.Project.Stacks[0].Retired = []schema.ListItem{{Name: "old"}}
	found := false
	for _, f := range Judge(in) {
		for _, s := range f.Steps {
			for _, l := range s.Lines {
				found = found || l.String() == "retired: [old, web1]"
				if strings.HasPrefix(l.String(), "retired: [web1") {
					t.Errorf("it drops others: %s", l)
				}
			}
		}
	}
	if !found {
		t.Error("no line retires web1")
	}
}
