package deploy

import (
	"strings"
	"testing"

	"stackgen/internal/finding"
	"stackgen/internal/project"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// TestActionsInOrder checks that a summary names VMs as people count.
func TestActionsInOrder(t *testing.T) {
	a := &announcement{}
	for _, id := range []string{"b/teacher", "b/student1", "b/student10", "b/student2", "a/x"} {
		stack, key, _ := strings.Cut(id, "/")
		a.changes = append(a.changes, tf.Summary{Unit: tf.Unit{Stack: stack}, Type: finding.VM, Key: key, Action: tf.Create})
	}
	var got []string
	for _, action := range a.actions() {
		got = append(got, action.Stack+"/"+action.Name)
	}
	if want := "b/student1 b/student2 b/student10 b/teacher a/x"; strings.Join(got, " ") != want {
		t.Errorf("the order is %s, want %s", strings.Join(got, " "), want)
	}
}

// TestThenNote: the summary of the Templates says that another question follows.
func TestThenNote(t *testing.T) {
	p := &project.Project{Stacks: &schema.Project{Stacks: []*schema.Stack{{Name: "base", Kind: schema.KindTemplate}, {Name: "web"}}}}
	for want, q := range map[string]Request{
		"": {},
		"this applies the Templates only; then web, db: a second summary and question follow": {Then: []string{"web", "db"}},
		"this applies the Templates only; then web: they follow with a summary of their own":  {Then: []string{"web"}, Yes: true},
	} {
		r := &run{Request: q, p: p, stacks: []*stack{{name: "base"}}}
		if got := strings.Join(r.thenNote(), ""); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	last := &run{Request: Request{Then: []string{"base"}}, p: p, stacks: []*stack{{name: "web"}}}
	if got := strings.Join(last.thenNote(), ""); got != "templates leave after these VMs; then base: a second summary and question follow" {
		t.Errorf("a Template that is last: %q", got)
	}
	if r := (&run{Request: Request{Then: []string{"web"}, DryRun: true}}); r.thenNote() != nil {
		t.Error("a dry run asks nothing")
	}
}
