package edit

import (
	"strings"
	"testing"
)

// TestParts: only the named values of a property change, and no comment is lost.
func TestParts(t *testing.T) {
	grow := []Part{{Path: []string{"scsi0", "size"}, Text: "40"}}
	add := []Part{{Path: []string{"scsi1"}, Text: "{interface: scsi1, size: 8}"}}
	drop := []Part{{Path: []string{"scsi1"}}}
	const line = "disks: [{interface: scsi0, size: 8}]"
	for _, c := range []struct {
		name, src, want string
		key             string
		parts           []Part
	}{
		{"a value in lines", "    disks:\n      # the system\n      - interface: scsi0\n        size: 32  # GiB\n", "    disks:\n      # the system\n      - interface: scsi0\n        size: 40  # GiB\n", "disks", grow},
		{"a value in braces", "    disks: [{interface: scsi0, size: 32}]  # c\n", "    disks: [{interface: scsi0, size: 40}]  # c\n", "disks", grow},
		{"a new value in lines", "    disks:\n      - interface: scsi0 # c\n        ssd: true # d\n    name: x\n", "    disks:\n      - interface: scsi0 # c\n        ssd: true # d\n        size: 40\n    name: x\n", "disks", grow},
		{"a new value in braces", "    disks: [{interface: scsi0}, {interface: scsi1}]\n", "    disks: [{interface: scsi0, size: 40}, {interface: scsi1}]\n", "disks", grow},
		{"an item in lines", "    disks:\n      # the system\n      - interface: scsi0\n        size: 32 # c\n    # the name\n    name: x\n", "    disks:\n      # the system\n      - interface: scsi0\n        size: 32 # c\n      - interface: scsi1\n        size: 8\n    # the name\n    name: x\n", "disks", add},
		{"an item in braces", "    disks:\n      - {interface: scsi0, size: 32} # c\n    name: x\n", "    disks:\n      - {interface: scsi0, size: 32} # c\n      - {interface: scsi1, size: 8}\n    name: x\n", "disks", add},
		{"an item in brackets", "    disks: [{interface: scsi0, size: 32}] # c\n", "    disks: [{interface: scsi0, size: 32}, {interface: scsi1, size: 8}] # c\n", "disks", add},
		{"an item in lines, removed", "    disks:\n      - interface: scsi0 # c\n      - interface: scsi1\n        size: 8 # d\n    name: x\n", "    disks:\n      - interface: scsi0 # c\n    name: x\n", "disks", drop},
		{"an item in brackets, removed", "    disks: [{interface: scsi0}, {interface: scsi1}] # c\n", "    disks: [{interface: scsi0}] # c\n", "disks", drop},
		{"the first item in brackets, removed", "    disks: [{interface: scsi1}, {interface: scsi0}] # c\n", "    disks: [{interface: scsi0}] # c\n", "disks", drop},
		{"the only item, removed", "    disks: [{interface: scsi1, size: 4}]\n", "    disks: [{interface: scsi0, size: 8}]\n", "disks", drop},
		{"items by number", "    networks:\n      - {bridge: vmbr0}\n      - {bridge: vmbr1, vlan: 5} # c\n", "    networks:\n      - {bridge: vmbr0}\n      - {bridge: vmbr1} # c\n", "networks", []Part{{Path: []string{"1", "vlan"}}}},
		{"items that are text", "    tags:\n      - a # one\n      - b\n", "    tags:\n      - a # one\n      - c\n", "tags", []Part{{Path: []string{"b"}}, {Path: []string{"c"}, Text: "c"}}},
		{"a key, removed", "    startup:\n      order: 1\n      up: 30 # s\n    name: x\n", "    startup:\n      order: 1\n    name: x\n", "startup", []Part{{Path: []string{"up"}}}},
		{"the only key, removed", "    startup:\n      order: 1\n    name: x\n", "    name: x\n", "startup", []Part{{Path: []string{"order"}}}},
		{"a key of a part, added", "    agent: {enabled: true}\n", "    agent: {enabled: true, trim: true}\n", "agent", []Part{{Path: []string{"trim"}, Text: "true"}}},
		{"a shorthand is replaced", "    disks: none\n", "    disks: [{interface: scsi0, size: 8}]\n", "disks", grow},
		{"Windows", "    disks:\r\n      - interface: scsi0\r\n        size: 32\r\n", "    disks:\r\n      - interface: scsi0\r\n        size: 32\r\n      - interface: scsi1\r\n        size: 8\r\n", "disks", add},
		{"the last line without an end", "    disks:\n      - {interface: scsi0}\n      - {interface: scsi1}", "    disks:\n      - {interface: scsi0}", "disks", drop},
	} {
		t.Run(c.name, func(t *testing.T) {
			src, want := "vms:\n  a:\n"+c.src, "vms:\n  a:\n"+c.want
			whole := line
			if c.key != "disks" {
				whole = ""
			}
			got, err := Set([]byte(src), []string{"vms", "a"}, []Setting{{Key: c.key, Line: whole, Parts: c.parts}})
			if err != nil || string(got) != want {
				t.Errorf("got %v\n%s\nwant\n%s", err, got, want)
			}
		})
	}
}

