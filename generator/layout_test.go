package generator

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2/hclwrite"
)

// TestSpacing compares the spacing of the builders with hclwrite's own.
func TestSpacing(t *testing.T) {
	mixed := object(pair{"a", number(1)}, pair{"bb-c", list(text("x${y}"), inline(pair{"k", boolean(true)}))}, pair{"*.x", null()})
	long := text(strings.Repeat("x", 70))
	disk := func() hclwrite.Tokens {
		return inline(pair{"interface", text("scsi0")}, pair{"datastore_id", long}, pair{"size", number(32)})
	}
	f := (&renderer{}).blockFile("test.hcl")
	for _, b := range []part{
		block("empty", nil),
		block("unit", []string{"a b", "c"},
			group(pair{"source", text("../x")}, pair{"p", index(ref("x"), "k")}, pair{"q", splat(ref("y", "z"))}),
			group(pair{"short", number(-5)}, pair{"nested", mixed}, pair{"x", inline()}, pair{"longer", object()}, pair{"last", object(pair{"deep", object(pair{"deeper", text("%{if}\n\"")})})}),
			nest(block("inner", nil, nest(block("most", []string{"x"}, group(pair{"a", stackPath("a/b.tf")}, pair{"bcd", list()})))))),
		block("long", nil, group(pair{"a", number(1)}, pair{"vms", object(
			pair{"short", inline(pair{"type", text("l26")})},
			pair{"object", inline(pair{"a", long}, pair{"b", inline(pair{"c", long}, pair{"ddd", number(1)})})},
			pair{"between", number(1)},
			pair{"one", list(disk())},
			pair{"two", list(disk(), inline(pair{"a", number(1)}), inline(pair{"a", long}, pair{"b", long}))},
			pair{"texts", texts([]string{"a", strings.Repeat("y", 120)})},
			pair{"text", text(strings.Repeat("z", 120))})})),
		block("sealed", nil, group(pair{"values", object(pair{"n", number(1)}, pair{"vms", object(
			pair{"a", seal(vmIndent, object(pair{"x", number(1)}, pair{"disk", list(disk())}))},
			pair{"bcd", seal(vmIndent, object(pair{"x", object(pair{"y", number(1)})}))})})})),
	} {
		f.add(b)
	}
	if want := hclwrite.Format(f.Body); !bytes.Equal(f.Body, want) {
		t.Errorf("spaced\n%s\nhclwrite formats it as\n%s", f.Body, want)
	}
	for line := range strings.Lines(string(f.Body)) {
		if len(line) > lineWidth+1 && strings.Count(line, ",") > 0 && !strings.Contains(line, "yyy") {
			t.Errorf("a line of %d columns could be broken: %s", len(line)-1, line)
		}
	}
	if err := f.parse(); err != nil {
		t.Errorf("%v\n%s", err, f.Body)
	}
	if t.Failed() || testing.Verbose() {
		t.Logf("%s", f.Body)
	}
}

// TestParse: a file is parsed whole, although in parts.
func TestParse(t *testing.T) {
	for name, b := range map[string]part{
		"in a block":        block("x", nil, group(pair{"a", ident("]")})),
		"in a sealed value": block("x", nil, group(pair{"a", seal(0, ident("]"))})),
		"after one":         block("x", nil, group(pair{"a", seal(0, object(pair{"b", number(1)}))}, pair{"c", ident("]")})),
		"before one":        block("x", nil, group(pair{"c", ident("]")}, pair{"a", seal(0, object(pair{"b", number(1)}))})),
	} {
		f := (&renderer{}).blockFile("test.hcl")
		f.add(block("first", nil, group(pair{"a", seal(0, number(1))})))
		f.add(b)
		f.add(block("last", nil))
		always := func(string) bool { return true }
		if err := Parse([]File{*f}, always); err == nil {
			t.Errorf("a mistake %s is not found in\n%s", name, f.Body)
		}
		if err := Parse([]File{*f}, func(string) bool { return false }); err != nil {
			t.Errorf("a file that is not written is parsed: %v", err)
		}
	}
}
