package schema

import (
	"cmp"
	"slices"
	"strings"
)

// The resource types of the rendered modules.
const (
	VMResource     = "proxmox_virtual_environment_vm"
	PoolResource   = "proxmox_virtual_environment_pool"
	RecordResource = "dns_a_record_set"
)

// An Attribute is an attribute of a resource type, or a block of it, with the effect of
// its change.
type Attribute struct {
	Resource  string // its type
	HCL       string // disk.size
	Change    Effect
	Removal   Effect // of its removal
	Key       string // of the property of a VM that sets it; "" if none does
	Name      string // of the property with the key in it: disks.size
	DependsOn []Dependency
	Note      string // what the effect does not say, in a sentence
	Source    string // link to what decides the effect
	Function  string // that the link leads to
	Group     bool   // a block whose attributes are judged one by one, not as a whole

	block bool // whose attributes have rows of their own
}

// Attributes are all attributes and blocks of a resource type whose effect is known, in
// the order of the tables; none of another type.
func Attributes(resource string) []Attribute {
	out := attributeRows(resource)
	for i := range out {
		out[i].explain()
	}
	return out
}

// ResourceAttribute is the row about an attribute or block of a resource type, such as
// disk.size, or nil. A row of a block whose attributes have no rows is about all of them.
func ResourceAttribute(resource, path string) *Attribute {
	rows := attributeRows(resource)
	i := slices.IndexFunc(rows, func(a Attribute) bool { return a.HCL == path || !a.block && inBlock(path, a.HCL) })
	if i < 0 {
		return nil
	}
	rows[i].explain()
	return &rows[i]
}

// attributeRows are the attributes of a resource type without what the effects say.
func attributeRows(resource string) []Attribute {
	var out []Attribute
	switch resource {
	case VMResource:
		out = attributesOf(VMFields, "", "", "", "")
		for _, p := range Unsupported {
			if p.HCL != "" {
				out = append(out, Attribute{HCL: p.HCL, Change: p.Change, Removal: p.Removal})
			}
		}
		out = append(out, otherAttributes...)
	case PoolResource:
		out = slices.Clone(poolAttributes)
	case RecordResource:
		out = slices.Clone(recordAttributes)
	}
	for i := range out {
		a := &out[i]
		a.Resource, a.Removal, a.block = resource, cmp.Or(a.Removal, a.Change), a.block || a.Group
	}
	return out
}

// attributesOf are the attributes of rows. A row without an effect has that of the
// block that it is in.
func attributesOf(fields []Field, prefix, key, name string, inherited Effect) []Attribute {
	var out []Attribute
	for i := range fields {
		f := &fields[i]
		if f.HCL == "" {
			continue
		}
		of := cmp.Or(key, f.Key)
		at, change := strings.TrimPrefix(prefix+"."+f.HCL, "."), cmp.Or(f.Change, inherited)
		below := f.Fields
		if f.Type == List && f.Elem.Type == Object {
			below = f.Elem.Fields
		}
		named := strings.TrimPrefix(name+"."+f.Key, ".")
		out = append(out, Attribute{HCL: at, Change: change, Removal: f.Removal, Key: of, Name: named, block: len(below) > 0})
		out = append(out, attributesOf(below, at, of, named, change)...)
	}
	return out
}

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
	return path == block || strings.HasPrefix(path, block+".")
}
