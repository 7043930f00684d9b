package schema

import "testing"

func TestBools(t *testing.T) {
	for text, want := range map[string]bool{"true": true, "True": true, "TRUE": true, "false": false, "False": false, "!!bool TRUE": true} {
		n, problems := ParseYAML("spec.yaml", []byte(text))
		if n == nil || n.Shape != ShapeBool || n.Bool() != want || n.Off() == want {
			t.Errorf("%s: %+v %v", text, n, problems)
		}
	}
	if n, _ := ParseYAML("spec.yaml", []byte("!!bool maybe")); n != nil {
		t.Errorf("!!bool maybe: %+v", n)
	}
}
