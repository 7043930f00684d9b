package selection

import (
	"strings"
	"testing"

	"stackgen/internal/lock"
	"stackgen/schema"
)

// twoStacks are web with a group, and a class with a roster.
func twoStacks() ([]*schema.Stack, *lock.Lock) {
	stacks := []*schema.Stack{
		{Name: "web", VMs: []*schema.VM{{Key: "front", Path: "vms.front"}, {Key: "db1", Path: "groups.db"}, {Key: "db2", Path: "groups.db.overrides.db2", Member: "Bo"}}},
		{Name: "cs101", VMs: []*schema.VM{{Key: "teacher", Path: "teacher"}, {Key: "ada", Path: "students", Member: "Ada L"}, {Key: "front", Path: "students", Member: "Bo"}}},
	}
	l := &lock.Lock{}
	for _, s := range stacks {
		entry := lock.Entry[lock.Stack]{Key: s.Name}
		for i, v := range s.VMs {
			entry.Value.VMs = append(entry.Value.VMs, lock.Entry[lock.VM]{Key: v.Key, Value: lock.VM{VMID: 100 + i, Email: strings.ToLower(v.Key) + "@example.org"}})
		}
		l.Stacks = append(l.Stacks, entry)
	}
	return stacks, l
}

func TestSelect(t *testing.T) {
	stacks, l := twoStacks()
	all := Of(stacks, l, nil, func(string) bool { return true })
	for _, c := range []struct{ words, members, want string }{
		{"", "", "web/front web/db1 web/db2 cs101/teacher cs101/ada cs101/front"},
		{"web", "", "web/front web/db1 web/db2"},
		{"web/db", "", "web/db1 web/db2"},
		{"web/db2 cs101/ada", "", "web/db2 cs101/ada"},
		{"web/db web/db1", "", "web/db1 web/db2"},
		{"ada", "", "cs101/ada"},
		{"", "ada l", "cs101/ada"},
		{"", "FRONT@example.org", "cs101/front"},
		{"cs101/teacher", "Bo", "cs101/teacher cs101/front"},
		{"cs101", "Ada L", "cs101/ada"},
		{"", "Bo", `several VMs have the member "Bo": name one of web/db2, cs101/front`},
		{"cs101/front cs101", "Ada L", "cs101/ada cs101/front"},
		{"front", "", `several stacks have a VM or container "front": name one of web/front, cs101/front`},
		{"wbe", "", `"wbe" is no path, no stack and no key of a VM or container; did you mean "web"?; stacks: web, cs101`},
		{"wbe/db1", "", `"wbe/db1" is no path, and there is no stack "wbe"; did you mean "web"?; stacks: web, cs101`},
		{"web/dbx", "", `stack web has no VM, container or group "dbx"; did you mean "db1"?`},
		{"web", "Ada L", `no roster of the selected stacks has the member "Ada L"`},
		{"", "Aba L", `no roster of the selected stacks has the member "Aba L"; did you mean "Ada L"?`},
	} {
		words, err := Qualify(stacks, strings.Fields(c.words))
		var got []string
		if err == nil {
			var members []string
			if c.members != "" {
				members = []string{c.members}
			}
			var chosen []VM
			chosen, err = Select(all, words, members)
			for i := range chosen {
				got = append(got, chosen[i].String())
			}
		}
		text := strings.Join(got, " ")
		if err != nil {
			text = err.Error()
		}
		if text != c.want {
			t.Errorf("%q, members %q: %s\nwant %s", c.words, c.members, text, c.want)
		}
	}
}

// TestSingle: a stack needs --all, and --all a stack.
func TestSingle(t *testing.T) {
	stacks, l := twoStacks()
	all := Of(stacks, l, nil, func(string) bool { return true })
	for _, c := range []struct {
		words, members string
		all            bool
		want           string
	}{
		{"web/db web/front", "", false, "web/front"},
		{"cs101", "bo", false, "cs101/front"},
		{"web web/db1", "", true, "web/db1"},
		{"", "", true, ""},
		{"web", "", false, "web is a stack: give --all for all of its VMs, or name them: web/KEY or web/GROUP"},
		{"web/db1", "", true, "--all is for all VMs of a stack, and no stack is named: web/db1"},
	} {
		chosen, err := Select(all, strings.Fields(c.words), strings.Fields(c.members))
		if err != nil {
			t.Fatal(err)
		}
		named, err := Single(chosen, strings.Fields(c.words), strings.Fields(c.members), c.all)
		got := strings.Join(named, " ")
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q: %s, want %s", c.words, got, c.want)
		}
	}
}
