package schema

import (
	"bytes"
	"fmt"
	"reflect"
	"unicode"

	"stackgen/guest"
)

// schemaID names the JSON Schema. It is a URN because the schema is part of the
// program and has no address on the web.
const schemaID = "urn:stackgen:spec:v1"

// JSONSchema returns the JSON Schema (draft 2020-12) of a spec. It follows from
// the tables of the parser and agrees with it, except where JSON has no
// difference: between 2, 2.0 and 0x2, and between a key and its repetition.
func JSONSchema() ([]byte, error) {
	w := &schemaWriter{tables: []sharedTable{
		{name: "stack", title: "A stack", fields: fieldsOf(KindStack)},
		{name: "vm", title: "Properties of a VM", fields: VMFields},
		{name: "container", title: "Properties of a container", fields: ContainerFields, own: true},
		{name: "numbered-vm", title: "Properties of numbered VMs; text may hold {n}", fields: VMFields, ordinals: true},
	}}
	root := &jsonSchema{
		Dialect:     "https://json-schema.org/draft/2020-12/schema",
		ID:          schemaID,
		Title:       "stackgen spec",
		Description: "A project, a stack, a class or a template of VMs on Proxmox VE.",
		Type:        "object",
		Properties: jsonObject{
			{"apiVersion", &jsonSchema{Enum: []string{APIVersion}, Description: "Version of this format."}},
			{"kind", &jsonSchema{Enum: AllKinds, Description: "What the document is."}},
		},
		Required: []string{"apiVersion", "kind"},
	}
	for _, doc := range []struct{ kind, def string }{
		{KindProject, "project"}, {KindStack, "stack"}, {KindClass, "class"}, {KindTemplate, guest.Template},
	} {
		root.AllOf = append(root.AllOf, &jsonSchema{
			If:   &jsonSchema{Properties: jsonObject{{"kind", &jsonSchema{Const: doc.kind}}}, Required: []string{"kind"}},
			Then: &jsonSchema{Ref: "#/$defs/" + doc.def},
		})
	}
	root.Defs = jsonObject{
		{"ordinal", &jsonSchema{Description: "Text with the ordinal in it, such as web{n} or 10.0.0.{10+n}/24.",
			Type: "string", Pattern: ordinal.String(), AllOf: []*jsonSchema{{Pattern: formats["text"].pattern().String()}}}},
	}
	anyValue := &jsonSchema{Ref: "#/$defs/any"}
	root.Defs = append(root.Defs, jsonMember{"any", &jsonSchema{Description: "Any value, in which all text is without control characters.",
		Pattern: formats["text"].pattern().String(), Items: anyValue, AdditionalProperties: anyValue,
		PropertyNames: &jsonSchema{Pattern: formats["text"].pattern().String()}}})
	for _, t := range w.tables {
		root.Defs = append(root.Defs, jsonMember{t.name, w.object(t.fields, t.ordinals, t.name, t.title)})
	}
	root.Defs = append(root.Defs,
		jsonMember{"class", w.object(fieldsOf(KindClass), false, "class", "A class")},
		jsonMember{guest.Template, w.object(fieldsOf(KindTemplate), false, guest.Template, "A template that a node makes of an image")},
		jsonMember{"project", w.object(fieldsOf(KindProject), false, "project", "What all specs of a project share")})
	if w.err != nil {
		return nil, w.err
	}
	out, err := encode(root, "  ")
	return visible(out), err
}

// visible writes characters that have no visible form as JSON escapes. Patterns
// contain such characters, and JSON allows them only inside strings.
func visible(src []byte) []byte {
	var out bytes.Buffer
	for _, r := range string(src) {
		if r == '\n' || unicode.IsPrint(r) {
			out.WriteRune(r)
		} else {
			fmt.Fprintf(&out, "\\u%04x", r)
		}
	}
	return out.Bytes()
}

// A sharedTable has a definition of its own, which other places refer to.
type sharedTable struct {
	name, title string
	fields      []Field
	ordinals    bool
	own         bool // others refer to the table as a whole only
}

// has reports whether the table has the very same row.
func (t *sharedTable) has(f *Field) bool {
	own := find(t.fields, f.Key)
	return own != nil && reflect.DeepEqual(own, f)
}

type schemaWriter struct {
	tables []sharedTable
	err    error // the first row that could not be written
}

// object describes a map with the keys of a table. Within is the definition that
// contains it.
func (w *schemaWriter) object(fields []Field, ordinals bool, within, title string) *jsonSchema {
	s := &jsonSchema{Title: title, Type: "object", AdditionalProperties: false}
	for i := range fields {
		f := &fields[i]
		s.Properties = append(s.Properties, jsonMember{f.Key, w.row(f, ordinals, within)})
		if f.Required {
			s.Required = append(s.Required, f.Key)
		}
	}
	return s
}

