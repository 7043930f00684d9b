package generator

import (
	"slices"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"stackgen/guest"
	"stackgen/schema"
)

// Starting is an override of the VM module with which a plan starts VMs of some profiles
// that are stopped. The profiles ignore `started` after the creation, and what they ignore
// otherwise stays ignored.
func Starting(profiles []*schema.Profile) []byte {
	f := hclwrite.NewEmptyFile()
	var labels []string
	for _, p := range profiles {
		label := schema.ResourceLabel(p.Name)
		if p.IgnoreAll || slices.Contains(labels, label) {
			continue
		}
		labels = append(labels, label)
		kept := *p
		kept.IgnoreChanges = slices.DeleteFunc(slices.Clone(p.IgnoreChanges), func(a string) bool { return a == "started" })
		body := f.Body().AppendNewBlock("resource", []string{guest.VMResource, label}).Body()
		body.AppendNewBlock("lifecycle", nil).Body().SetAttributeRaw("ignore_changes", ignoreList(&kept))
	}
	return hclwrite.Format(f.Bytes())
}
