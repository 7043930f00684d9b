package schema

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"stackgen/guest"
)

const referenceHead = `<!-- Generated from the tables in schema/ by "make golden". Do not edit. -->
# The spec

A spec is a YAML document. Its ` + "`kind`" + ` is [Stack](#stack), [Class](#class), [Template](#template) or [Project](#project).
The Project is ` + "`stackgen.yaml`" + `: it has the settings that all specs of the project share. Unknown keys are errors.

Defaults, group and VM are merged in this order: maps key by key; a list or any other value replaces the earlier one.
Exceptions are noted. Paths are relative to the spec.

The HCL column is the attribute of ` + "`" + guest.VMResource + "`" + ` that gets the value; in the section
[Container](#container), of ` + "`" + guest.ContainerResource + "`" + `.
`

// Reference returns the reference of the spec in Markdown, made from the tables.
func Reference() []byte {
	w := &referenceWriter{titles: map[*Field]string{}}
	w.out.WriteString(referenceHead)
	for _, kind := range AllKinds {
		w.section(refTable{title: kind, fields: fieldsOf(kind)})
	}
	w.leftOut()
	w.out.WriteString("\n## Problems\n\nEvery problem ends with its code.\n\n| code | meaning |\n| --- | --- |\n")
	for _, c := range Codes {
		fmt.Fprintf(&w.out, "| `%s` | %s |\n", c.Code, escapeCell(c.Doc))
	}
	return w.out.Bytes()
}

// containerTitle is the title of the section with the properties of containers.
const containerTitle = "Container"

// leftOut writes the attributes that a spec cannot set, with the reasons.
func (w *referenceWriter) leftOut() {
	fmt.Fprintf(&w.out, "\n## Left out\n\nAttributes and blocks of `%s` that no property sets:\n\n", guest.VMResource)
	w.row([]string{"attribute", "why"})
	w.row(slices.Repeat([]string{"---"}, 2))
	for _, a := range LeftOut(guest.VMResource) {
		w.row([]string{"`" + a.HCL + "`", escapeCell(a.Why)})
	}
	fmt.Fprintf(&w.out, "\nThose of `%s`:\n\n", guest.ContainerResource)
	w.row([]string{"attribute", "why"})
	w.row(slices.Repeat([]string{"---"}, 2))
	for _, a := range LeftOut(guest.ContainerResource) {
		w.row([]string{"`" + a.HCL + "`", escapeCell(a.Why)})
	}
}

// A refTable is a table to write, with its heading and its place in the HCL.
type refTable struct {
	title    string
	hcl      string // where its rows go
	fields   []Field
	ordinals bool

	containers bool // an object that may say kind: container
}

type referenceWriter struct {
	out    bytes.Buffer
	titles map[*Field]string // of the sections there are, by their table's first row
}

// section writes a table, then the tables that its rows refer to for the first time.
func (w *referenceWriter) section(t refTable) {
	w.titles[&t.fields[0]] = t.title
	level := "###"
	if slices.Contains(append(slices.Clone(AllKinds), "VM", containerTitle), t.title) {
		level = "##"
	}
	fmt.Fprintf(&w.out, "\n%s %s\n\n", level, t.title)
	if t.ordinals {
		w.out.WriteString("Text may hold the ordinal, counted from 1: `web{n}`, `10.0.0.{10+n}/24`, and `web{n:02}` for web01.\n\n")
	}
	rows, known := w.inherited(t)
	if t.containers {
		fmt.Fprintf(&w.out, "With `%s: %s`, a group has all keys of a [%s](#%s) instead of those of a VM.\n\n",
			kindKey, containerKind, containerTitle, anchor(containerTitle))
	}
	if known != "" {
		w.out.WriteString(known + "\n\n")
	}
	if len(rows) == 0 {
		return
	}
	hcl := slices.ContainsFunc(rows, func(f Field) bool { return f.HCL != "" })
	head := []string{"key", "value", "default", "meaning"}
	if hcl {
		head = slices.Insert(head, 3, "HCL")
	}
	w.row(head)
	w.row(slices.Repeat([]string{"---"}, len(head)))
	var next []refTable
	for i := range rows {
		f := &rows[i]
		cells := []string{"`" + f.Key + "`", w.value(f, t, &next), defaultCell(f), meaning(f)}
		if hcl {
			cells = slices.Insert(cells, 3, hclCell(t.hcl, f))
		}
		w.row(cells)
	}
	for _, sub := range next {
		w.section(sub)
	}
}