// row describes the value of a row, by reference where a shared table has the
// same one: ordinals make no difference to a row without text.
func (w *schemaWriter) row(f *Field, ordinals bool, within string) *jsonSchema {
	ordinals = ordinals && f.holdsText()
	for i := range w.tables {
		if t := &w.tables[i]; !t.own && t.name != within && t.ordinals == ordinals && t.has(f) {
			return &jsonSchema{Ref: "#/$defs/" + t.name + "/properties/" + f.Key}
		}
	}
	s := w.value(f, ordinals, within)
	s.Description = f.Doc
	if f.Default == "" {
		return s
	}
	if f.Doc != "" {
		s.Description += " Default: " + f.Default + "."
	}
	n, problems := ParseYAML("default", []byte(f.Default))
	if n == nil {
		w.err = fmt.Errorf("default of %s: %v", f.Key, problems)
		return s
	}
	s.Default = nodeJSON(n)
	return s
}

// holdsText reports whether the row's value can contain text.
func (f *Field) holdsText() bool {
	return f.Type == String || f.Type == Object || f.Elem != nil && f.Elem.holdsText()
}

// value describes a value and its shorthands.
func (w *schemaWriter) value(f *Field, ordinals bool, within string) *jsonSchema {
	ordinals = ordinals || f.Ordinals
	long := w.long(f, ordinals, within)
	var short []*jsonSchema
	if f.Type == Object {
		switch {
		case f.On != "":
			short = append(short, &jsonSchema{Type: "boolean"})
		case f.Off:
			short = append(short, &jsonSchema{Const: false})
		}
		for _, key := range []string{f.ShortInt, f.Short} {
			if key != "" {
				short = append(short, w.value(find(f.Fields, key), ordinals, within))
			}
		}
	}
	if f.Wrap {
		short = append(short, w.value(f.Elem, ordinals, within))
	}
	if f.Type == String && f.Number {
		short = append(short, number("integer", f))
	}
	if short == nil {
		return long
	}
	return &jsonSchema{AnyOf: append(short, long)}
}

// long describes a value in its long form.
func (w *schemaWriter) long(f *Field, ordinals bool, within string) *jsonSchema {
	switch f.Type {
	case Bool:
		return &jsonSchema{Type: "boolean"}
	case Int:
		return number("integer", f)
	case Float:
		return number("number", f)
	case String:
		return text(f, ordinals)
	case List:
		return &jsonSchema{Type: "array", MaxItems: f.Most, Items: w.value(f.Elem, ordinals, within)}
	case Map:
		s := &jsonSchema{Type: "object", AdditionalProperties: w.value(f.Elem, ordinals, within)}
		if f.KeyIs != "" {
			s.PropertyNames = &jsonSchema{Description: formats[f.KeyIs].want, Pattern: formats[f.KeyIs].pattern().String()}
		}
		return s
	case Object:
		for _, t := range w.tables {
			if t.ordinals == ordinals && len(f.Fields) == len(t.fields) && &f.Fields[0] == &t.fields[0] {
				return &jsonSchema{Ref: "#/$defs/" + t.name}
			}
		}
		s := w.object(f.Fields, ordinals, within, "")
		if f.Containers != nil {
			is := &jsonSchema{Properties: jsonObject{{kindKey, &jsonSchema{Const: containerKind}}}, Required: []string{kindKey}}
			return &jsonSchema{If: is, Then: w.object(f.Containers, ordinals, within, ""), Else: s}
		}
		for _, key := range f.OneOf {
			s.OneOf = append(s.OneOf, &jsonSchema{Required: []string{key}})
		}
		return s
	}
	return &jsonSchema{Ref: "#/$defs/any"}
}

func number(kind string, f *Field) *jsonSchema {
	s := &jsonSchema{Type: kind}
	if f.Max != 0 {
		s.Minimum, s.Maximum = &f.Min, &f.Max
	}
	return s
}

// text describes text. Where ordinals are allowed, text with an ordinal passes:
// its format applies to the numbered text.
func text(f *Field, ordinals bool) *jsonSchema {
	is := jsonSchema{Enum: f.Enum, MaxLength: f.Most}
	if f.Format != "" {
		is.Pattern = formats[f.Format].pattern().String()
	}
	if ordinals && !f.Fixed && (is.Enum != nil || is.Pattern != "") {
		return &jsonSchema{Type: "string", AnyOf: []*jsonSchema{&is, {Ref: "#/$defs/ordinal"}}}
	}
	is.Type = "string"
	return &is
}
