package real

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"go.yaml.in/yaml/v3"

	"stackgen/internal/lock"
	"stackgen/schema"
)

// everythingLock has the decisions for everything.yaml that need a cluster.
const everythingLock = lock.Header + `
version: 3
stacks:
  everything:
    spec: specs/everything.yaml
    environment: test
    state_key: test/everything
    backend: {type: local}
    vms:
      placed: {vmid: 500, node: pve2, clone: linked, template: {vmid: 9001, node: pve2, name: golden}}
      placedbox: {kind: container, vmid: 703, node: pve2, macs: ["BC:24:11:00:00:03"]}
`

// everythingTemplate makes a template for everything.yaml.
const everythingTemplate = `apiVersion: stackgen/v1
kind: Template
name: base
environment: test
engine: {opentofu: ">= 1.10, < 2", terragrunt: "~> 1.1"}
vmids: 9100-9149
datastore: local-lvm
download: local
nodes: [pve1]
release: "1"
image: {url: "https://images.example/1", file_name: base-1.qcow2}
`

// specialText has text with a meaning in HCL, on a terminal or in JSON.
const specialText = `pool: {id: hostile, create: true, comment: '` + specialCharacters + `'}
vms:
  a:
    description: '` + specialCharacters + `'
    cloud_init: {ssh_keys: ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOGf5oyqYiE6i2O2ljzHFAXlkdO5yHNNRSpk7Fz9vZq4 ` + specialCharacters + `']}
    meta: {'${key}': '` + specialCharacters + `', escape: "[31m\t\r\n\u00a0\ufffd", number: 1e3, lines: "one\n${two}\n%{if true}\n\\n"}
  b:
    description: "two\n${lines}\n\ttab %%{ $${ \\ \\n \"quoted\" \u00e9 e\u0301 \U0001F600"
`

const specialCharacters = `${local.x} %{ if true }x%{ endif } $${a} %%{b} "q" \ \n \u0041 <<EOT # // /* */ {{ }} ü 日本 😀 <&>`

