package schema

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
)

const attributesHead = `<!-- Generated from the tables in schema/ by "make golden". Do not edit. -->
# What a change of each attribute does

Every attribute of the resources that stackgen renders, by what its change does to a resource that exists. Preflight and the
guard judge changes by this table. [effects.md](effects.md) has what the changes did in real runs.

An attribute of a block is in the row of the block, unless it has a row of its own. Properties are described in
[spec.md](../spec.md); where there is none, stackgen does not render the attribute. The columns ` +
	"`removal`" + ` and ` + "`depends on`" + `
have a value where a removal has another effect than a change, and where the effect depends on something else than the
others of its section:

- ` + "`reboot_after_update`" + `: the provider restarts or stops the VM only if it is true. The property is ` + "`restart`" + `.
- ` + "`hotplug`" + `: the kinds of devices that a running VM takes and releases.
- ` + "`agent`" + `: a guest whose agent answers shuts down and releases devices.
- ` + "`running`" + `: a VM that is off has the new value when it starts.

The source is the code that decides the effect: of the provider where it sends the change or restarts the VM, otherwise of
Proxmox VE.
`

// AttributesPage returns the documentation of all attributes in Markdown, made from the
// tables: those of the VM by effect, the worst first.
func AttributesPage() []byte {
	w := &referenceWriter{}
	w.out.WriteString(attributesHead)
	w.out.WriteString("\n## VM\n\n`" + guest.VMResource + "`\n")
	vm := Attributes(guest.VMResource)
	for i := range effectRows {
		e := &effectRows[i]
		rows := slices.DeleteFunc(slices.Clone(vm), func(a Attribute) bool { return a.Change != e.effect })
		if len(rows) == 0 {
			continue
		}
		fmt.Fprintf(&w.out, "\n### %s\n\n%s", e.title, e.doc)
		if len(e.depends) > 0 {
			fmt.Fprintf(&w.out, " It depends on %s.", codes(e.depends))
		}
		w.out.WriteString("\n\n")
		w.attributes(rows, e.depends)
	}
	for _, r := range []struct{ title, resource string }{
		{"Container", guest.ContainerResource}, {"Pool", guest.PoolResource}, {"DNS record", guest.RecordResource},
	} {
		fmt.Fprintf(&w.out, "\n## %s\n\n`%s`\n\n", r.title, r.resource)
		w.row([]string{"attribute", "effect", "source", "note"})
		w.row(slices.Repeat([]string{"---"}, 4))
		for _, a := range Attributes(r.resource) {
			w.row([]string{"`" + a.HCL + "`", effectLink(a.Change), a.sourceLink(), escapeCell(a.Note)})
		}
	}
	return w.out.Bytes()
}

// attributes writes a table of attributes of the VM with one effect, which depends on
// what the text above the table says.
func (w *referenceWriter) attributes(rows []Attribute, above []Dependency) {
	w.row([]string{"attribute", "property", "removal", "depends on", "source", "note"})
	w.row(slices.Repeat([]string{"---"}, 6))
	for i := range rows {
		a := &rows[i]
		property, removal, depends := "", "", ""
		if a.Name != "" {
			property = "`" + a.Name + "`"
		}
		if a.Removal != a.Change {
			removal = effectLink(a.Removal)
		}
		if !slices.Equal(a.DependsOn, above) {
			depends = codes(a.DependsOn)
		}
		w.row([]string{"`" + a.HCL + "`", property, removal, depends, a.sourceLink(), escapeCell(a.Note)})
	}
}

func codes(depends []Dependency) string {
	words := make([]string, 0, len(depends))
	for _, d := range depends {
		words = append(words, "`"+string(d)+"`")
	}
	return strings.Join(words, ", ")
}

func (a *Attribute) sourceLink() string {
	return "[" + strings.ReplaceAll(a.Function, "_", `\_`) + "](" + a.Source + ")"
}

// effectLink refers to the section of an effect.
func effectLink(e Effect) string {
	i := slices.IndexFunc(effectRows, func(r effectRow) bool { return r.effect == e })
	return "[" + strings.ToLower(effectRows[i].title[:1]) + effectRows[i].title[1:] + "](#" + anchor(effectRows[i].title) + ")"
}