// TestEntries: VMs that are not under vms, and properties that are removed.
func TestEntries(t *testing.T) {
	member, student := []string{"groups", "web", "overrides", "web2"}, []string{"students", "overrides", "bo"}
	cores := Setting{Key: "cores", Line: "cores: 4"}
	memory := Setting{Key: "memory", Line: "memory: 512"}
	for _, c := range []struct {
		name, src, want string
		at              []string
		settings        []Setting
	}{
		{"no overrides", "groups:\n  web:\n    count: 2 # c\n  db: {count: 1}\n", "groups:\n  web:\n    count: 2 # c\n    overrides:\n      web2: {cores: 4}\n  db: {count: 1}\n", member, []Setting{cores}},
		{"no overrides, two properties", "groups:\n  web:\n    count: 2 # c\n", "groups:\n  web:\n    count: 2 # c\n    overrides:\n      web2:\n        cores: 4\n        memory: 512\n", member, []Setting{cores, memory}},
		{"no overrides, in braces", "groups:\n  web: {count: 2} # c\n", "groups:\n  web: {count: 2, overrides: {web2: {cores: 4}}} # c\n", member, []Setting{cores}},
		{"other overrides", "students:\n  count: 2\n  overrides:\n    al: {cores: 2} # c\n", "students:\n  count: 2\n  overrides:\n    al: {cores: 2} # c\n    bo: {cores: 4}\n", student, []Setting{cores}},
		{"other overrides, in braces", "students: {count: 2, overrides: {al: {cores: 2}}}\n", "students: {count: 2, overrides: {al: {cores: 2}, bo: {cores: 4}}}\n", student, []Setting{cores}},
		{"empty overrides", "students:\n  overrides: # none\n  count: 2\n", "students:\n  overrides: {bo: {cores: 4}} # none\n  count: 2\n", student, []Setting{cores}},
		{"own overrides", "students:\n  overrides:\n    bo:\n      # few\n      cores: 2 # c\n", "students:\n  overrides:\n    bo:\n      # few\n      cores: 4 # c\n", student, []Setting{cores}},
		{"the teacher", "teacher:\n  cores: 2\nstudents: {count: 1}\n", "teacher:\n  cores: 4\nstudents: {count: 1}\n", []string{"teacher"}, []Setting{cores}},
		{"removed", "teacher:\n  cores: 2\n  memory: 512 # c\n", "teacher:\n  cores: 2\n", []string{"teacher"}, []Setting{{Key: "memory"}}},
		{"removed, the only one", "teacher: # t\n  memory: 512\nstudents: {count: 1}\n", "teacher: {} # t\nstudents: {count: 1}\n", []string{"teacher"}, []Setting{{Key: "memory"}}},
		{"removed, the only one, and another one", "teacher:\n  memory: 512\n", "teacher: {cores: 4}\n", []string{"teacher"}, []Setting{{Key: "memory"}, cores}},
		{"removed, in braces", "teacher: {cores: 2, memory: 512} # c\n", "teacher: {memory: 512} # c\n", []string{"teacher"}, []Setting{{Key: "cores"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Set([]byte(c.src), c.at, c.settings)
			if err != nil || string(got) != c.want {
				t.Errorf("got %v\n%s\nwant\n%s", err, got, c.want)
			}
		})
	}
	for src, want := range map[string]string{
		"x: &x {}\ngroups:\n  web: *x\n":             "alias",
		"groups:\n  web: &w {count: 2}\n  db: *w\n":  "alias that others share",
		"teacher:\n  cores: 2\n":                     "groups is not written in the spec",
		"groups:\n  web: {overrides: {web2: [a]}}\n": "not a map",
	} {
		if got, err := Set([]byte(src), member, []Setting{cores}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s\n%s", src, err, want, got)
		}
	}
	if _, err := Set([]byte("teacher: {cores: 2}\n"), []string{"teacher"}, []Setting{{Key: "memory"}}); err == nil || !strings.Contains(err.Error(), "inherits") {
		t.Error(err)
	}
}
