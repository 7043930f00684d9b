package schema

import (
	"slices"
	"strings"

	"stackgen/guest"
)

// A DefaultBlock is a block of the VM resource that the provider reads as absent while
// it has only defaults, of a VM that it did not clone. A state that has the block
// keeps it.
type DefaultBlock struct {
	Name  string
	Rows  []Row
	Keeps bool // without the block, the VM keeps what it has
}

// A Row is a row of the table and where a VM's values have it.
type Row struct {
	*Field
	Of string // the property that the row is a key of; empty for a property

	block string // the HCL of that property
}

// In is the value that a VM has for the row.
func (r Row) In(vm *Node) *Node {
	if r.Of == "" {
		return vm.Get(r.Key)
	}
	return vm.Get(r.Of, r.Key)
}

// Attribute is the path of the row in the VM resource.
func (r Row) Attribute() string {
	if r.Of == "" {
		return r.HCL
	}
	return joinHCL(r.block, r.HCL)
}

// DefaultBlocks are all such blocks of VMs.
func DefaultBlocks() []DefaultBlock { return DefaultBlocksOf(guest.VM) }

// DefaultBlocksOf are all such blocks of guests of a kind.
func DefaultBlocksOf(kind guest.Kind) []DefaultBlock {
	var out []DefaultBlock
	fields := Fields(kind)
	for _, r := range rows(fields) {
		block, _, nested := strings.Cut(r.Attribute(), ".")
		i := slices.IndexFunc(out, func(b DefaultBlock) bool { return b.Name == block })
		if i < 0 && nested && r.ReadAbsent {
			i, out = len(out), append(out, DefaultBlock{Name: block, Keeps: r.Of != "" && find(fields, r.Of).Unset == Keep})
		}
		if i >= 0 {
			out[i].Rows = append(out[i].Rows, r)
		}
	}
	return out
}

// Says reports whether a VM has a value in the block, and whether one of them is not
// the provider's default.
func (b *DefaultBlock) Says(vm *Node) (said, more bool) {
	for _, r := range b.Rows {
		v := r.In(vm)
		said = said || v != nil
		more = more || v != nil && !r.Settles && !r.IsDefault(v)
	}
	return said, more
}

// SettledRows are the rows that Proxmox VE does not have.
func SettledRows() []Row {
	return slices.DeleteFunc(rows(VMFields), func(r Row) bool { return !r.Settles })
}

// rows are the properties of a guest that have a value of their own, and the keys of
// those that are objects.
func rows(fields []Field) []Row {
	var out []Row
	for i := range fields {
		f := &fields[i]
		switch {
		case f.Type != Object && f.HCL != "":
			out = append(out, Row{Field: f})
		case f.Type == Object:
			for k := range f.Fields {
				if f.Fields[k].HCL != "" {
					out = append(out, Row{Field: &f.Fields[k], Of: f.Key, block: f.HCL})
				}
			}
		}
	}
	return out
}
