package cluster

import (
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/pve"
	"stackgen/schema"
)

// Mappings are the resource mappings of one kind that the credentials see. A kind that could not be read is in no inventory.
type Mappings struct {
	Kind string    `json:"kind"`           // pci, usb or dir
	List []Mapping `json:"list,omitempty"` // by name
}

// A Mapping is the name of a device or directory that nodes have.
type Mapping struct {
	Name  string   `json:"name"`
	Nodes []string `json:"nodes,omitempty"`
}

// Mapping is a resource mapping, or nil. read is false if those of its kind were not read.
func (inv *Inventory) Mapping(kind, name string) (m *Mapping, read bool) {
	i := slices.IndexFunc(inv.Mappings, func(l Mappings) bool { return l.Kind == kind })
	if i < 0 {
		return nil, false
	}
	for k := range inv.Mappings[i].List {
		if inv.Mappings[i].List[k].Name == name {
			return &inv.Mappings[i].List[k], true
		}
	}
	return nil, true
}

// MappingNames are the names of the mappings of a kind that a node has, or that there are, for no node.
func (inv *Inventory) MappingNames(kind, node string) []string {
	var out []string
	for _, l := range inv.Mappings {
		for _, m := range l.List {
			if l.Kind == kind && (node == "" || slices.Contains(m.Nodes, node)) {
				out = append(out, m.Name)
			}
		}
	}
	return out
}

// MappingOf is the kind and the name of the resource mapping that an entry of a VM's configuration names; empty if it names
// none.
func MappingOf(key, value string) (kind, name string) {
	prefix, _ := pve.SplitKey(key)
	i := slices.IndexFunc(schema.VMFields, func(f schema.Field) bool { return f.Maps != "" && strings.TrimSuffix(f.PVE, "*") == prefix })
	if i < 0 {
		return "", ""
	}
	f, e := &schema.VMFields[i], pve.Parse(value)
	for _, item := range f.Elem.Fields {
		if item.Key == guest.Mapping && item.Bare {
			name = e.Default(item.PVE)
		} else if item.Key == guest.Mapping {
			name = e.Option(item.PVE)
		}
	}
	if name == "" {
		return "", ""
	}
	return f.Maps, name
}

// MappingPath is the ACL path of a resource mapping.
func MappingPath(kind, name string) string { return "/mapping/" + kind + "/" + name }

// ModelPath is the ACL path of a CPU model that an administrator defines; "" for another one.
func ModelPath(cpu string) string {
	name, custom := strings.CutPrefix(cpu, pve.CustomPrefix)
	if !custom {
		return ""
	}
	return "/mapping/cpu/" + name
}

// SeesMapping reports whether a resource mapping would be listed. Who may only audit it cannot give it to a VM.
func (inv *Inventory) SeesMapping(kind, name string) bool {
	return inv.Access != nil && inv.Access.Rights.Has(MappingPath(kind, name), MappingUse)
}
