package deploy

import (
	"fmt"
	"strings"
	"testing"

	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/schema"
)

// chosenProject has a stack, a class, and a stack that only the lock has.
func chosenProject() *project.Project {
	stacks := []*schema.Stack{
		{Name: "web", VMs: []*schema.VM{{Key: "front", Path: "vms.front"}, {Key: "db1", Path: "groups.db"}, {Key: "db2", Path: "groups.db"}}},
		{Name: "cs101", VMs: []*schema.VM{{Key: "teacher", Path: "teacher"}, {Key: "ada", Path: "students", Member: "Ada L"}, {Key: "bo", Path: "students", Member: "Bo"}}},
		{Name: "old"},
	}
	l := &lock.Lock{}
	for _, s := range stacks {
		l.Stacks = append(l.Stacks, lock.Entry[lock.Stack]{Key: s.Name})
	}
	return &project.Project{Stacks: &schema.Project{Stacks: stacks}, Lock: l, Specs: map[string]string{"web": "specs/web.yaml", "cs101": "specs/cs101.yaml"},
		Selected: func(string) bool { return true }}
}

// TestChoose: what a command line names is exactly what a destroy is about.
func TestChoose(t *testing.T) {
	for _, c := range []struct {
		words, members string
		students       bool
		stacks, want   string
	}{
		{"", "", false, "web cs101 old", ""},
		{"web", "", false, "web", ""},
		{"old", "", false, "old", ""},
		{"web/db", "", false, "web", "map[web:[db1 db2]]"},
		{"db2 cs101/bo", "", false, "web cs101", "map[cs101:[bo] web:[db2]]"},
		{"cs101", "", true, "cs101", "map[cs101:[ada bo]]"},
		{"", "", true, "cs101", "map[cs101:[ada bo]]"},
		{"", "Ada L", false, "cs101", "map[cs101:[ada]]"},
		{"cs101", "bo", false, "cs101", "map[cs101:[bo]]"},
		{"web", "", true, "", "no class is selected that has students: web"},
		{"web cs101/bo", "", false, "", "web is a stack, and another argument is a part of one: destroy whole stacks by a command of their own"},
		{"cs101/bo", "", true, "", "--students is for all students of a class: name the class, and no VM or member"},
		{"cs101", "bo", true, "", "--students is for all students of a class: name the class, and no VM or member"},
		{"web", "Bo", false, "", `no roster of the selected stacks has the member "Bo"`},
		{"web/x", "", false, "", `stack web has no VM, container or group "x"`},
	} {
		p, q := chosenProject(), &Request{}
		var members []string
		if c.members != "" {
			members = []string{c.members}
		}
		err := q.Choose(p, strings.Fields(c.words), members, c.students)
		got, stacks := "", strings.Join(p.SelectedNames(), " ")
		switch {
		case err != nil:
			got, stacks = err.Error(), ""
		case q.Part != nil:
			got = fmt.Sprint(q.Part)
		}
		if got != c.want || stacks != c.stacks {
			t.Errorf("%q, members %q, students %v: %s of %s\nwant %s of %s", c.words, c.members, c.students, got, stacks, c.want, c.stacks)
		}
	}
}

// TestOnlySpecs: a destroy of a path leaves a stack alone that only the lock has.
func TestOnlySpecs(t *testing.T) {
	for paths, want := range map[string]string{"": "web cs101 old", "specs/web.yaml": "web"} {
		p, q := chosenProject(), &Request{Paths: strings.Fields(paths)}
		if paths != "" {
			p.Selected = func(stack string) bool { return stack != "cs101" } // as a path selects
		}
		q.onlySpecs(p)
		if got := strings.Join(p.SelectedNames(), " "); got != want {
			t.Errorf("%q: %s, want %s", paths, got, want)
		}
	}
	q := &Request{}
	if err := q.Choose(chosenProject(), []string{"web/db"}, nil, false); err != nil {
		t.Fatal(err)
	}
	if err := q.Whole("apply"); err == nil || !strings.Contains(err.Error(), "`stackgen apply web`") {
		t.Errorf("%v", err)
	}
}
