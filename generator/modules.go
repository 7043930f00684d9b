package generator

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"

	"stackgen/guest"
	"stackgen/internal/lock"
	"stackgen/schema"
	"stackgen/templates"
)

// projectLocal is the local of root.hcl that has the id of the project.
const projectLocal = "project"

// ProjectOf is the id of the project that a root.hcl was rendered for, or "".
func ProjectOf(root []byte) string {
	f, diags := hclwrite.ParseConfig(root, rootFile, hcl.InitialPos)
	if diags.HasErrors() {
		return ""
	}
	locals := f.Body().FirstMatchingBlock("locals", nil)
	if locals == nil || locals.Body().GetAttribute(projectLocal) == nil {
		return ""
	}
	return strings.Trim(string(bytes.TrimSpace(locals.Body().GetAttribute(projectLocal).Expr().BuildTokens(nil).Bytes())), `"`)
}

// Shared renders what several stacks use: root.hcl, and the units and modules
// that a stack of the project has.
func Shared(p *schema.Project, d *lock.Lock) ([]File, error) {
	r := &renderer{}
	root := r.skeleton("root.hcl")
	root.SetAttributeRaw("terragrunt_version_constraint", text(p.Terragrunt))
	root.SetAttributeRaw("terraform_version_constraint", text(p.OpenTofu))
	root.FirstMatchingBlock("locals", nil).Body().SetAttributeRaw(projectLocal, text(d.Project))
	r.done()
	for _, k := range kinds {
		if !slices.ContainsFunc(p.Stacks, func(s *schema.Stack) bool { return uses(s, d.Stacks.Get(s.Name), k.unit) }) {
			continue
		}
		r.embedded("units/" + k.unit + "/terragrunt.hcl")
		version := p.Proxmox
		if k.provider == "dns" {
			version = p.DNS
		}
		r.versions(k, p.OpenTofu, version)
		switch k.unit {
		case lock.UnitVM:
			r.vmModule(usedProfiles(p, d, guest.VM))
		case lock.UnitContainer:
			r.containerModule(usedProfiles(p, d, guest.Container))
		case kindTemplate:
			r.templateModule()
		default:
			r.embedded("modules/" + k.module + "/main.tf")
		}
	}
	sign(r.files)
	return r.files, r.err
}

// A kind is a kind of unit: its folder in units, its module, and the module's
// provider.
type kind struct{ unit, module, provider, source string }

var kinds = []kind{
	{lock.UnitDNS, moduleDNS, "dns", "hashicorp/dns"},
	{lock.UnitPool, lock.UnitPool, "proxmox", "bpg/proxmox"},
	{lock.UnitVM, lock.UnitVM, "proxmox", "bpg/proxmox"},
	{lock.UnitContainer, lock.UnitContainer, "proxmox", "bpg/proxmox"},
	{kindTemplate, kindTemplate, "proxmox", "bpg/proxmox"},
}

// kindTemplate is the kind of the unit of a Template. Its name in the stack is that of VMs.
const kindTemplate = "proxmox-template"

// vmKind is the kind of the unit of the VMs of a stack.
func vmKind(s *schema.Stack) string {
	if s.IsTemplate() {
		return kindTemplate
	}
	return lock.UnitVM
}

// moduleDNS is the module of units that publish records.
const moduleDNS = "dns-records"

// uses reports whether a stack has a unit of a kind and takes it from the project.
func uses(s *schema.Stack, l *lock.Stack, unit string) bool {
	return l != nil && s.Catalog == nil && slices.ContainsFunc(l.Units, func(e lock.Entry[lock.Unit]) bool {
		kind := e.Key
		switch kind {
		case lock.UnitVM:
			kind = vmKind(s)
		case lock.UnitPool, lock.UnitContainer:
		default:
			kind = lock.UnitDNS
		}
		return kind == unit && e.Value.Status != lock.Forgotten
	})
}

