package generator

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"stackgen/internal/natural"
)

// Removing is an override of the VM module with which a plan leaves out the disks that a
// later one adds: their interfaces, by the keys of the VMs.
func Removing(later map[string][]string) []byte {
	var pairs []pair
	for _, key := range slices.SortedFunc(maps.Keys(later), natural.Compare) {
		pairs = append(pairs, pair{key, texts(later[key])})
	}
	disks := slices.Concat(words("[for disk in vm.disk : disk if !contains(try("), inline(pairs...), words("[key], []), disk.interface)]"))
	f := hclwrite.NewEmptyFile()
	f.Body().AppendNewBlock("locals", nil).Body().SetAttributeRaw("settling", settling(vmShape(), disks))
	return f.Bytes()
}