func (w *referenceWriter) row(cells []string) {
	w.out.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

// inherited removes the rows that another section explains, and refers to it.
func (w *referenceWriter) inherited(t refTable) (rows []Field, known string) {
	for _, base := range []sharedTable{{name: "VM", fields: VMFields}, {name: KindStack, fields: fieldsOf(KindStack)}} {
		if base.name == t.title {
			continue
		}
		var same []string
		rows = nil
		for _, f := range t.fields {
			if base.has(&f) {
				same = append(same, "`"+f.Key+"`")
			} else {
				rows = append(rows, f)
			}
		}
		link := "[" + base.name + "](#" + anchor(base.name) + ")"
		switch {
		case len(same) >= len(base.fields)-1: // all but kind
			return rows, "All keys of a " + link + ", and:"
		case len(same) > 3:
			return rows, "These keys of a " + link + ": " + strings.Join(same, ", ") + ". And:"
		}
	}
	return t.fields, ""
}

// value says which values a row accepts, and adds tables that need a section.
func (w *referenceWriter) value(f *Field, t refTable, next *[]refTable) string {
	as := refTable{title: w.title(t, f), hcl: joinHCL(t.hcl, f.HCL), ordinals: t.ordinals || f.Ordinals}
	return strings.Join(w.ways(f, as, next), ", or ")
}

// ways lists the ways in which a value can be written.
func (w *referenceWriter) ways(f *Field, as refTable, next *[]refTable) []string {
	elem := func() string { return strings.Join(w.ways(f.Elem, as, next), ", or ") }
	switch f.Type {
	case List:
		if f.Wrap {
			return []string{elem(), "a list of these"}
		}
		return []string{"list: " + elem()}
	case Map:
		return []string{"map of " + keyWords(f.KeyIs) + " to " + elem()}
	case Object:
		var ways []string
		switch {
		case f.On != "":
			ways = append(ways, "`true`", "`false`")
		case f.Off:
			ways = append(ways, "`false`")
		}
		for _, short := range []string{f.ShortInt, f.Short} {
			if short != "" {
				ways = append(ways, "its `"+short+"`")
			}
		}
		return append(ways, w.link(f, as, next))
	case String:
		if len(f.Enum) > 0 {
			return []string{"`" + strings.Join(f.Enum, "`, `") + "`"}
		}
	}
	return []string{escapeCell(f.want())}
}

// link refers to the section of an Object's table, and adds it if it is missing.
func (w *referenceWriter) link(f *Field, as refTable, next *[]refTable) string {
	first := &f.Fields[0]
	if w.titles[first] == "" {
		as.fields, as.containers = f.Fields, f.Containers != nil
		switch first {
		case &VMFields[0]:
			as = refTable{title: "VM", fields: VMFields}
		case &ContainerFields[0]:
			as = refTable{title: containerTitle, fields: ContainerFields}
		}
		w.titles[first] = as.title
		*next = append(*next, as)
	}
	return "[map](#" + anchor(w.titles[first]) + ")"
}

func keyWords(format string) string {
	name, _, _ := strings.Cut(formats[format].want, ":")
	return strings.TrimPrefix(name, "a ")
}

// title names the section of a row's table. A key of a kind is its own title, unless a table of another kind
// has it.
func (w *referenceWriter) title(t refTable, f *Field) string {
	if slices.Contains(AllKinds, t.title) && !slices.Contains(slices.Collect(maps.Values(w.titles)), f.Key) {
		return f.Key
	}
	return t.title + ": " + f.Key
}

// anchor is the fragment that Markdown viewers give a heading.
func anchor(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-':
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}

func defaultCell(f *Field) string {
	switch {
	case f.Required:
		return "required"
	case f.Default == "":
		return ""
	}
	return "`" + strings.ReplaceAll(f.Default, "|", `\|`) + "`"
}

func meaning(f *Field) string {
	if f.Whole {
		return escapeCell(f.Doc) + " Replaced as a whole."
	}
	return escapeCell(f.Doc)
}

func hclCell(prefix string, f *Field) string {
	if f.HCL == "" {
		return ""
	}
	cell := "`" + joinHCL(prefix, f.HCL) + "`"
	if f.As != "" && f.As != "set" {
		cell += " (" + strings.ReplaceAll(f.As, "|", " or ") + ")"
	}
	return cell
}

func joinHCL(prefix, name string) string { return strings.Trim(prefix+"."+name, ".") }

// escapeCell escapes Markdown in text, except in code spans, where only the border
// of the cell needs it.
func escapeCell(text string) string {
	var out strings.Builder
	code := false
	for _, r := range text {
		if r == '`' {
			code = !code
		}
		if r == '|' || !code && strings.ContainsRune(`*_<[`, r) {
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	return out.String()
}
