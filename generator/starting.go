package generator

import (
	"slices"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"stackgen/guest"
	"stackgen/schema"
)

// Starting is an override of the module of guests of a kind with which a plan starts those of some profiles
// that are stopped. The profiles ignore `started` after the creation, and what they ignore
// otherwise stays ignored.
func Starting(kind guest.Kind, profiles []*schema.Profile) []byte {
	f := hclwrite.NewEmptyFile()
	var labels []string
	ignores := ignoreList
	if kind == guest.Container {
		ignores = containerIgnores
	}
	for _, p := range profiles {
		label := schema.ResourceLabel(p.Name)
		if p.IgnoreAll || slices.Contains(labels, label) {
			continue
		}
		labels = append(labels, label)
		kept := *p.For(kind)
		kept.IgnoreChanges = slices.DeleteFunc(slices.Clone(kept.IgnoreChanges), func(a string) bool { return a == "started" })
		body := f.Body().AppendNewBlock("resource", []string{kind.Resource(), label}).Body()
		body.AppendNewBlock("lifecycle", nil).Body().SetAttributeRaw("ignore_changes", ignores(&kept))
	}
	return f.Bytes()
}
