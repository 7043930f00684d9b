package generator

import (
	"strings"
	"testing"
)

func TestWithoutCommon(t *testing.T) {
	unit := func(name string, lines ...string) string {
		return "unit \"" + name + "\" {\n\n  values = {\n    vms = {\n" + strings.Join(lines, "") + "    }\n  }\n}\n"
	}
	vm := func(key, name string) string {
		return "      " + key + " = {\n        name = \"" + name + "\"\n      }\n"
	}
	for name, c := range map[string]struct{ before, after, indent, b, a string }{
		"equal files":         {unit("x", vm("a", "1")), unit("x", vm("a", "1")), "", "", ""},
		"another unit":        {unit("x") + unit("y", vm("a", "1")), unit("x") + unit("y", vm("a", "2")), "", unit("y", vm("a", "1")), unit("y", vm("a", "2"))},
		"one VM changes":      {unit("x", vm("a", "1"), vm("b", "1")), unit("x", vm("a", "1"), vm("b", "2")), "      ", unit("x", vm("b", "1")), unit("x", vm("b", "2"))},
		"one VM is removed":   {unit("x", vm("a", "1"), vm("b", "1")), unit("x", vm("b", "1")), "      ", unit("x", vm("a", "1")), unit("x")},
		"the file is gone":    {unit("x", vm("a", "1")), "", "", unit("x", vm("a", "1")), ""},
		"an object is open":   {"      a = {\n", "      a = {\n", "      ", "      a = {\n", "      a = {\n"},
		"a conflict":          {"<<<<<<< a\n" + unit("x"), unit("x"), "", "<<<<<<< a\n", ""},
		"a header, no object": {"# one\n\n" + unit("x"), "# two\n\n" + unit("x"), "", "# one\n\n", "# two\n\n"},
	} {
		b, a := withoutCommon([]byte(c.before), []byte(c.after), c.indent)
		if string(b) != c.b || string(a) != c.a {
			t.Errorf("%s: got\n%s\nand\n%s\nwant\n%s\nand\n%s", name, b, a, c.b, c.a)
		}
	}
}
