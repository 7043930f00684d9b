package schema

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"stackgen/guest"
)

// An Attribute is an attribute of a resource type, or a block of it, with the effect of
// its change.
type Attribute struct {
	Resource  string // its type
	HCL       string // disk.size
	Right     Right
	Change    Effect
	Removal   Effect // of its removal
	Key       string // of the property of a VM that sets it; "" if none does
	Name      string // of the property with the key in it: disks.size
	DependsOn []Dependency
	Note      string // what the effect does not say, in a sentence
	Source    string // link to what decides the effect
	Function  string // that the link leads to
	Group     bool   // a block whose attributes are judged one by one, not as a whole
	Why       string // no property sets it, in a sentence; "" if one does
	PVE       string // entries of a container's configuration that it is read from, without a number, if no property sets it
	Unset     string // the value of that entry which the provider uses without the attribute

	block bool // whose attributes have rows of their own
}

// Attributes are all attributes and blocks of a resource type whose effect is known, in
// the order of the tables; none of another type. They say what decides their effects.
func Attributes(resource string) []Attribute {
	out := slices.Collect(attributeRows(resource, ""))
	for i := range out {
		out[i].explain()
	}
	return out
}

// ResourceAttribute is the row about an attribute or block of a resource type, such as
// disk.size, or nil. A row of a block whose attributes have no rows is about all of them.
// It does not say what decides its effects: a plan of many VMs asks for a path some hundred
// thousand times.
func ResourceAttribute(resource, path string) *Attribute {
	for a := range attributeRows(resource, path) {
		if a.HCL == path || !a.block && inBlock(path, a.HCL) {
			return &a
		}
	}
	return nil
}

// attributeRows are the attributes of a resource type, without what decides their effects:
// all of them, or those that a path is in and those that are in it.
func attributeRows(resource, path string) iter.Seq[Attribute] {
	return func(yield func(Attribute) bool) {
		add := func(a Attribute) bool {
			a.Resource, a.Removal, a.block = resource, cmp.Or(a.Removal, a.Change), a.block || a.Group
			return yield(a)
		}
		fields, rows := tablesOf(resource)
		for _, f := range fields {
			if !attributesOf(f, Attribute{}, path, add) {
				return
			}
		}
		for i := range rows {
			if related(rows[i].HCL, path) && !add(rows[i]) {
				return
			}
		}
	}
}

// tablesOf are the tables of the properties that set attributes of a resource type, and the rows of
// the attributes that no property sets.
func tablesOf(resource string) (fields [][]Field, rows []Attribute) {
	switch resource {
	case guest.VMResource:
		for _, p := range Unsupported {
			if p.HCL != "" {
				rows = append(rows, Attribute{HCL: p.HCL, Change: p.Change, Removal: p.Removal, Right: p.Right, Why: p.Why})
			}
		}
		return [][]Field{VMFields}, append(rows, otherAttributes...)
	case guest.ContainerResource:
		return [][]Field{ContainerFields, {containerAddresses}}, containerAttributes
	case guest.PoolResource:
		return nil, poolAttributes
	case guest.RecordResource:
		return nil, recordAttributes
	}
	return nil, nil
}

// attributesOf yields the attributes of rows in a block until yield says no, which it
// reports. path is the one that they are related to, from the block on. A row without an
// effect has that of the block. The keys of an Object without HCL are attributes of the
// block around it.
func attributesOf(fields []Field, block Attribute, path string, yield func(Attribute) bool) bool {
	for i := range fields {
		f := &fields[i]
		if f.HCL == "" && len(f.Fields) == 0 || f.HCL != "" && !related(f.HCL, path) {
			continue
		}
		a, inside := f.attribute(block), path
		if f.HCL != "" {
			if !yield(a) {
				return false
			}
			inside = path[min(len(path), len(f.HCL)+1):]
		}
		if !attributesOf(f.rows(), a, inside, yield) {
			return false
		}
	}
	return true
}

// attribute is the attribute that a row of a block is about.
func (f *Field) attribute(block Attribute) Attribute {
	return Attribute{
		HCL:     joinHCL(block.HCL, f.HCL),
		Change:  cmp.Or(f.Change, block.Change),
		Removal: f.Removal,
		Right:   f.Right,
		Key:     cmp.Or(block.Key, f.Key),
		Name:    joinHCL(block.Name, f.Key),
		block:   len(f.rows()) > 0 || f.Rest,
	}
}

// rows are the rows of the attributes of a block; none for an attribute.
func (f *Field) rows() []Field {
	if f.Type == List && f.Elem.Type == Object && !f.Rest {
		return f.Elem.Fields
	}
	return f.Fields
}

// LeftOut are the attributes and blocks of a type of resource that no property sets, each with
// the reason.
func LeftOut(resource string) []Attribute {
	out := slices.DeleteFunc(Attributes(resource), func(a Attribute) bool { return a.Why == "" })
	slices.SortFunc(out, func(a, b Attribute) int { return strings.Compare(a.HCL, b.HCL) })
	return out
}

// related reports whether one of two paths is in the other; every path is, if the other
// one is empty.
func related(a, b string) bool { return b == "" || inBlock(a, b) || inBlock(b, a) }

// explain adds what decides the effect of an attribute, and what it depends on.
func (a *Attribute) explain() {
	var depends []Dependency
	for _, r := range effectRows {
		if r.effect == a.Change || r.effect == a.Removal {
			depends = append(depends, r.depends...)
		}
	}
	best := -1
	for i := range reasons {
		if r := &reasons[i]; r.resource == a.Resource && inBlock(a.HCL, r.hcl) && (best < 0 || len(r.hcl) > len(reasons[best].hcl)) {
			best = i
		}
	}
	if best >= 0 {
		r := &reasons[best]
		a.Source, a.Function = r.link(), r.function
		if r.depends != nil {
			depends = r.depends
		}
		if r.hcl == a.HCL {
			a.Note = r.note
		}
	}
	for _, d := range depends {
		if !slices.Contains(a.DependsOn, d) {
			a.DependsOn = append(a.DependsOn, d)
		}
	}
}

// inBlock reports whether a path is an attribute or block, or in that block.
func inBlock(path, block string) bool {
	rest, ok := strings.CutPrefix(path, block)
	return ok && (rest == "" || rest[0] == '.')
}