// usedProfiles are the profiles that a spec uses for guests of a kind, and those of addresses that
// they have or had according to the lock: until a move is applied, the resource block
// of the former profile protects the VM.
func usedProfiles(p *schema.Project, d *lock.Lock, kind guest.Kind) []schema.Profile {
	containers := kind == guest.Container
	used := map[string]bool{}
	for _, s := range p.Stacks {
		if s.IsTemplate() {
			continue
		}
		for _, v := range s.VMs {
			used[v.Profile] = used[v.Profile] || v.IsContainer() == containers
		}
		l := d.Stacks.Get(s.Name)
		if l == nil {
			continue
		}
		for _, e := range l.VMs {
			if e.Value.IsContainer() != containers {
				continue
			}
			used[e.Value.Address(e.Key).Profile] = true
			for _, a := range e.Value.Former {
				used[a.Profile] = true
			}
		}
	}
	if !slices.ContainsFunc(p.Profiles, func(p schema.Profile) bool { return used[p.Name] }) { // a module without a resource is no module
		used["default"] = true
	}
	return slices.DeleteFunc(slices.Clone(p.Profiles), func(p schema.Profile) bool { return !used[p.Name] })
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

// embedded adds a file that is embedded as it is rendered, apart from its header.
func (r *renderer) embedded(path string) {
	src, err := templates.FS.ReadFile(path)
	if err != nil {
		r.fail(err)
		return
	}
	r.files = append(r.files, headed(path, r.from, src))
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

// done adds the file to the rendered ones. Bytes formats it.
func (r *renderer) done() { r.files = append(r.files, headed(r.path, r.from, r.file.Bytes())) }

// blockFile starts a file of blocks whose tokens are spaced already: a stack of
// thousands of VMs would take too long to format.
func (r *renderer) blockFile(path string) *File {
	body := []byte("# " + header(r.from, cmp.Or(r.command, render)) + "\n")
	return &File{Path: path, Body: body, blocks: []int{len(body)}}
}

// versions renders the versions of a module's engine and provider.
func (r *renderer) versions(k kind, engine, version string) {
	body := r.skeleton("modules/" + k.module + "/versions.tf")
	if tf := body.FirstMatchingBlock("terraform", nil); tf != nil {
		tf.Body().SetAttributeRaw("required_version", text(engine))
		if providers := tf.Body().FirstMatchingBlock("required_providers", nil); providers != nil {
			providers.Body().SetAttributeRaw(k.provider, object(pair{"source", text(k.source)}, pair{"version", text(version)}))
		}
	}
	r.done()
}

// vmFolder is the folder of the VM module.
const vmFolder = "modules/" + lock.UnitVM + "/"

// profileFile is the file with the resource block of a profile. The prefix tells it from the
// other files of the module.
func profileFile(kind guest.Kind, profile string) string {
	return folderOf(kind) + "profile-" + profile + ".tf"
}

// vmModule renders the VM module: one resource block for each profile, since a
// lifecycle block takes literals only, in a file of its own.
func (r *renderer) vmModule(profiles []schema.Profile) {
	root := vmShape()
	r.guestVariables(guest.VM, root, profiles)
	body := r.begin(vmFolder + "main.tf")
	locals := body.AppendNewBlock("locals", nil).Body()
	blocks := make([]hclwrite.Tokens, 0, len(profiles))
	for _, p := range profiles {
		blocks = append(blocks, outputsOf(ref(guest.VMResource, schema.ResourceLabel(p.Name))))
	}
	locals.AppendUnstructuredTokens(comment("The keys of the VMs that are being imported: the unit overrides this by those of"))
	locals.AppendUnstructuredTokens(comment("its import file."))
	locals.SetAttributeRaw("importing", list())
	locals.AppendNewline()
	locals.AppendUnstructuredTokens(comment("VMs that are being imported lack what an import cannot read: what only the provider"))
	locals.AppendUnstructuredTokens(comment("knows, and blocks that have only its defaults. Otherwise the import would change"))
	locals.AppendUnstructuredTokens(comment("them. The apply after it sets them."))
	locals.SetAttributeRaw("settling", settling(root, ref("vm", "disk")))
	locals.AppendNewline()
	locals.AppendUnstructuredTokens(comment("The provider's defaults. An import reads a block that has no other value as absent."))
	locals.SetAttributeRaw("defaults", blockDefaults())
	locals.AppendNewline()
	locals.AppendUnstructuredTokens(comment("What the outputs read of the VMs of all blocks. The whole resource has"))
	locals.AppendUnstructuredTokens(comment("deprecated attributes, and OpenTofu warns of each use."))
	locals.SetAttributeRaw("machines", callLines("merge", blocks...))
	r.done()
	for i := range profiles {
		r.resource(r.begin(profileFile(guest.VM, profiles[i].Name)), root, &profiles[i])
		r.done()
	}
	r.embedded(vmFolder + "outputs.tf")
}

// outputsOf is { for key, vm in RESOURCE : key => { ... } } with the attributes
// that outputs.tf reads.
func outputsOf(resource hclwrite.Tokens) hclwrite.Tokens {
	var attributes []pair
	for _, name := range []string{"vm_id", "name", "network_device", "mac_addresses", "ipv4_addresses"} {
		attributes = append(attributes, pair{name, ref("vm", name)})
	}
	each := slices.Concat(words("for key, vm in"), resource, words(": key =>"), object(attributes...))
	return slices.Concat(words("{"), hclwrite.Tokens{newline()}, each, hclwrite.Tokens{newline()}, words("}"))
}

// keysOf is { for key, vm in var.vms : key => key if vm.profile == PROFILE }, for guests of a kind. OpenTofu
// evaluates for_each once for each VM: with the VMs as values, a plan takes time by
// the square of their number.
func keysOf(kind guest.Kind, profile string) hclwrite.Tokens {
	return slices.Concat(words("{ for key, vm in var."+kind.List()+" : key => key if vm.profile =="), text(profile), words("}"))
}

// proxmoxVariable writes the variable with the address of the cluster.
func (r *renderer) proxmoxVariable(body *hclwrite.Body) {
	v := body.AppendNewBlock("variable", []string{"proxmox"}).Body()
	v.SetAttributeRaw("description", text("How to reach the cluster. What is null comes from the environment."))
	v.SetAttributeRaw("type", call("object", object(
		pair{"endpoint", call("optional", ident("string"))},
		pair{"insecure", call("optional", ident("bool"))})))
	v.SetAttributeRaw("default", object())
	body.AppendNewline()
}

// guestVariables writes the variables of the module of guests of a kind.
func (r *renderer) guestVariables(kind guest.Kind, root *shape, profiles []schema.Profile) {
	body := r.begin(folderOf(kind) + "variables.tf")
	r.proxmoxVariable(body)
	v := body.AppendNewBlock("variable", []string{kind.List()}).Body()
	v.SetAttributeRaw("description", text("The "+kind.Name()+"s by key. "+
		"Attributes are those of the resource, and ipv4 (a static address) and meta (JSON)."))
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
	known.SetAttributeRaw("condition", allHave(kind, names))
	known.SetAttributeRaw("error_message", call("join", text(" "), broken(texts([]string{
		"A " + kind.Name() + " has a profile this module has no resource block for.",
		"It knows: " + strings.Join(names, ", ") + ".",
	}), lineWidth)))
	r.done()
}

// allHave is the condition that every VM has one of the profiles. A VM of another
// one would belong to no resource block, and be destroyed.
func allHave(kind guest.Kind, profiles []string) hclwrite.Tokens {
	names := texts(profiles)
	if columns(names) > lineWidth/3 {
		names = broken(names, lineWidth)
	}
	return slices.Concat(words("alltrue([for vm in values(var."+kind.List()+") : contains("), names, words(", vm.profile)])"))
}

// words are the tokens of a literal piece of HCL. The file is formatted later.
func words(src string) hclwrite.Tokens {
	lexed, _ := hclsyntax.LexConfig([]byte(src), "", hcl.InitialPos)
	var out hclwrite.Tokens
	for _, t := range lexed[:len(lexed)-1] { // without the end of the file
		out = append(out, token(t.Type, string(t.Bytes)))
	}
	return out
}

// resource writes the block of one profile.
func (r *renderer) resource(body *hclwrite.Body, root *shape, p *schema.Profile) {
	b := body.AppendNewBlock("resource", []string{guest.VMResource, schema.ResourceLabel(p.Name)}).Body()
	b.SetAttributeRaw("for_each", keysOf(guest.VM, p.Name))
	b.AppendNewline()
	if !p.Ignores("node_name") {
		b.AppendUnstructuredTokens(comment("Another node in the spec migrates the VM; without this, it would be replaced. " +
			"An import does not read it."))
		b.SetAttributeRaw("migrate", words("contains(local.importing, each.key) ? null : true"))
		b.AppendNewline()
	}
	root.body(b, ofVM)
	b.AppendNewline()
	l := b.AppendNewBlock("lifecycle", nil).Body()
	if p.PreventDestroy {
		l.AppendUnstructuredTokens(comment("A plan that would destroy one of these VMs fails."))
		l.SetAttributeRaw("prevent_destroy", boolean(true))
	}
	if p.IgnoreAll {
		l.AppendUnstructuredTokens(comment("These VMs are used as they are: no difference from the spec is applied."))
		l.AppendUnstructuredTokens(comment(reasons["clone"]))
		l.SetAttributeRaw("ignore_changes", ident("all"))
		return
	}
	l.SetAttributeRaw("ignore_changes", ignoreList(p))
}

// reasons say why an attribute is ignored; other attributes are the author's choice.
var reasons = map[string]string{
	"clone":     "clone is not read back: an imported VM would be destroyed and cloned again.",
	"started":   "started follows who starts or stops the VM: a plan would stop or start it.",
	"node_name": "node_name follows a migration by hand or by HA: a plan would move the VM back.",
}
