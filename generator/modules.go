package generator

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclwrite"

	"stackgen/schema"
	"stackgen/templates"
)

const vmType = "proxmox_virtual_environment_vm"

// shared renders what all stacks use: root.hcl, units and modules.
func shared(p *schema.Project) ([]File, error) {
	r := &renderer{}
	root := r.skeleton("root.hcl")
	root.SetAttributeRaw("terragrunt_version_constraint", text(p.Terragrunt))
	root.SetAttributeRaw("terraform_version_constraint", text(p.OpenTofu))
	r.done()
	if slices.ContainsFunc(p.Stacks, func(s *schema.Stack) bool { return s.Catalog == nil }) {
		for _, unit := range []string{"dns", "proxmox-pool", "proxmox-vm"} {
			r.skeleton("units/" + unit + "/terragrunt.hcl")
			r.done()
		}
		r.module("dns-records", "dns", p.OpenTofu, p.DNS)
		r.module("proxmox-pool", "proxmox", p.OpenTofu, p.Proxmox)
		r.module("proxmox-vm", "proxmox", p.OpenTofu, p.Proxmox)
		r.vmModule(p.Profiles)
	}
	return r.files, r.err
}

// A renderer collects files and stops at the first error.
type renderer struct {
	files []File
	err   error
	from  string
	path  string
	file  *hclwrite.File

	command string // that writes the files, if it is not render
}

// begin starts a new file.
func (r *renderer) begin(path string) *hclwrite.Body {
	r.path, r.file = path, hclwrite.NewEmptyFile()
	return r.file.Body()
}

// skeleton starts a file from an embedded one.
func (r *renderer) skeleton(path string) *hclwrite.Body {
	body := r.begin(path)
	src, err := templates.FS.ReadFile(path)
	if err != nil {
		r.fail(err)
		return body
	}
	f, diags := hclwrite.ParseConfig(src, path, hcl.InitialPos)
	if diags.HasErrors() {
		r.fail(diags)
		return body
	}
	r.file = f
	return f.Body()
}

func (r *renderer) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// done lets the file at hand out.
func (r *renderer) done() {
	f, err := gate(r.path, r.from, r.file)
	if err != nil {
		r.fail(err)
		return
	}
	r.files = append(r.files, f)
}

// blocks lets a file of very many blocks out.
func (r *renderer) blocks(path string, blocks []gated) {
	f, err := gateBlocks(path, header(r.from, cmp.Or(r.command, "stackgen render")), blocks)
	if err != nil {
		r.fail(err)
		return
	}
	r.files = append(r.files, f)
}

// module renders the files of a module that are the same for every project but
// for versions.
func (r *renderer) module(name, provider, engine, version string) {
	body := r.skeleton("modules/" + name + "/versions.tf")
	if tf := body.FirstMatchingBlock("terraform", nil); tf != nil {
		tf.Body().SetAttributeRaw("required_version", text(engine))
		if providers := tf.Body().FirstMatchingBlock("required_providers", nil); providers != nil {
			source := map[string]string{"proxmox": "bpg/proxmox", "dns": "hashicorp/dns"}[provider]
			providers.Body().SetAttributeRaw(provider, object(pair{"source", text(source)}, pair{"version", text(version)}))
		}
	}
	r.done()
	if name != "proxmox-vm" {
		r.skeleton("modules/" + name + "/main.tf")
		r.done()
	}
}

// vmModule renders the VM module: one resource block for each profile, since a
// lifecycle block takes literals only.
func (r *renderer) vmModule(profiles []schema.Profile) {
	root := vmShape()
	r.vmVariables(root, profiles)
	body := r.begin("modules/proxmox-vm/main.tf")
	locals := body.AppendNewBlock("locals", nil).Body()
	locals.AppendUnstructuredTokens(comment("Every VM belongs to the resource block of its profile, and to that one only."))
	names, blocks := make([]pair, 0, len(profiles)), make([]hclwrite.Tokens, 0, len(profiles))
	for _, p := range profiles {
		names = append(names, pair{p.Name, profileFilter(p.Name)})
		blocks = append(blocks, facts(ref(vmType, schema.ResourceLabel(p.Name))))
	}
	locals.SetAttributeRaw("profiles", object(names...))
	locals.AppendNewline()
	locals.AppendUnstructuredTokens(comment("What the outputs need of every VM, whichever block it is in. Not the whole"))
	locals.AppendUnstructuredTokens(comment("resource: that has deprecated attributes, and OpenTofu warns of each use."))
	locals.SetAttributeRaw("machines", callLines("merge", blocks...))
	for i := range profiles {
		body.AppendNewline()
		r.resource(body, root, &profiles[i])
	}
	r.done()
	r.skeleton("modules/proxmox-vm/outputs.tf")
	r.done()
}

