package pvesim

import (
	"cmp"
	"maps"
	"slices"
)

// mappings lists the resource mappings of a type that the caller may see.
func mappings(kind string) handler {
	return func(c *call) (any, error) {
		out := []object{}
		for _, m := range c.w.seed.Mappings {
			if m.Type != kind || !c.w.allowed(c.who, "/mapping/"+kind+"/"+m.ID, "Mapping.Modify", "Mapping.Use", "Mapping.Audit") {
				continue
			}
			list := []string{}
			for _, node := range m.Nodes {
				list = append(list, entryOf[kind]+",node="+node)
			}
			out = append(out, object{"id": m.ID, "map": list, "digest": digestOf(m.ID)})
		}
		return out, nil
	}
}

// entryOf is what a mapping of a type has of a node.
var entryOf = map[string]string{
	"dir": "path=/srv/share", "pci": "id=10de:2204,iommugroup=14,path=0000:01:00", "usb": "id=0951:1666",
}

// mappingOf is the type and the name of the mapping of an entry of a configuration, if it has one.
func mappingOf(k, v string) (kind, id string) {
	d := parseDrive(v)
	switch {
	case passedKey.MatchString(k):
		return "pci", d.opts["mapping"]
	case usbKey.MatchString(k):
		return "usb", d.opts["mapping"]
	case shareKey.MatchString(k):
		return "dir", cmp.Or(d.opts["dirid"], d.file)
	}
	return "", ""
}

// noMapping is why a node cannot use the mapping of an entry, or nil. Source: qemu-server 9.2, PVE::QemuServer::PCI, USB
// and Virtiofs; pve-guest-common, PVE::Mapping::Dir.
func (w *cluster) noMapping(node, k, v string) error {
	kind, id := mappingOf(k, v)
	if id == "" {
		return nil
	}
	i := slices.IndexFunc(w.seed.Mappings, func(m *Mapping) bool { return m.Type == kind && m.ID == id })
	switch {
	case i >= 0 && slices.Contains(w.seed.Mappings[i].Nodes, node):
		return nil
	case kind == "pci":
		return failf("PCI device mapping not found for '%s'", id)
	case kind == "usb":
		return failf("USB device mapping not found for '%s'", id)
	case i < 0:
		return failf("Directory ID %s does not exist.", id)
	}
	return failf("No directory mapping for node %s.", node)
}

// unmapped are the entries of a guest whose mapping a node does not have.
func (w *cluster) unmapped(g *Guest, node string) (keys []string) {
	for _, k := range slices.Sorted(maps.Keys(g.Config)) {
		if w.noMapping(node, k, g.Config[k]) != nil {
			keys = append(keys, k)
		}
	}
	return keys
}
