package generator

import (
	"cmp"
	"slices"

	"stackgen/internal/natural"
	"stackgen/schema"
)

// An Import is one resource that exists and is not in state yet.
type Import struct {
	Type, Label, Key string // of its resource block; Key is that of for_each
	ID               string
}

// Imports renders the import file of one unit: a block for each address, in natural
// order of the keys. Render does not depend on it.
func Imports(s *schema.Stack, unit string, imports []Import) (File, error) {
	r := &renderer{from: s.Spec, command: importBlocks}
	sorted := slices.Clone(imports)
	slices.SortFunc(sorted, func(a, b Import) int {
		return cmp.Or(natural.Compare(a.Key, b.Key), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Label, b.Label))
	})
	f := r.blockFile("stacks/" + s.Name + "/imports/" + unit + ".tf")
	for _, i := range sorted {
		to := index(ref(i.Type, i.Label), i.Key)
		f.add(block("import", nil, group(pair{"to", to}, pair{"id", text(i.ID)})))
	}
	sign([]File{*f})
	return *f, f.parse()
}