// facts is { for key, vm in RESOURCE : key => { ... } } with the attributes that
// outputs.tf reads.
func facts(resource hclwrite.Tokens) hclwrite.Tokens {
	src, _ := hclwrite.ParseConfig([]byte("x = { for key, vm in x : key => vm }"), "facts", hcl.InitialPos) // a literal
	tokens := src.Body().GetAttribute("x").Expr().BuildTokens(nil)
	var wanted []pair
	for _, name := range []string{"vm_id", "name", "node_name", "network_device", "mac_addresses", "ipv4_addresses"} {
		wanted = append(wanted, pair{name, ref("vm", name)})
	}
	out := hclwrite.Tokens{}
	for i, t := range tokens {
		switch {
		case string(t.Bytes) == "x":
			out = append(out, resource...)
		case i == len(tokens)-2: // the value, before the closing brace
			out = append(out, inline(wanted...)...)
		default:
			out = append(out, t)
		}
	}
	return out
}

// profileFilter is { for key, vm in var.vms : key => vm if vm.profile == NAME }.
func profileFilter(name string) hclwrite.Tokens {
	src, _ := hclwrite.ParseConfig([]byte(`x = { for key, vm in var.vms : key => vm if vm.profile == "" }`), "filter", hcl.InitialPos) // a literal
	tokens := src.Body().GetAttribute("x").Expr().BuildTokens(nil)
	end := len(tokens) - 3 // the empty string and the closing brace
	return append(append(slices.Clone(tokens[:end]), text(name)...), tokens[len(tokens)-1])
}

func (r *renderer) vmVariables(root *shape, profiles []schema.Profile) {
	body := r.begin("modules/proxmox-vm/variables.tf")
	v := body.AppendNewBlock("variable", []string{"proxmox"}).Body()
	v.SetAttributeRaw("description", text("How the cluster is reached; null is left to the environment."))
	v.SetAttributeRaw("type", call("object", object(
		pair{"endpoint", call("optional", ident("string"))},
		pair{"insecure", call("optional", ident("bool"))})))
	v.SetAttributeRaw("default", object())
	body.AppendNewline()

	v = body.AppendNewBlock("variable", []string{"vms"}).Body()
	v.SetAttributeRaw("description", text("The VMs by key, in the shape of the provider's resource; null is left to the provider. ipv4 is a static address, meta is JSON for the outputs."))
	v.SetAttributeRaw("type", call("map", root.typeOf(
		pair{"profile", ident("string")},
		pair{"ipv4", call("optional", ident("string"))},
		pair{"meta", call("optional", ident("string"))})))
	names := make([]string, 0, len(profiles))
	for _, p := range profiles {
		names = append(names, p.Name)
	}
	v.AppendNewline()
	known := v.AppendNewBlock("validation", nil).Body()
	known.SetAttributeRaw("condition", knownProfiles(names))
	known.SetAttributeRaw("error_message", text(fmt.Sprintf("A VM has a profile this module has no resource block for. It knows: %s.", strings.Join(names, ", "))))
	r.done()
}

// knownProfiles is alltrue([for vm in var.vms : contains([...], vm.profile)]).
// Without it a VM of an unknown profile would belong to no block: destroyed.
func knownProfiles(names []string) hclwrite.Tokens {
	inner := call("contains", texts(names), ref("vm", "profile"))
	src, _ := hclwrite.ParseConfig([]byte(`x = [for vm in values(var.vms) : true]`), "known", hcl.InitialPos) // a literal
	tokens := src.Body().GetAttribute("x").Expr().BuildTokens(nil)
	loop := append(append(slices.Clone(tokens[:len(tokens)-2]), inner...), tokens[len(tokens)-1])
	return call("alltrue", loop)
}

// resource writes the block of one profile.
func (r *renderer) resource(body *hclwrite.Body, root *shape, p *schema.Profile) {
	b := body.AppendNewBlock("resource", []string{vmType, schema.ResourceLabel(p.Name)}).Body()
	b.SetAttributeRaw("for_each", ref("local", "profiles", p.Name))
	b.AppendNewline()
	root.body(b, "each", "value")
	b.AppendNewline()
	l := b.AppendNewBlock("lifecycle", nil).Body()
	if p.PreventDestroy {
		l.AppendUnstructuredTokens(comment("A plan that would destroy one of these VMs fails."))
		l.SetAttributeRaw("prevent_destroy", boolean(true))
	}
	if p.IgnoreAll {
		l.AppendUnstructuredTokens(comment("These VMs are used as they are: whatever differs from the spec is left alone."))
		l.AppendUnstructuredTokens(comment(reasons["clone"]))
		l.SetAttributeRaw("ignore_changes", ident("all"))
		return
	}
	l.SetAttributeRaw("ignore_changes", ignoreList(p))
}

// reasons say why an attribute is ignored; other attributes are the author's choice.
var reasons = map[string]string{
	"clone":     "clone is never read back, so an imported VM would be destroyed and cloned anew.",
	"node_name": "node_name follows a VM that was migrated by hand or by HA; a plan would replace it.",
}