// ownProject is a copy of this repository's project.
func ownProject(t *testing.T) *project {
	p := newProject(t, nil)
	for _, name := range []string{"specs", "stackgen.lock.yaml"} {
		from := filepath.Join(repository, name)
		err := filepath.Walk(from, func(path string, info os.FileInfo, err error) error {
			if err != nil || info.IsDir() {
				return err
			}
			body, err := os.ReadFile(path)
			rel, _ := filepath.Rel(repository, path)
			p.write(filepath.ToSlash(rel), string(body))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return p.render()
}

func everythingProject(t *testing.T) *project {
	body, err := os.ReadFile("testdata/everything.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return newProject(t, map[string]string{"specs/everything.yaml": string(body), "specs/base.yaml": everythingTemplate, "stackgen.lock.yaml": everythingLock}).render()
}

// TestToolsAcceptRendered checks that OpenTofu, Terragrunt and HCL accept and would not
// reformat rendered files.
func TestToolsAcceptRendered(t *testing.T) {
	projects := []struct {
		name   string
		make   func(*testing.T) *project
		stacks []string
	}{
		{"repository", ownProject, []string{"homelab", "k3s", "cs101"}},
		{"everything", everythingProject, []string{"everything"}},
		{"special text", func(t *testing.T) *project { return newStack(t, specialText).render() }, []string{"live"}},
	}
	for _, tc := range projects {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := tc.make(t)
			p.succeeds(".", "tofu", "fmt", "-check", "-recursive", "-diff")
			p.succeeds(".", "terragrunt", "hcl", "fmt", "--check", "--diff")
			modules := 0
			for _, module := range []string{"proxmox-vm", "proxmox-container", "proxmox-pool", "dns-records"} {
				if p.exists("modules/" + module) { // a stack uses it
					p.validates(module, "tofu")
					modules++
				}
			}
			if tc.name == "repository" && modules != 3 {
				t.Errorf("%d modules were validated, want 3", modules)
			}
			for _, stack := range tc.stacks {
				p.generate(stack)
				p.succeeds("stacks/"+stack, "terragrunt", "hcl", "validate")
				p.parses("stacks/" + stack)
			}
		})
	}
}

// validates initialises and validates a copy of a module.
func (p *project) validates(module, tool string) {
	p.Helper()
	dir := "validate-" + tool + "-" + module
	if err := os.CopyFS(filepath.Join(p.dir, dir), os.DirFS(filepath.Join(p.dir, "modules", module))); err != nil {
		p.Fatal(err)
	}
	p.succeeds(dir, tool, "init", "-backend=false", "-input=false", "-no-color")
	p.succeeds(dir, tool, "validate", "-no-color")
	p.remove(dir)
}

// parses checks that every HCL file below a folder parses.
func (p *project) parses(dir string) {
	p.Helper()
	err := filepath.Walk(filepath.Join(p.dir, dir), func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() || filepath.Ext(path) != ".hcl" && filepath.Ext(path) != ".tf" {
			return err
		}
		body, err := os.ReadFile(path)
		if _, diags := hclsyntax.ParseConfig(body, path, hcl.InitialPos); diags.HasErrors() {
			p.Error(diags)
		}
		return err
	})
	if err != nil {
		p.Fatal(err)
	}
}

// TestTerraform checks that HashiCorp Terraform accepts the modules.
func TestTerraform(t *testing.T) {
	if _, err := exec.LookPath("terraform"); err != nil {
		t.Skip("terraform is not installed")
	}
	t.Parallel()
	p := everythingProject(t)
	p.succeeds(".", "terraform", "fmt", "-check", "-recursive")
	for _, module := range []string{"proxmox-vm", "proxmox-container", "proxmox-pool", "dns-records"} {
		if p.exists("modules/" + module) {
			p.validates(module, "terraform")
		}
	}
}

// TestEveryProperty checks that testdata/everything.yaml has every property of a VM and of a
// container, and that each reaches its attribute in a plan of the provider.
func TestEveryProperty(t *testing.T) {
	t.Parallel()
	p := everythingProject(t)
	var spec struct {
		VMs        map[string]map[string]any `yaml:"vms"`
		Containers map[string]map[string]any `yaml:"containers"`
	}
	if err := yaml.Unmarshal([]byte(p.read("specs/everything.yaml")), &spec); err != nil {
		t.Fatal(err)
	}
	everyProperty(p, "proxmox-vm", schema.VMFields, spec.VMs)
	everyProperty(p, "proxmox-container", schema.ContainerFields, spec.Containers)
}

// everyProperty is TestEveryProperty for the guests of a unit.
func everyProperty(p *project, unit string, fields []schema.Field, guests map[string]map[string]any) {
	planned, written := map[string]bool{}, map[string]bool{}
	for _, c := range p.plan("everything", unit).Changes {
		collectPaths(planned, "", c.Change.After)
	}
	for _, g := range guests {
		collectPaths(written, "", g)
	}
	var walk func(fields []schema.Field, key, hcl string)
	walk = func(fields []schema.Field, key, hcl string) {
		for _, f := range fields {
			if f.Type == schema.List && f.Elem.Type == schema.Object {
				f.Fields = f.Elem.Fields
			}
			if !written[key+f.Key] {
				p.Errorf("testdata/everything.yaml lacks %s of %s", key+f.Key, unit)
			}
			if f.HCL != "" && len(f.Fields) == 0 && !planned[hcl+f.HCL] {
				p.Errorf("%s does not reach %s of %s", key+f.Key, hcl+f.HCL, unit)
			}
			below := hcl
			if f.HCL != "" {
				below += f.HCL + "."
			}
			walk(f.Fields, key+f.Key+".", below)
		}
	}
	walk(fields, "", "")
}

// collectPaths adds the paths of all values that are not null; lists have no index.
func collectPaths(out map[string]bool, at string, v any) {
	switch v := v.(type) {
	case nil:
		return
	case []any:
		for _, item := range v {
			collectPaths(out, at, item)
		}
	case map[string]any:
		for k, item := range v {
			collectPaths(out, strings.TrimPrefix(at+"."+k, "."), item)
		}
	}
	out[at] = true
}

// TestEngines checks that the engine constraints of a spec are enforced by root.hcl and
// the modules.
func TestEngines(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ tofu, terragrunt, contains string }{
		{"~> 1.10", "~> 1.1", ""},
		{">= 1.10, < 2, != 1.11.0", ">= 1.1, < 2", ""},
		{">= 7", ">= 1.1", ">= 7"},
		{">= 1.10", "= 1.2.0", "= 1.2.0"},
	} {
		p := newStack(t, fmt.Sprintf("engine: {opentofu: %q, terragrunt: %q}\nvms: {a: {}}\n", tc.tofu, tc.terragrunt)).render()
		if tc.contains == "" {
			p.validates("proxmox-vm", "tofu")
			p.plan("live", "proxmox-vm")
			continue
		}
		p.generate("live")
		p.fails(unitDir("live", "proxmox-vm"), []string{"run", "--", "plan"}, tc.contains)
	}
}
