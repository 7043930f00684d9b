package generator

import (
	"bytes"
	"fmt"
	"iter"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"stackgen/guest"
	"stackgen/internal/lock"
	"stackgen/schema"
)

// StackFile is the name of a rendered stack file.
const StackFile = "terragrunt.stack.hcl"

// SameMeaning reports whether two rendered files differ at most in comments and
// layout: both are the same to Terragrunt and OpenTofu.
func SameMeaning(a, b []byte) bool {
	return bytes.Equal(a, b) || slices.EqualFunc(meaning(a), meaning(b), func(x, y hclsyntax.Token) bool {
		return x.Type == y.Type && bytes.Equal(x.Bytes, y.Bytes)
	})
}

// meaning are the tokens of a file without comments and what separates items:
// long lists have one item a line, with a comma after the last.
func meaning(body []byte) hclsyntax.Tokens {
	tokens, _ := hclsyntax.LexConfig(body, "", hcl.InitialPos) // what is no HCL differs from what is rendered
	return slices.DeleteFunc(tokens, func(t hclsyntax.Token) bool {
		return t.Type == hclsyntax.TokenComment || t.Type == hclsyntax.TokenNewline || t.Type == hclsyntax.TokenComma
	})
}

// MovesOnlyOf reports whether a file in a stack's folder moved has nothing but moved blocks, from
// addresses of which a function is true.
func MovesOnlyOf(body []byte, is func(address string) bool) bool {
	file, diags := hclsyntax.ParseConfig(body, "", hcl.InitialPos)
	if diags.HasErrors() {
		return false
	}
	parsed := file.Body.(*hclsyntax.Body)
	other := func(b *hclsyntax.Block) bool {
		from := b.Body.Attributes["from"]
		return b.Type != "moved" || from == nil || !is(string(from.Expr.Range().SliceBytes(body)))
	}
	return len(parsed.Attributes) == 0 && !slices.ContainsFunc(parsed.Blocks, other)
}

// An Identity is what a rendered VM cannot change and stay the same VM: a plan
// that finds another value in it replaces the VM.
type Identity struct {
	VMID       int
	MACs       []string // by NIC; empty where Proxmox VE chooses
	EFIType    string
	TPMVersion string
}

// Identities reads a stack file that was rendered earlier: the VMs in it, by
// key. A file without a VM unit has none.
func Identities(body []byte) (map[string]Identity, error) {
	vms, err := renderedVMs(body)
	if err != nil {
		return nil, err
	}
	out := map[string]Identity{}
	for key, vm := range vms {
		out[key] = Identity{
			VMID:       whole(member(vm, "vm_id")),
			MACs:       append(macsOf(member(vm, "network_device")), macsOf(member(vm, "network_interface"))...),
			EFIType:    word(member(member(vm, "efi_disk"), "type")),
			TPMVersion: word(member(member(vm, "tpm_state"), "version")),
		}
	}
	return out, nil
}

// Creations reads, from a stack file that was rendered earlier, the values of properties that
// act at the creation of a VM only, by VM and property. A file in which all VMs have the
// defaults is not parsed, and has none, if the VMs of the stack have them now, too.
func Creations(body []byte, s *schema.Stack) (map[string]map[string]string, error) {
	rows := slices.DeleteFunc(schema.CreationRows(), func(f schema.Field) bool { return f.HCL == "" })
	if !slices.ContainsFunc(rows, func(f schema.Field) bool { return saysOther(body, &f) || asksOther(s, &f) }) {
		return nil, nil
	}
	vms, err := renderedVMs(body)
	if err != nil {
		return nil, err
	}
	out := map[string]map[string]string{}
	for key, vm := range vms {
		out[key] = map[string]string{}
		for _, f := range rows {
			if v, err := convert.Convert(member(vm, f.HCL), cty.String); err == nil && !v.IsNull() {
				out[key][f.Key] = v.AsString()
			}
		}
	}
	return out, nil
}

// saysOther reports whether a rendered file may have another value of a property than its
// default.
func saysOther(body []byte, f *schema.Field) bool {
	for line := range bytes.Lines(body) {
		name, value, is := bytes.Cut(bytes.TrimSpace(line), []byte(" = "))
		if is && string(bytes.TrimSpace(name)) == f.HCL && string(value) != f.Default {
			return true
		}
	}
	return false
}

