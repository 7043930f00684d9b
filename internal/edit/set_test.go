package edit

import (
	"strings"
	"testing"
)

func TestSet(t *testing.T) {
	one := []Setting{{Key: "cores", Line: "cores: 4"}}
	two := []Setting{{Key: "cores", Line: "cores: 4"}, {Key: "disks", Line: "disks: [{interface: scsi0, size: 8}]"}}
	for _, c := range []struct {
		name, src, want string
		settings        []Setting
	}{
		{"block", "vms:\n  a:\n    name: x # the name\n    # the end\n  b: {}\n", "vms:\n  a:\n    name: x # the name\n    cores: 4\n    # the end\n  b: {}\n", one},
		{"block, there", "vms:\n  a:\n    # few\n    cores: 2  # or more\n    name: x\n", "vms:\n  a:\n    # few\n    cores: 4  # or more\n    name: x\n", one},
		{"block, a list in lines", "vms:\n  a:\n    disks:\n      - interface: scsi0\n        size: 32\n      - {interface: scsi1, size: 4}  # big\n    name: x\n", "", two},
		{"block, a list in lines without comments", "vms:\n  a:\n    disks:\n      - interface: scsi0\n        size: 32\n      - {interface: scsi1, size: 4}\n    # the name\n    name: x\n", "vms:\n  a:\n    disks: [{interface: scsi0, size: 8}]\n    # the name\n    name: x\n    cores: 4\n", two},
		{"last line without an end", "vms:\n  a:\n    name: x", "vms:\n  a:\n    name: x\n    cores: 4", one},
		{"after a list in lines", "vms:\n  a:\n    tags:\n      - x\n      - y\n  b: {}\n", "vms:\n  a:\n    tags:\n      - x\n      - y\n    cores: 4\n  b: {}\n", one},
		{"Windows", "vms:\r\n  a:\r\n    name: x\r\n", "vms:\r\n  a:\r\n    name: x\r\n    cores: 4\r\n", one},
		{"Windows, the last line without an end", "vms:\r\n  a:\r\n    name: x # c", "vms:\r\n  a:\r\n    name: x # c\r\n    cores: 4", one},
		{"Windows, braces with a comment", "vms:\r\n  a: {name: x} # c\r\n", "vms:\r\n  a:  # c\r\n    name: x\r\n    cores: 4\r\n    disks: [{interface: scsi0, size: 8}]\r\n", two},
		{"other ends of lines in a text", "note: \"x\u2028y\u0085z\rw\"\nvms:\n  a: {cores: 2}\n  b: {cores: 2}\n", "note: \"x\u2028y\u0085z\rw\"\nvms:\n  a: {cores: 4}\n  b: {cores: 2}\n", one},
		{"braces", "vms:\n  a: {name: x}  # c\n", "vms:\n  a: {name: x, cores: 4}  # c\n", one},
		{"braces, there", "vms:\n  a: {cores: 2, name: \"x, {y}\"}\n", "vms:\n  a: {cores: 4, name: \"x, {y}\"}\n", one},
		{"braces, many", "vms:\n  a: {name: x, tags: [a, b]}  # c\n  b: {}\n", "vms:\n  a:   # c\n    name: x\n    tags: [a, b]\n    cores: 4\n    disks: [{interface: scsi0, size: 8}]\n  b: {}\n", two},
		{"braces, many, one of them there", "vms:\n  a: {disks: [], name: x}\n", "vms:\n  a: {disks: [{interface: scsi0, size: 8}], name: x, cores: 4}\n", two},
		{"braces in lines", "vms:\n  a: {\n    name: x,\n  }\n", "vms:\n  a: {\n    name: x, cores: 4, disks: [{interface: scsi0, size: 8}],\n  }\n", two},
		{"empty braces", "vms:\n  a: {}\n", "vms:\n  a: {cores: 4}\n", one},
		{"empty braces, many", "vms:\n  a: {}\n  b: {}\n", "vms:\n  a:\n    cores: 4\n    disks: [{interface: scsi0, size: 8}]\n  b: {}\n", two},
		{"nothing", "vms:\n  a: # c\n", "vms:\n  a:  # c\n    cores: 4\n    disks: [{interface: scsi0, size: 8}]\n", two},
		{"all in braces", "vms: {a: {}, b: {}}\n", "vms: {a: {cores: 4, disks: [{interface: scsi0, size: 8}]}, b: {}}\n", two},
		{"merged", "x: &x {cores: 2}\nvms:\n  a:\n    <<: *x\n", "x: &x {cores: 2}\nvms:\n  a:\n    <<: *x\n    cores: 4\n", one},
		{"alias there", "x: &x 2\nvms:\n  a: {cores: *x }\n", "x: &x 2\nvms:\n  a: {cores: 4 }\n", one},
		{"apostrophes", "vms:\n  a: {description: don't, name: 'it''s'}\n", "vms:\n  a: {description: don't, name: 'it''s', cores: 4}\n", one},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Set([]byte(c.src), []string{"vms", "a"}, c.settings)
			if c.want == "" {
				if err == nil || !strings.Contains(err.Error(), "comments in it") {
					t.Errorf("got %v\n%s", err, got)
				}
				return
			}
			if err != nil || string(got) != c.want {
				t.Errorf("got %v\n%s\nwant\n%s", err, got, c.want)
			}
		})
	}
}

