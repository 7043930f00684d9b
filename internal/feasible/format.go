package feasible

import (
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/pve"
	"stackgen/schema"
)

// hasFormat reports whether a storage may have images of a format.
func hasFormat(inv *cluster.Inventory, s *cluster.Storage, format string) bool {
	return format == "" || format == "raw" || !cluster.StorageTypeOf(s.Type).Raw || mayChain(inv, s, format) && chains(inv, s)
}

// mayChain reports whether a storage has images of a format with an option that somebody may set.
func mayChain(inv *cluster.Inventory, s *cluster.Storage, format string) bool {
	return s.Type == "lvm" && format == "qcow2" && inv.Since(9, 0)
}

// chains reports whether a storage has that option, or that is not known.
func chains(inv *cluster.Inventory, s *cluster.Storage) bool {
	d := inv.Datastore(s.ID)
	return d == nil || d.Chain
}

// formats checks that the storages of disks have images in the formats that the spec names.
// Of a VM that exists, only new disks count.
func (c *creation) formats() {
	for i, d := range c.get(guest.Disks).List() {
		if c.current == nil || c.current.Config.Raw[d.Get(guest.Interface).Str()] == "" {
			c.format(guest.Disks, d, func(d *schema.Node) *schema.Node { return replaceItem(c.get(guest.Disks), i, d) })
		}
	}
	if efi := c.get(guest.EFI); c.current == nil || c.current.Config.Raw["efidisk0"] == "" {
		c.format(guest.EFI, efi, func(efi *schema.Node) *schema.Node { return efi })
	}
}

// format checks the format of one disk. in is the property with another disk.
func (c *creation) format(field string, disk *schema.Node, in func(*schema.Node) *schema.Node) {
	id, format := disk.Get(guest.Datastore).Str(), disk.Get(guest.Format).Str()
	s := c.inv.Storage(id, c.on)
	if s == nil || hasFormat(c.inv, s, format) {
		return
	}
	var others []string
	for i := range c.inv.Storages {
		if x := &c.inv.Storages[i]; x.Node == c.on && x.Active && x.Images() && hasFormat(c.inv, x, format) {
			others = append(others, x.ID)
		}
	}
	var remedies []Remedy
	if len(others) > 0 {
		other := in(set(disk, guest.Datastore, scalar(schema.ShapeString, others[0])))
		remedies = []Remedy{{
			What:  "or write a storage that has them into SPEC, one of " + strings.Join(others, ", "),
			Field: field,
			Value: other,
		}}
	}
	remedies = slices.Insert(remedies, 0, c.write("leave out the format: write into SPEC", field, in(disk.Without(guest.Format))))
	evidence := id + " is of type " + s.Type
	if mayChain(c.inv, s, format) {
		evidence += ", without snapshot-as-volume-chain"
		enable := pve.SetStorage(id, "snapshot-as-volume-chain", "1")
		remedies = append(remedies, Remedy{What: "or enable its option", Commands: []string{enable}, Once: true})
	}
	c.add("storage "+id+" has no disk images in format "+format, []string{evidence}, remedies...)
}
