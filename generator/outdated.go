package generator

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"stackgen/internal/natural"
)

// ValuesFile is the name of the file that Terragrunt writes for the values of a unit.
const ValuesFile = "terragrunt.values.hcl"

// SameSettings reports whether two renders of a shared file were made with the same
// settings of the project: versions of providers, and lifecycles of profiles that
// both have. Another version of stackgen may have rendered the rest, and other stacks
// may use more profiles.
func SameSettings(path string, a, b []byte) bool {
	if !isProfileFile(path) {
		return !strings.HasSuffix(path, "/versions.tf") || SameMeaning(a, b)
	}
	x, y := lifecycles(a), lifecycles(b)
	for label, body := range x {
		if other, both := y[label]; both && !SameMeaning(body, other) {
			return false
		}
	}
	return true
}

// SamePlaces reports whether two renders of the settings of a stack lead OpenTofu to the same
// state, cluster and DNS server.
func SamePlaces(a, b []byte) bool { return SameMeaning(places(a), places(b)) }

// places are the settings of a stack that say where OpenTofu works.
func places(settings []byte) []byte {
	file, _ := hclsyntax.ParseConfig(settings, settingsFile, hcl.InitialPos) // what is no HCL has none
	var out []byte
	for _, b := range file.Body.(*hclsyntax.Body).Blocks {
		for _, name := range []string{"state_key", "backend", "proxmox", "dns"} {
			if a := b.Body.Attributes[name]; a != nil {
				out = append(append(out, a.SrcRange.SliceBytes(settings)...), '\n')
			}
		}
	}
	return out
}

// lifecycles are the lifecycle blocks of a module's VMs, by the label of their
// resource.
func lifecycles(body []byte) map[string][]byte {
	out := map[string][]byte{}
	file, _ := hclsyntax.ParseConfig(body, "", hcl.InitialPos) // what is no HCL has none
	for _, b := range file.Body.(*hclsyntax.Body).Blocks {
		for _, in := range b.Body.Blocks {
			if b.Type == "resource" && len(b.Labels) == 2 && in.Type == "lifecycle" {
				r := in.Range()
				out[b.Labels[1]] = body[r.Start.Byte:in.CloseBraceRange.End.Byte]
			}
		}
	}
	return out
}

// OtherValues names the values in which a unit that Terragrunt generated differs
// from the stack file: VMs, pools and records by their keys. generated is the file
// that Terragrunt writes for the unit's values.
func OtherValues(stackFile []byte, unit string, generated []byte) ([]string, error) {
	rendered, err := renderedValues(stackFile, unit)
	if err != nil {
		return nil, err
	}
	file, diags := hclsyntax.ParseConfig(generated, ValuesFile, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, diags
	}
	has := map[string]cty.Value{}
	for name, a := range file.Body.(*hclsyntax.Body).Attributes {
		if has[name], diags = a.Expr.Value(nil); diags.HasErrors() {
			return nil, diags
		}
	}
	var out []string
	for name, pair := range differences(rendered, cty.ObjectVal(has)) {
		keys := slices.Collect(maps.Keys(differences(pair[0], pair[1])))
		if len(keys) == 0 {
			keys = []string{name}
		}
		out = append(out, keys...)
	}
	slices.SortFunc(out, natural.Compare)
	return out, nil
}

// renderedValues are the values of a unit in a stack file.
func renderedValues(stackFile []byte, unit string) (cty.Value, error) {
	file, diags := hclsyntax.ParseConfig(stackFile, StackFile, hcl.InitialPos)
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	parsed := file.Body.(*hclsyntax.Body)
	context, diags := stackContext(parsed)
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	rendered := cty.EmptyObjectVal
	for _, b := range parsed.Blocks {
		if values := b.Body.Attributes["values"]; b.Type == "unit" && len(b.Labels) == 1 && b.Labels[0] == unit && values != nil {
			if rendered, diags = values.Expr.Value(context); diags.HasErrors() {
				return cty.NilVal, diags
			}
		}
	}
	return rendered, nil
}

// differences are the attributes in which two objects differ, with both values.
// Values of another type have none.
func differences(a, b cty.Value) map[string][2]cty.Value {
	out := map[string][2]cty.Value{}
	for _, v := range []cty.Value{a, b} {
		if v.IsNull() || !v.Type().IsObjectType() {
			return nil
		}
		for name := range v.Type().AttributeTypes() {
			if x, y := member(a, name), member(b, name); !x.RawEquals(y) {
				out[name] = [2]cty.Value{x, y}
			}
		}
	}
	return out
}
