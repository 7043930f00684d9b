package edit

import "testing"

// TestRetire: a key is added to the list, and nothing else changes.
func TestRetire(t *testing.T) {
	for _, c := range []struct{ name, src, key, want string }{
		{"no list", "kind: Class # c\nstudents: {}\n", "bo", "kind: Class # c\nstudents: {}\nretired: [bo]\n"},
		{"no list, and no end of the last line", "kind: Class", "bo", "kind: Class\nretired: [bo]"},
		{"in brackets", "retired: [ana] # gone\nkind: Class\n", `"101"`, "retired: [ana, \"101\"] # gone\nkind: Class\n"},
		{"in lines", "retired:\n  - ana # gone\nkind: Class\n", "bo", "retired:\n  - ana # gone\n  - bo\nkind: Class\n"},
		{"Windows", "kind: Class\r\n", "bo", "kind: Class\r\nretired: [bo]\r\n"},
		{"without a value", "retired:\nkind: Class\n", "bo", "retired: [bo]\nkind: Class\n"},
		{"without a value, at the end", "kind: Class\nretired:", "bo", "kind: Class\nretired: [bo]"},
		{"without a value, and a comment", "retired: # none\r\nkind: Class\r\n", "bo", "retired: [bo] # none\r\nkind: Class\r\n"},
		{"no value", "retired: null # none\nkind: Class\n", "bo", "retired: [bo] # none\nkind: Class\n"},
		{"nobody", "retired: [ ] # none\nkind: Class\n", "bo", "retired: [bo] # none\nkind: Class\n"},
		{"a comment in it", "retired: [ # none\n]\nkind: Class\n", "bo", ""},
		{"in quotes", "\"retired\":\nkind: Class\n", "bo", ""},
		{"a space", "retired :\nkind: Class\n", "bo", ""},
		{"a tag", "retired: !!null\nkind: Class\n", "bo", ""},
		{"an anchor", "retired: &x\nkind: Class\n", "bo", ""},
		{"no list of keys", "retired: bo\nkind: Class\n", "bo", ""},
		{"in braces", "{kind: Class}\n", "bo", ""},
		{"an alias", "x: &x [ana]\nretired: *x\n", "bo", ""},
		{"no document", "", "bo", ""},
	} {
		got, err := Retire([]byte(c.src), c.key)
		if string(got) != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s: got %v\n%s\nwant\n%s", c.name, err, got, c.want)
		}
	}
}

// TestUnlist: exactly the student at the place leaves the roster.
func TestUnlist(t *testing.T) {
	for _, c := range []struct {
		name, src    string
		line, column int
		want         string
	}{
		{"in brackets", "students: {roster: [Ana Prva, Bo]} # c\n", 1, 31, "students: {roster: [Ana Prva]} # c\n"},
		{"the first one", "students: {roster: [Ana Prva, Bo]} # c\n", 1, 21, "students: {roster: [Bo]} # c\n"},
		{"in lines", "students:\n  roster:\n    - Ana Prva # a\n    - Bo\n  key: s{n}\n", 4, 7, "students:\n  roster:\n    - Ana Prva # a\n  key: s{n}\n"},
		{"a comment behind", "students:\n  roster:\n    - Ana\n    - Bo # b\n    - Cy\n", 4, 7, ""},
		{"a comment above", "students:\n  roster:\n    - Ana\n    # Bo\n    - Bo\n    - Cy\n", 5, 7, ""},
		{"a comment above the first one", "students:\n  roster:\n    # Bo\n    - Bo\n    - Cy\n", 4, 7, ""},
		{"a comment below", "students:\n  roster:\n    - Ana\n    - Bo\n    # Bo\n\n    - Cy\n", 4, 7, ""},
		{"a comment behind braces", "students:\n  roster:\n    - Ana\n    - {name: Bo} # b\n    - Cy\n", 4, 7, ""},
		{"a comment in a map", "students:\n  roster:\n    - Ana\n    - name: Bo\n      seat: 3 # b\n    - Cy\n", 4, 7, ""},
		{"comments of others", "students:\n  roster: # all\n    - Ana # a\n    - Bo\n    - Cy # c\n", 4, 7, "students:\n  roster: # all\n    - Ana # a\n    - Cy # c\n"},
		{"in two lines", "students:\n  roster: [Ana Prva,\n    Bo]\n", 3, 5, ""},
		{"the only one", "students: {roster: [Bo]}\n", 1, 21, ""},
		{"elsewhere", "students: {roster: [Ana, Bo]}\n", 1, 22, ""},
		{"no roster", "students: {count: 3}\n", 1, 12, ""},
	} {
		got, err := Unlist([]byte(c.src), c.line, c.column)
		if string(got) != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s: got %v\n%s\nwant\n%s", c.name, err, got, c.want)
		}
	}
	for _, c := range []struct {
		src  string
		line int
		want string
	}{
		{"name,x\nAna,1\nBo,2\n", 2, "name,x\nBo,2\n"},
		{"name;x\r\nAna;1\r\nBo;2", 3, "name;x\r\nAna;1\r\n"},
		{"name,x\n\"Ana\nPrva\",1\nBo,2\n", 2, ""},
		{"name\rAna\rBo", 3, ""},
		{"name\nAna\n", 0, ""},
	} {
		got, err := UnlistRow([]byte(c.src), c.line)
		if string(got) != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%q: got %v %q", c.src, err, got)
		}
	}
}
