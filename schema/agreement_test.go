package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
)

// TestAgreement compares schema and parser with the expected result.
func TestAgreement(t *testing.T) {
	s := compileSchema(t)
	for _, c := range agreementCases {
		t.Run(c.name, func(t *testing.T) {
			text := c.document()
			problems, err := parserSays(text), schemaSays(t, s, text)
			if good := len(problems) == 0; good != c.good {
				t.Errorf("the parser says %v\n%s", problems, text)
			}
			if good := err == nil; good != c.good {
				t.Errorf("the schema says %v\n%s", err, text)
			}
		})
	}
}

// TestAgreementEverywhere puts values of all kinds at every place of every
// table: parser and schema must accept the same ones.
func TestAgreementEverywhere(t *testing.T) {
	s := compileSchema(t)
	asked, good := 0, 0
	seen := map[*Field]bool{}
	for _, kind := range []string{KindProject, KindStack, KindClass, KindTemplate} {
		root := &Field{Type: Object, Fields: fieldsOf(kind)}
		root.Fields[1].Enum = []string{kind}
		eachPlace(root, seen, func(v string) string { return v }, func(f *Field, at func(string) string) {
			for _, value := range candidates(f) {
				text := at(value)
				problems, err := parserSays(text), schemaSays(t, s, text)
				if (len(problems) == 0) != (err == nil) {
					t.Errorf("%s\nparser: %v\nschema: %v", text, problems, err)
				}
				asked++
				if err == nil {
					good++
				}
			}
		})
	}
	if good*10 < asked || good*10 > asked*9 {
		t.Errorf("%d of %d documents are good: the mix proves little", good, asked)
	}
	t.Logf("%d documents, %d good", asked, good)
}

// eachPlace calls visit for every value a document can hold. Its at returns the
// smallest good document with some value at that place. A table in
// several places is visited once.
func eachPlace(f *Field, seen map[*Field]bool, at func(string) string, visit func(*Field, func(string) string)) {
	visit(f, at)
	switch f.Type {
	case List:
		eachPlace(f.Elem, seen, func(v string) string { return at("[" + v + "]") }, visit)
	case Map:
		eachPlace(f.Elem, seen, func(v string) string { return at("{a1: " + v + "}") }, visit)
	case Object:
		if seen[&f.Fields[0]] {
			return
		}
		seen[&f.Fields[0]] = true
		for i := range f.Fields {
			sub := &f.Fields[i]
			eachPlace(sub, seen, func(v string) string { return at(needed(f.Fields, sub.Key, v)) }, visit)
		}
		for i := range f.Containers {
			if sub := &f.Containers[i]; sub.Key != kindKey {
				at := func(v string) string { return at("{kind: container, " + needed(f.Containers, sub.Key, v)[1:]) }
				eachPlace(sub, seen, at, visit)
			}
		}
	}
}

// needed writes a map with a key and the keys that its table requires.
func needed(fields []Field, key, value string) string {
	out := "{"
	for i := range fields {
		if f := &fields[i]; f.Required && f.Key != key {
			out += f.Key + ": " + example(f) + ", "
		}
	}
	if key == "" {
		return out + "}"
	}
	return out + key + ": " + value + "}"
}

// example returns a good value.
func example(f *Field) string {
	switch f.Type {
	case Bool:
		return "true"
	case Int, Float:
		return fmt.Sprint(max(f.Min, 1))
	case String:
		if len(f.Enum) > 0 {
			return f.Enum[0]
		}
		return fmt.Sprintf("%q", formatCases[f.Format].good[0])
	case List:
		return "[]"
	case Object:
		return needed(f.Fields, "", "")
	}
	return "{}"
}

// candidates returns values to put at a row's place: of every shape, and the
// row's own bounds, words and formats.
func candidates(f *Field) []string {
	out := []string{"null", "true", "False", "-1", "0", "1", "7", "150", "5000", "0.5", "''", "text", "yes", "'12'", "web{n}", "'{10+n}'", "'{m}'",
		"[]", "[text]", "[1]", "[null]", "[[]]", "{}", "{a: 1}", "{UPPER: {}}", "{'': {}}", example(f)}
	if f.Max != 0 {
		out = append(out, fmt.Sprint(f.Min-1), fmt.Sprint(f.Min), fmt.Sprint(f.Max), fmt.Sprint(f.Max+1))
	}
	for _, word := range f.Enum {
		out = append(out, word, word+"x", "["+word+"]")
	}
	for _, text := range append(formatCases[f.Format].good, formatCases[f.Format].bad...) {
		quoted, _ := json.Marshal(text) // text has no other way to be wrong
		out = append(out, string(quoted))
	}
	if f.KeyIs != "" {
		for _, key := range append(formatCases[f.KeyIs].good, formatCases[f.KeyIs].bad...) {
			quoted, _ := json.Marshal(key)
			out = append(out, fmt.Sprintf("{%s: %s}", quoted, example(f.Elem)))
		}
	}
	if f.Elem != nil {
		out = append(out, example(f.Elem), "["+example(f.Elem)+"]", "{k: "+example(f.Elem)+"}")
	}
	for i := range f.Fields {
		sub := &f.Fields[i]
		out = append(out, "{"+sub.Key+": "+example(sub)+"}")
		if sub.Key == f.Short || sub.Key == f.ShortInt {
			out = append(out, candidates(sub)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestOnlyTheParserSees lists the errors that a JSON Schema cannot express.
func TestOnlyTheParserSees(t *testing.T) {
	s := compileSchema(t)
	for _, body := range []string{
		"vms: {a: {cores: 2.0}}",
		"vms: {a: {cores: 1e1}}",
		"vms: {a: {cores: 0x2}}",
		"vms: {a: {cores: +2}}",
		"vms: {a: {cpu_limit: 1_0.5}}",
	} {
		text := agreementCase{kind: KindStack, body: body}.document()
		if err := schemaSays(t, s, text); err != nil {
			t.Errorf("the schema says %v\n%s", err, text)
		}
		if len(parserSays(text)) == 0 {
			t.Errorf("the parser takes\n%s", text)
		}
	}
}
