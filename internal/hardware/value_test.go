package hardware

import (
	"testing"

	"stackgen/schema"
)

// TestTextIsData: what a cluster says is one text in a spec, whatever it is, alone and in braces.
func TestTextIsData(t *testing.T) {
	for _, text := range []string{"", " ", "a: b", "a #b", "#a", "- a", "!x", "&a", "*a", "yes", "No", "on", "y", "null", "~", "1e3", "0o7", "0x10", "1_000", "12:30:45", "2026-01-01", ".inf", "<<", "=",
		"a\nb: c\n---\n...", "a\r\nb", "\ta", "a\u0085b", "a\u2028b", "\x00\x1b[31m\x7f\u009b", "\ufeffa", "\u202ea\u200b", "\ufffe", "😀\U000e0001", `"a" 'b' \ \u0041`, "${x} %{y} $(z) `w`", "{a}, [b]", "%a", "@a", "`a", "|", ">-"} {
		for _, src := range []string{"k: " + Text(text), "k: {a: [" + Text(text) + ", x]}", "k: {" + Text(text+"k") + ": " + Text(text) + "}"} {
			n, problems := schema.ParseYAML("", []byte(src))
			if len(problems) > 0 {
				t.Errorf("%q: %v in %s", text, problems, src)
				continue
			}
			n = n.Get("k")
			for n.Shape == schema.ShapeMap || n.Shape == schema.ShapeList {
				n = n.Items[0]
			}
			if n.Shape != schema.ShapeString || n.Text != text {
				t.Errorf("%q: read as %s %q from %s", text, n.Shape, n.Text, src)
			}
		}
	}
}