func TestSetRefuses(t *testing.T) {
	for src, want := range map[string]string{
		"x: &x {}\nvms:\n  a: *x\n": "alias",
		"vms:\n  b: {}\n":           "not written under vms",
		"vms:\n  a: 7\n":            "not a map",
		"vms:\n  a: {\n":            "does not parse",
		"":                          "no document",
		"vms:\n  a:\n    cores: &c 2\n  b: {cores: *c}\n":        "anchor",
		"vms:\n  a:\n    cores: |\n      2\n    name: x\n":       "cannot be edited: write it by hand: cores: 4",
		"vms:\n  a:\n    cores: !!int 2\n":                       "cannot be edited",
		"vms:\n  a: {\n    cores: {x: 1, # c\n    y: 2}\n  }\n":  "cannot be edited",
		"vms:\n  a:\n    cores: two words\n      on two lines\n": "cannot be edited",
		"vms:\n  a:\n    description: |\n      x\n":              "cannot be edited",
		"vms:\n  a:\n    cores: # the reason\n      2\n":         "a comment before its value",
		"vms:\n  a:\n    cores:\n      # the reason\n      2\n":  "a comment before its value",
		"vms:\n  a:\n    ? cores\n    : 2\n":                     "cannot be edited",
	} {
		got, err := Set([]byte(src), []string{"vms", "a"}, []Setting{{Key: "cores", Line: "cores: 4"}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s\n%s", src, err, want, got)
		}
	}
}

// TestBehindTheEnd: what is written behind the end of the document is not in it.
func TestBehindTheEnd(t *testing.T) {
	for _, src := range []string{"name: x\n...\n", "name: x\n...\n# end\n"} {
		if got, err := AddVMs([]byte(src), "vms", []NewVM{{"a", []string{"cores: 2"}}}); err == nil {
			t.Errorf("%q: AddVMs made\n%s", src, got)
		}
		if got, err := Retire([]byte(src), "a"); err == nil {
			t.Errorf("%q: Retire made\n%s", src, got)
		}
	}
}

// TestSetKeepsTheRest: what is below a text on several lines does not become a part of it, and a
// removed line does not take its end away.
func TestSetKeepsTheRest(t *testing.T) {
	for _, src := range []string{
		"vms:\n  a:\n    meta: |\n      text\n    tags:\n      - x\n      # of the tags\n    name: y\n",
		"vms:\n  a:\n    meta: |\n      text\n    tags: [x]",
	} {
		got, err := Set([]byte(src), []string{"vms", "a"}, []Setting{{Key: "tags"}})
		if err == nil || !strings.Contains(err.Error(), "a change of something else") {
			t.Errorf("%q: got %v\n%s", src, err, got)
		}
	}
}
