package generator

import (
	"testing"

	"github.com/hashicorp/hcl/v2/hclwrite"
)

// TestSpacing compares the spacing of the builders with hclwrite's own.
func TestSpacing(t *testing.T) {
	long := object(pair{"a", number(1)}, pair{"bb-c", list(text("x${y}"), inline(pair{"k", boolean(true)}))}, pair{"*.x", null()})
	blocks := []part{
		block("empty", nil),
		block("unit", []string{"a b", "c"},
			group(pair{"source", text("../x")}, pair{"p", conditional(call("f", ref("a", "b"), text("q")), index(ref("x"), "k"), splat(ref("y", "z")))}),
			group(pair{"short", number(-5)}, pair{"nested", long}, pair{"x", inline()}, pair{"longer", object()}, pair{"last", object(pair{"deep", object(pair{"deeper", text("%{if}\n\"")})})}),
			nest(block("inner", nil, nest(block("most", []string{"x"}, group(pair{"a", stackPath("a/b.tf")}, pair{"bcd", list()})))))),
	}
	for _, b := range blocks {
		got := string(hclwrite.Tokens(b).Bytes())
		if want := string(hclwrite.Format([]byte(got))); got != want {
			t.Errorf("spaced\n%s\nhclwrite formats it as\n%s", got, want)
		}
		if err := parse("test.hcl", []byte(got)); err != nil {
			t.Error(err)
		}
	}
}
