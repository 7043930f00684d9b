package schema

import (
	"strings"
	"testing"
)

// TestPaddedOrdinals: {n:02} has two digits in keys, names and other text.
func TestPaddedOrdinals(t *testing.T) {
	spec := `apiVersion: stackgen/v1
kind: Stack
name: a
naming: {pattern: "{stack}-{n:03}"}
defaults: {node: n, template: 9000}
groups:
  web: {count: 10, key: "web{n:02}", description: "number {n+95:03}"}
`
	vms, problems := joined(t, spec, nil)
	var got []string
	for _, v := range vms {
		got = append(got, v.Key+" "+v.Name+" "+v.Values.Get("description").Str())
	}
	want := "web01 a-001 number 096, web02 a-002 number 097, web03 a-003 number 098, web04 a-004 number 099, web05 a-005 number 100, " +
		"web06 a-006 number 101, web07 a-007 number 102, web08 a-008 number 103, web09 a-009 number 104, web10 a-010 number 105"
	if all := strings.Join(got, ", "); all != want || problems != "" {
		t.Errorf("got %s\n%s\nwant %s", all, problems, want)
	}
}

// TestOrdinalsLeaveOtherText: only {n} is replaced in text, whether another text has it or not. {name} is for keys.
func TestOrdinalsLeaveOtherText(t *testing.T) {
	for _, own := range []string{`description: "of {name} {key}"`, `description: "of {name} {key}", cloud_init: {user: "u{n}"}`} {
		vms, problems := joined(t, "apiVersion: stackgen/v1\nkind: Class\nname: a\ndefaults: {node: n}\ntemplate: 9000\n"+
			"students: {roster: [Ana], "+own+"}\n", nil)
		if problems != "" || len(vms) != 1 || vms[0].Key != "ana" || vms[0].Values.Get("description").Str() != "of {name} {key}" {
			t.Errorf("%s: got %+v\n%s", own, vms, problems)
		}
	}
}
