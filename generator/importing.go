package generator

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"stackgen/guest"
	"stackgen/schema"
)

// blockDefaults is the expression of the provider's defaults of the blocks that an
// import reads as absent while they have no other values.
func blockDefaults() hclwrite.Tokens {
	var blocks []pair
	for _, b := range schema.DefaultBlocks() {
		var values []pair
		for _, r := range b.Rows {
			if r.Unset != schema.Keep && r.Unset != "" && !r.Settles {
				_, name, _ := strings.Cut(r.Attribute(), ".")
				values = append(values, pair{name, hclValue(r.Field, &schema.Node{Text: r.Unset})})
			}
		}
		blocks = append(blocks, pair{b.Name, inline(values...)})
	}
	return object(blocks...)
}

// settles reports whether an attribute or a block of VMs is left out during their
// import, since an import cannot read it.
func (s *shape) settles() bool {
	if s.row != nil {
		return s.row.Settles
	}
	return s.ordered() || slices.ContainsFunc(schema.DefaultBlocks(), func(b schema.DefaultBlock) bool { return b.Name == s.name })
}

// ordered reports whether the lock has the order of a list of blocks, and an import reads
// them in the order of their interfaces.
func (s *shape) ordered() bool { return s.row == nil && s.name == schema.VMField(guest.Disks).HCL }

// byInterface is the expression of a list of blocks that is in the order in which an import
// reads them while their VM is being imported, and otherwise another expression.
func (s *shape) byInterface(otherwise hclwrite.Tokens) hclwrite.Tokens {
	at := ref(s.name, "interface")
	name := call("format", words(`"%s%02d"`), call("regex", words(`"^[a-z]+"`), at), call("regex", words(`"[0-9]+$"`), at))
	out := slices.Concat(words("!contains(local.importing, key) ?"), otherwise, words(": values({"), hclwrite.Tokens{newline()})
	out = append(out, slices.Concat(words("for"), ident(s.name), words("in"), ref("vm", s.name), words(":"), hclwrite.Tokens{newline()},
		name, words("=>"), ident(s.name), hclwrite.Tokens{newline()})...)
	return append(out, words("})")...)
}

// settlingIndent is how deep what settles is in the module, with the sign between name and
// value.
const settlingIndent = 9

// settling is the expression of what settles, by the keys of the VMs: as in var.vms,
// except for VMs that are being imported. Otherwise the plan of an import would change
// them. disks is the expression of the disks of a VM that is not.
func settling(root *shape, disks hclwrite.Tokens) hclwrite.Tokens {
	var parts []pair
	for _, p := range root.parts {
		switch {
		case !p.settles():
		case p.ordered():
			parts = append(parts, pair{p.name, p.byInterface(disks)})
		case p.row != nil:
			value := slices.Concat(words("contains(local.importing, key) ? null :"), ref("vm", p.name))
			if len(p.name)+len(hclwrite.Format(value.Bytes())) > lineWidth-settlingIndent {
				value = slices.Concat(words("("), hclwrite.Tokens{newline()}, value, hclwrite.Tokens{newline()}, words(")"))
			}
			parts = append(parts, pair{p.name, value})
		default:
			parts = append(parts, pair{p.name, p.whileImporting()})
		}
	}
	each := slices.Concat(words("for key, vm in var.vms : key =>"), object(parts...))
	return slices.Concat(words("{"), hclwrite.Tokens{newline()}, each, hclwrite.Tokens{newline()}, words("}"))
}

// ofVM is the expression of the VM that an attribute or a block of a resource is read
// from.
func ofVM(p *shape) hclwrite.Tokens {
	if p.settles() {
		return words("local.settling[each.key]")
	}
	return words("var.vms[each.key]")
}

// whileImporting is the expression of a block that is absent while its VM is being
// imported and it has only the provider's defaults.
func (s *shape) whileImporting() hclwrite.Tokens {
	var unknown []pair
	for _, p := range s.parts {
		if p.row != nil && p.row.Settles {
			unknown = append(unknown, pair{p.name, call("to"+string(hclType(p.row).Bytes()), null())})
		}
	}
	value := ident("block")
	if len(unknown) > 0 {
		value = call("merge", value, inline(unknown...))
	}
	out := slices.Concat(words("!contains(local.importing, key) ?"), ref("vm", s.name), words(": one(["), hclwrite.Tokens{newline()})
	out = append(out, slices.Concat(words("for block in"), splat(ref("vm", s.name)), words(":"), value, words("if anytrue(["),
		hclwrite.Tokens{newline()})...)
	if len(unknown) > 0 {
		value = slices.Concat(value, hclwrite.Tokens{newline()})
	}
	out = append(out, slices.Concat(words("for name, value in"), value, words(": value != null && value !="),
		call("lookup", ref("local", "defaults", s.name), ident("name"), null()), hclwrite.Tokens{newline()})...)
	return append(out, slices.Concat(words("])"), hclwrite.Tokens{newline()}, words("])"))...)
}
