package edit

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestAddVMs(t *testing.T) {
	one := []NewVM{{"b", []string{"cores: 2"}}}
	for _, c := range []struct{ name, src, want string }{
		{"last", "vms:\n  a: {}\n", "vms:\n  a: {}\n  b: {cores: 2}\n"},
		{"comments", "vms:\n  # of the shop\n  a:\n    cores: 2 # few\n    # the end\n\n# tail\nretired: []\n", "vms:\n  # of the shop\n  a:\n    cores: 2 # few\n    # the end\n  b: {cores: 2}\n\n# tail\nretired: []\n"},
		{"deep", "vms:\n      a: {}\nname: x\n", "vms:\n      a: {}\n      b: {cores: 2}\nname: x\n"},
		{"no end of line", "vms:\n  a: {}", "vms:\n  a: {}\n  b: {cores: 2}"},
		{"Windows", "vms:\r\n  a: {}\r\nname: x\r\n", "vms:\r\n  a: {}\r\n  b: {cores: 2}\r\nname: x\r\n"},
		{"a text on several lines", "vms:\n  a:\n    description: |\n      vms:\n        c: {}\nname: x\n", "vms:\n  a:\n    description: |\n      vms:\n        c: {}\n  b: {cores: 2}\nname: x\n"},
		{"in braces", "vms: {a: {}}\n", "vms: {a: {}, b: {cores: 2}}\n"},
		{"in braces on several lines", "vms: {\n  a: {},\n}\n", "vms: {\n  a: {}, b: {cores: 2},\n}\n"},
		{"empty", "vms: {}  # none\nname: x\n", "vms:  # none\n  b: {cores: 2}\nname: x\n"},
		{"nothing", "vms:\nname: x\n", "vms:\n  b: {cores: 2}\nname: x\n"},
		{"nothing, Windows", "vms: # none\r\nname: x\r\n", "vms:  # none\r\n  b: {cores: 2}\r\nname: x\r\n"},
		{"null", "name: x\nvms: ~", "name: x\nvms:\n  b: {cores: 2}"},
		{"missing", "name: x\ngroups:\n  c: {count: 1}\n", "name: x\ngroups:\n  c: {count: 1}\nvms:\n  b: {cores: 2}\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := AddVMs([]byte(c.src), "vms", one)
			if err != nil || string(got) != c.want {
				t.Errorf("got %v\n%s\nwant\n%s", err, got, c.want)
			}
		})
	}
	for _, src := range []string{"", "x", "{vms: {}}\n", "x: &x {a: {}}\nvms: *x\n", "vms: &v {}\n", "vms: [a]\n", "vms: {\n"} {
		if got, err := AddVMs([]byte(src), "vms", one); err == nil {
			t.Errorf("%q: %s", src, got)
		}
	}
}

func TestFill(t *testing.T) {
	x := strings.Repeat("x", 50)
	for _, c := range []struct{ text, want string }{
		{"a: {one: 1, two: 2}", "  a: {one: 1, two: 2}"},
		{"a: {one: " + x + ", two: " + x + ", three: " + x + "}", "  a: {one: " + x + ", two: " + x + ",\n      three: " + x + "}"},
		{"a: {one: 1, two: [{b: " + x + "}, {b: " + x + "}, {c: " + x + "}], three: 3}", "  a: {one: 1,\n      two: [{b: " + x + "},\n        {b: " + x + "},\n        {c: " + x + "}], three: 3}"},
		{`a: {one: "` + strings.Repeat("}, {", 40) + `", two: 2}`, `  a: {one: "` + strings.Repeat("}, {", 40) + `",` + "\n      two: 2}"},
		{"a: " + x + x + x, "  a: " + x + x + x},
	} {
		got := Fill("  ", c.text)
		if got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
		var one, several any
		if err := errors.Join(yaml.Unmarshal([]byte(c.text), &one), yaml.Unmarshal([]byte(got), &several)); err != nil || !reflect.DeepEqual(one, several) {
			t.Errorf("%v: %v and %v", err, one, several)
		}
	}
}
