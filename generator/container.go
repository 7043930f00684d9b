package generator

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"

	"stackgen/guest"
	"stackgen/internal/lock"
	"stackgen/schema"
)

// containerShape is the shape of the container resource.
func containerShape() *shape {
	root := &shape{}
	root.add(schema.ContainerFields, "")
	root.add([]schema.Field{schema.ContainerAddresses()}, "")
	return root
}

// containerValues are the attributes of a container in a stack file.
func containerValues(root *shape, v *schema.VM, d *lock.VM) ([]pair, error) {
	pairs, err := ownPairs(v)
	if err != nil {
		return nil, err
	}
	values := withDecisions(v, d)
	row, addresses := v.AddressesOf()
	values = values.With(schema.Scalar(v.Pos, schema.ShapeString, row.Key), addresses)
	out := root.literal(values)
	for _, b := range schema.DefaultBlocksOf(guest.Container) { // a creation sends them, and an import reads them as absent
		if _, more := b.Says(values); !more {
			out = slices.DeleteFunc(out, func(p pair) bool { return p.key == b.Name })
		}
	}
	return append(pairs, out...), nil
}

// ownPairs are the values of a guest in a stack file that are no attributes of its resource.
func ownPairs(v *schema.VM) ([]pair, error) {
	pairs := []pair{{"profile", text(v.Profile)}}
	if v.Address.IsValid() {
		pairs = append(pairs, pair{"ipv4", text(v.Address.Addr().String())})
	}
	if meta := v.Values.Get(guest.Meta); meta != nil {
		// A string, because the guests of one map must have one type.
		j, err := json.Marshal(plain(meta))
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, pair{"meta", text(string(j))})
	}
	return pairs, nil
}

// containerModule renders the module of containers, as vmModule does for VMs.
func (r *renderer) containerModule(profiles []schema.Profile) {
	root := containerShape()
	r.guestVariables(guest.Container, root, profiles)
	body := r.begin(folderOf(guest.Container) + "main.tf")
	locals := body.AppendNewBlock("locals", nil).Body()
	blocks := make([]hclwrite.Tokens, 0, len(profiles))
	for _, p := range profiles {
		resource := ref(guest.ContainerResource, schema.ResourceLabel(p.Name))
		each := slices.Concat(words("for key, container in"), resource, words(": key =>"),
			object(pair{"network_interface", ref("container", "network_interface")}, pair{"ipv4", ref("container", "ipv4")}))
		blocks = append(blocks, slices.Concat(words("{"), hclwrite.Tokens{newline()}, each, hclwrite.Tokens{newline()}, words("}")))
	}
	locals.AppendUnstructuredTokens(comment("What the outputs read of the containers of all blocks."))
	locals.SetAttributeRaw("machines", callLines("merge", blocks...))
	r.done()
	for i := range profiles {
		r.containerResource(r.begin(profileFile(guest.Container, profiles[i].Name)), root, profiles[i].For(guest.Container))
		r.done()
	}
	r.embedded(folderOf(guest.Container) + "outputs.tf")
}

// containerResource writes the block of one profile.
func (r *renderer) containerResource(body *hclwrite.Body, root *shape, p *schema.Profile) {
	b := body.AppendNewBlock("resource", []string{guest.ContainerResource, schema.ResourceLabel(p.Name)}).Body()
	b.SetAttributeRaw("for_each", keysOf(guest.Container, p.Name))
	b.AppendNewline()
	root.body(b, func(*shape) hclwrite.Tokens { return words("var." + guest.Container.List() + "[each.key]") })
	b.AppendNewline()
	l := b.AppendNewBlock("lifecycle", nil).Body()
	if p.PreventDestroy {
		l.AppendUnstructuredTokens(comment("A plan that would destroy one of these containers fails."))
		l.SetAttributeRaw("prevent_destroy", boolean(true))
	}
	if p.IgnoreAll {
		l.AppendUnstructuredTokens(comment("These containers are used as they are: no difference from the spec is applied. The provider's"))
		l.AppendUnstructuredTokens(comment("timeouts are only in the state: an import does not read them, and a destroy needs them."))
		l.SetAttributeRaw("ignore_changes", wholeContainer())
		return
	}
	l.SetAttributeRaw("ignore_changes", containerIgnores(p))
}

// wholeContainer is the ignore_changes of a profile that ignores all of a container.
func wholeContainer() hclwrite.Tokens {
	out := hclwrite.Tokens{token(hclsyntax.TokenOBrack, "["), token(hclsyntax.TokenNewline, "\n")}
	for _, name := range schema.ContainerBlocks() {
		out = append(out, words(name)...)
		out = append(out, token(hclsyntax.TokenComma, ","), token(hclsyntax.TokenNewline, "\n"))
	}
	return append(out, token(hclsyntax.TokenCBrack, "]"))
}

// containerIgnores is a profile's ignore_changes: its own choice, then what every profile ignores.
func containerIgnores(p *schema.Profile) hclwrite.Tokens {
	out := hclwrite.Tokens{token(hclsyntax.TokenOBrack, "["), token(hclsyntax.TokenNewline, "\n")}
	line := func(a string) {
		out = append(out, words(a)...)
		out = append(out, token(hclsyntax.TokenComma, ","), token(hclsyntax.TokenNewline, "\n"))
	}
	for _, a := range p.IgnoreChanges {
		if !schema.IsAlwaysIgnoredOf(guest.Container, a) {
			out = append(out, comment(cmp.Or(reasons[a], "profile "+p.Name+" ignores changes of "+a+" in Proxmox VE."))...)
			line(a)
		}
	}
	out = append(out, comment("These act at the creation only: the provider would replace or restart the container for a change,")...)
	out = append(out, comment("cannot read them, or no property sets them.")...)
	for _, a := range p.IgnoreChanges {
		if schema.IsAlwaysIgnoredOf(guest.Container, a) {
			line(a)
		}
	}
	return append(out, token(hclsyntax.TokenCBrack, "]"))
}

// folderOf is the folder of the module of guests of a kind.
func folderOf(kind guest.Kind) string { return "modules/" + lock.UnitOf(kind) + "/" }

// isProfileFile reports whether a path is that of the resource block of a profile.
func isProfileFile(path string) bool {
	return slices.ContainsFunc(guest.Kinds(), func(kind guest.Kind) bool {
		return strings.HasPrefix(path, folderOf(kind)+"profile-") && strings.HasSuffix(path, ".tf")
	})
}
