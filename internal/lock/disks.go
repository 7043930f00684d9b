package lock

import (
	"slices"

	"stackgen/internal/natural"
	"stackgen/schema"
)

// Disks are the disks of a VM in the order in which they are rendered: the order in which
// the provider reads those of an imported VM. It takes what a disk does not say, such as
// its format and its volume, from the disk at the same position.
func Disks(v *schema.VM) []*schema.Node {
	items := slices.Clone(v.Values.Get("disks").List())
	slices.SortStableFunc(items, func(a, b *schema.Node) int {
		return natural.Compare(a.Get("interface").Str(), b.Get("interface").Str())
	})
	return items
}
