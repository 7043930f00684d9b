package cluster

import (
	"slices"
	"strings"

	"stackgen/schema"
)

// hasFormat reports whether a storage of a type may have images of a format.
func (inv *Inventory) hasFormat(kind, format string) bool {
	return format == "" || format == "raw" || !StorageTypeOf(kind).Raw || kind == "lvm" && format == "qcow2" && inv.since(9, 0)
}

// formats checks that the storages of disks have images in the formats that the spec names.
// Of a VM that exists, only new disks count.
func (c *creation) formats() {
	for i, d := range c.get("disks").List() {
		if c.current == nil || c.current.Config.Raw[d.Get("interface").Str()] == "" {
			c.format("disks", d, func(d *schema.Node) *schema.Node { return replaceItem(c.get("disks"), i, d) })
		}
	}
	if efi := c.get("efi"); c.current == nil || c.current.Config.Raw["efidisk0"] == "" {
		c.format("efi", efi, func(efi *schema.Node) *schema.Node { return efi })
	}
}

// format checks the format of one disk. in is the property with another disk.
func (c *creation) format(field string, disk *schema.Node, in func(*schema.Node) *schema.Node) {
	id, format := disk.Get("datastore").Str(), disk.Get("format").Str()
	s := c.inv.storage(id, c.on)
	if s == nil || c.inv.hasFormat(s.Type, format) {
		return
	}
	var others []string
	for i := range c.inv.Storages {
		if x := &c.inv.Storages[i]; x.Node == c.on && x.Active && x.Images() && c.inv.hasFormat(x.Type, format) {
			others = append(others, x.ID)
		}
	}
	var remedies []Remedy
	if len(others) > 0 {
		other := in(set(disk, "datastore", scalar(schema.ShapeString, others[0])))
		remedies = []Remedy{{
			What:  "or write a storage that has them into SPEC, one of " + strings.Join(others, ", "),
			Field: field,
			Value: other,
		}}
	}
	remedies = slices.Insert(remedies, 0, c.write("leave out the format: write into SPEC", field, in(disk.Without("format"))))
	c.add("storage "+id+" has no disk images in format "+format, []string{id + " is of type " + s.Type}, remedies...)
}
