package generator

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"stackgen/guest"
	"stackgen/internal/lock"
	"stackgen/schema"
)

// templateFolder is the folder of the module of a Template.
const templateFolder = "modules/" + kindTemplate + "/"

// templateShape is the shape of the VM resource of a template. It is not cloned.
func templateShape() *shape {
	root := &shape{}
	root.add(schema.TemplateFields(), "")
	return root
}

// imageType are the attributes of the image of a template in the module's variable.
var imageType = []string{"url", "checksum", "checksum_algorithm", "file_name", "datastore_id"}

// replicaValues are the attributes of a template in a stack file. The lock has its image.
func replicaValues(root *shape, v *schema.VM, d *lock.VM) []pair {
	algorithm, checksum, _ := strings.Cut(d.Image.Checksum, ":")
	image := inline(
		pair{"url", text(d.Image.URL)}, pair{"checksum", orNull(checksum)}, pair{"checksum_algorithm", orNull(algorithm)},
		pair{"file_name", text(d.Image.File)}, pair{"datastore_id", text(d.Image.Datastore)})
	return append([]pair{{"image", image}}, root.literal(withDecisions(v, d))...)
}

// templateModule renders the module of a Template: the files that nodes download, and the VMs
// whose disks are imported from them, which become templates.
func (r *renderer) templateModule() {
	root := templateShape()
	body := r.begin(templateFolder + "variables.tf")
	r.proxmoxVariable(body)
	v := body.AppendNewBlock("variable", []string{"vms"}).Body()
	v.SetAttributeRaw("description", text("The templates by key. Attributes are those of the VM, and image, which is that of the file."))
	var image []pair
	for _, name := range imageType {
		image = append(image, pair{name, call("optional", ident("string"))})
	}
	v.SetAttributeRaw("type", call("map", root.typeOf(pair{"image", call("object", object(image...))})))
	r.done()

	body = r.begin(templateFolder + "main.tf")
	f := body.AppendNewBlock("resource", []string{guest.FileResource, schema.ResourceLabel("")}).Body()
	f.SetAttributeRaw("for_each", words("toset(keys(var.vms))"))
	f.AppendNewline()
	f.SetAttributeRaw("node_name", words("var.vms[each.key].node_name"))
	f.SetAttributeRaw("content_type", text("import"))
	for _, name := range []string{"datastore_id", "file_name", "url", "checksum", "checksum_algorithm"} {
		f.SetAttributeRaw(name, words("var.vms[each.key].image."+name))
	}
	f.AppendUnstructuredTokens(comment("In seconds. Without it, the provider stops a download after ten minutes."))
	f.SetAttributeRaw("upload_timeout", words("7200"))
	f.AppendNewline()
	f.AppendUnstructuredTokens(comment("Another image at the URL is another release, and a file of the same name may be somebody else's."))
	f.SetAttributeRaw("overwrite", boolean(false))
	f.SetAttributeRaw("overwrite_unmanaged", boolean(false))
	f.AppendNewline()
	l := f.AppendNewBlock("lifecycle", nil).Body()
	l.AppendUnstructuredTokens(comment("These act at the creation only, and an import does not read all of them."))
	l.SetAttributeRaw("ignore_changes", list(imageIgnored()...))
	body.AppendNewline()

	b := body.AppendNewBlock("resource", []string{guest.VMResource, schema.ResourceLabel("")}).Body()
	b.SetAttributeRaw("for_each", words("toset(keys(var.vms))"))
	b.AppendNewline()
	b.SetAttributeRaw("template", boolean(true))
	b.AppendNewline()
	root.body(b, func(*shape) hclwrite.Tokens { return words("var.vms[each.key]") })
	for _, dynamic := range b.Blocks() {
		if dynamic.Type() == "dynamic" && dynamic.Labels()[0] == schema.VMField(guest.Disks).HCL {
			content := dynamic.Body().FirstMatchingBlock("content", nil).Body()
			content.SetAttributeRaw("import_from", words(guest.FileResource+".this[each.key].id"))
		}
	}
	b.AppendNewline()
	atCreation(b)
	r.done()
}

// imageIgnored are the attributes of the file that never change. Not among them is what makes the
// provider keep the file: an import has its defaults, which would replace it.
func imageIgnored() []hclwrite.Tokens {
	var out []hclwrite.Tokens
	names := []string{"checksum", "checksum_algorithm", "content_type", "datastore_id", "file_name", "node_name", "upload_timeout", "url"}
	for _, name := range names {
		out = append(out, ident(name))
	}
	return out
}

// atCreation adds the lifecycle of what is never changed.
func atCreation(b *hclwrite.Body) {
	l := b.AppendNewBlock("lifecycle", nil).Body()
	l.AppendUnstructuredTokens(comment("All of it acts at the creation only: what differs afterwards is for another release."))
	l.SetAttributeRaw("ignore_changes", ident("all"))
}

// OtherHardware reads two stack files of a Template, before and after a render: the attributes of
// each template that are in both and differ. The image is not among them: the lock keeps it. A file
// that cannot be read has none.
func OtherHardware(before, after []byte) map[string][]string {
	old, err := renderedVMs(before)
	if err != nil {
		return nil // it may hold a merge conflict, and proves nothing
	}
	now, err := renderedVMs(after)
	if err != nil {
		return nil
	}
	out := map[string][]string{}
	for key, was := range old {
		is, stays := now[key]
		if !stays || !was.Type().IsObjectType() || !is.Type().IsObjectType() {
			continue
		}
		names := map[string]bool{}
		for _, v := range []cty.Value{was, is} {
			for name := range v.Type().AttributeTypes() {
				names[name] = name != "image" && !member(was, name).RawEquals(member(is, name))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			if names[name] {
				out[key] = append(out[key], name)
			}
		}
	}
	return out
}