// asksOther reports whether a VM of a stack has another value of a property than its default.
func asksOther(s *schema.Stack, f *schema.Field) bool {
	return slices.ContainsFunc(s.VMs, func(v *schema.VM) bool { return v.Values.Get(f.Key).Str() != f.Default })
}

// renderedVMs are the VMs in a stack file that was rendered earlier, by key.
func renderedVMs(body []byte) (map[string]cty.Value, error) {
	file, diags := hclsyntax.ParseConfig(body, StackFile, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, fmt.Errorf("reading what was rendered before: %w", diags)
	}
	parsed := file.Body.(*hclsyntax.Body)
	context, diags := stackContext(parsed)
	if diags.HasErrors() {
		return nil, fmt.Errorf("reading what was rendered before: %w", diags)
	}
	out := map[string]cty.Value{}
	for _, b := range parsed.Blocks {
		values := b.Body.Attributes["values"]
		if b.Type != "unit" || len(b.Labels) != 1 || !lock.HasGuests(b.Labels[0]) || values == nil {
			continue
		}
		v, diags := values.Expr.Value(context)
		if diags.HasErrors() {
			return nil, fmt.Errorf("reading what was rendered before: %w", diags)
		}
		for _, kind := range guest.Kinds() {
			vms := member(v, kind.List())
			if !vms.CanIterateElements() {
				continue
			}
			for it := vms.ElementIterator(); it.Next(); {
				key, vm := it.Element()
				out[key.AsString()] = vm
			}
		}
	}
	return out, nil
}

// macsOf are the MAC addresses of NICs.
func macsOf(nics cty.Value) []string {
	if !nics.CanIterateElements() {
		return nil
	}
	var out []string
	for it := nics.ElementIterator(); it.Next(); {
		_, nic := it.Element()
		out = append(out, word(member(nic, "mac_address")))
	}
	return out
}

// withoutCommon removes the objects and blocks of an indentation that are in both
// files. A change of one VM is then found without parsing all others.
func withoutCommon(before, after []byte, indent string) (b, a []byte) {
	in := func(body []byte) map[string]bool {
		out := map[string]bool{}
		for text, whole := range objects(body, indent) {
			if whole && !isLocals(text) {
				out[string(text)] = true
			}
		}
		return out
	}
	without := func(body []byte, common map[string]bool) []byte {
		var out []byte
		for text, whole := range objects(body, indent) {
			if !whole || !common[string(text)] {
				out = append(out, text...)
			}
		}
		return out
	}
	return without(before, in(after)), without(after, in(before))
}

// isLocals reports whether an object or block is the one with what VMs share.
func isLocals(text []byte) bool { return bytes.HasPrefix(text, []byte("locals {\n")) }

// localsIn are the blocks of a stack file with what VMs share.
func localsIn(body []byte) (out []byte) {
	for text := range objects(body, "") {
		if isLocals(text) {
			out = append(out, text...)
		}
	}
	return out
}

// objects cuts a file into the objects and blocks of an indentation, which are
// whole, and the lines between them.
func objects(body []byte, indent string) iter.Seq2[[]byte, bool] {
	return func(yield func(text []byte, whole bool) bool) {
		from, at, open := 0, 0, false
		for line := range bytes.Lines(body) {
			rest, level := bytes.CutPrefix(line, []byte(indent))
			level = level && len(rest) > 0 && rest[0] != ' ' && rest[0] != '\n'
			switch {
			case level && !open && bytes.HasSuffix(line, []byte("{\n")):
				if from < at && !yield(body[from:at], false) {
					return
				}
				from, open = at, true
			case level && open:
				if whole := bytes.Equal(rest, []byte("}\n")) || bytes.Equal(rest, []byte("})\n")); !yield(body[from:at+len(line)], whole) {
					return
				}
				from, open = at+len(line), false
			}
			at += len(line)
		}
		if from < at {
			yield(body[from:at], false)
		}
	}
}

// member is an attribute of an object, or null.
func member(v cty.Value, name string) cty.Value {
	if v.IsNull() || !v.Type().IsObjectType() || !v.Type().HasAttribute(name) {
		return cty.NullVal(cty.DynamicPseudoType)
	}
	return v.GetAttr(name)
}

func word(v cty.Value) string {
	if v.IsNull() || v.Type() != cty.String {
		return ""
	}
	return v.AsString()
}

func whole(v cty.Value) int {
	if v.IsNull() || v.Type() != cty.Number {
		return 0
	}
	n, _ := v.AsBigFloat().Int64()
	return int(n)
}
