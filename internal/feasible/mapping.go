package feasible

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/schema"
)

// mappingNouns are the kinds of resource mappings, and what each has of a node.
var mappingNouns = map[string][2]string{"pci": {"PCI", "device"}, "usb": {"USB", "device"}, "dir": {"directory", "directory"}}

// Mappings are the resource mappings that a spec names, by kind.
func Mappings(v *schema.VM) map[string][]string {
	out := map[string][]string{}
	for i := range schema.VMFields {
		if f := &schema.VMFields[i]; f.Maps != "" {
			out[f.Maps] = mappingsOf(v.Values, f)
		}
	}
	return out
}

// mappingsOf are the resource mappings that a property names.
func mappingsOf(values *schema.Node, f *schema.Field) (names []string) {
	if f.Maps == "" {
		return nil
	}
	for _, d := range values.Get(f.Key).List() {
		if name := d.Get(guest.Mapping).Str(); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// mappedBy are the resource mappings of a kind in a configuration.
func mappedBy(raw map[string]string, kind string) (names []string) {
	for key, value := range raw {
		if k, name := cluster.MappingOf(key, value); k == kind {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// mappings checks the resource mappings of devices and directories: Proxmox VE sets one that does not exist, and does not start
// the VM with it.
func (c *creation) mappings() {
	for i := range schema.VMFields {
		f := &schema.VMFields[i]
		for _, name := range c.newMappings(f) {
			c.mapping(f, name)
		}
	}
}

// newMappings are the mappings of a property that the next start needs, and that the VM does not run with.
func (c *creation) newMappings(f *schema.Field) []string {
	names, has := mappingsOf(c.vm.Values, f), mappedBy(c.configuration(), f.Maps)
	switch {
	case f.Maps == "":
		return nil
	case c.current == nil && !c.starts():
		return nil
	case c.current == nil && c.vm.Values.Get(f.Key) == nil || c.restarts && c.ignores(f.Key):
		return has // a clone has those of its template
	case c.current == nil || c.restarts:
		return names
	case c.ignores(f.Key) || c.current.Status != "running":
		return nil
	}
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(has, name) })
}

// mapping checks that a resource mapping exists, and that the node has what it names.
func (c *creation) mapping(f *schema.Field, name string) {
	m, read := c.inv.Mapping(f.Maps, name)
	noun, what := mappingNouns[f.Maps][0]+" mapping", mappingNouns[f.Maps][1]
	switch sees := c.inv.SeesMapping(f.Maps, name); {
	case m != nil && slices.Contains(m.Nodes, c.on), m == nil && read && !sees:
		return // without the privilege to use it, that is what is missing
	case m == nil && !read:
		if c.inv.Access != nil {
			c.addUnknown(fmt.Sprintf("whether the %s %s exists is not known: it could not be read", noun, name))
		}
		return
	case m == nil:
		c.add(fmt.Sprintf("the cluster has no %s %s, so Proxmox VE refuses to start it", noun, name),
			has(c.inv.MappingNames(f.Maps, "")), c.otherMapping(f, "create it")...)
		return
	}
	evidence := []string{"nodes that have one: " + cmp.Or(strings.Join(m.Nodes, ", "), "none")}
	c.add(fmt.Sprintf("%s %s has no %s on node %s, so Proxmox VE refuses to start it there", noun, name, what, c.on), evidence,
		c.otherMapping(f, fmt.Sprintf("add a %s of node %s to it", what, c.on), m.Nodes...)...)
}

// has is the evidence of what there is.
func has(names []string) []string {
	if len(names) == 0 {
		return nil
	}
	return []string{"it has " + strings.Join(names, ", ")}
}

// otherMapping are the remedies for a resource mapping that the node cannot use. nodes are those that can.
func (c *creation) otherMapping(f *schema.Field, create string, nodes ...string) []Remedy {
	what := create + " in the resource mappings of the data center, or write another one into SPEC"
	if names := c.inv.MappingNames(f.Maps, c.on); len(names) > 0 {
		what += ", one of " + strings.Join(names, ", ")
	}
	return append([]Remedy{{What: what, Text: f.Key + ": [{mapping: NAME}]"}},
		c.otherNodes(func(n *cluster.Node) bool { return slices.Contains(nodes, n.Name) })...)
}
