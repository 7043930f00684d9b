package generator

import (
	"slices"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"stackgen/guest"
	"stackgen/schema"
)

// Replacing is an override of the VM module with which a plan may destroy VMs of profiles that
// prevent it; nil if none of the profiles does.
func Replacing(profiles []*schema.Profile) []byte {
	f := hclwrite.NewEmptyFile()
	var labels []string
	for _, p := range profiles {
		label := schema.ResourceLabel(p.Name)
		if !p.PreventDestroy || slices.Contains(labels, label) {
			continue
		}
		labels = append(labels, label)
		body := f.Body().AppendNewBlock("resource", []string{guest.VMResource, label}).Body()
		body.AppendNewBlock("lifecycle", nil).Body().SetAttributeRaw("prevent_destroy", boolean(false))
	}
	if len(labels) == 0 {
		return nil
	}
	return f.Bytes()
}
