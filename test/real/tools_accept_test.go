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
	"gopkg.in/yaml.v3"

	"stackgen/internal/lock"
	"stackgen/schema"
)

// realEverythingLock holds what only a cluster could decide for everything.yaml.
const realEverythingLock = lock.Header + `
version: 1
stacks:
  everything:
    spec: specs/everything.yaml
    environment: test
    state_key: test/everything
    backend: {type: local}
    vms:
      placed: {vmid: 500, node: pve2, clone: linked, template: {vmid: 9001, node: pve2, name: golden}}
`

// realHostile has text that means something to HCL, to a terminal or to JSON.
const realHostile = `pool: {id: hostile, create: true, comment: '` + realNasty + `'}
vms:
  a:
    description: '` + realNasty + `'
    cloud_init: {ssh_keys: ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOGf5oyqYiE6i2O2ljzHFAXlkdO5yHNNRSpk7Fz9vZq4 ` + realNasty + `']}
    meta: {'${key}': '` + realNasty + `', escape: "\e[31m\x1b]0;x\a\0\r\n\u2028", number: 1e3, lines: "one\n${two}\n%{if true}\n\\n"}
  b:
    description: "two\n${lines}\n\ttab %%{ $${ \\ \\n \"quoted\" \u00e9 e\u0301 \U0001F600"
`

const realNasty = `${local.x} %{ if true }x%{ endif } $${a} %%{b} "q" \ \n \u0041 <<EOT # // /* */ {{ }} ü 日本 😀 <&>`

// realRepository is a copy of this repository's own project.
func realRepository(t *testing.T) *realProject {
	p := realNew(t, nil)
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

func realEverything(t *testing.T) *realProject {
	body, err := os.ReadFile("testdata/everything.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return realNew(t, map[string]string{"specs/everything.yaml": string(body), "stackgen.lock.yaml": realEverythingLock}).render()
}

// TestRealAccept: what is rendered is accepted as it is by everything that will
// read it.
func TestRealAccept(t *testing.T) {
	projects := []struct {
		name   string
		make   func(*testing.T) *realProject
		stacks []string
	}{
		{"repository", realRepository, []string{"homelab", "k3s", "cs101"}},
		{"everything", realEverything, []string{"everything"}},
		{"hostile", func(t *testing.T) *realProject { return realStack(t, realHostile).render() }, []string{"live"}},
	}
	for _, tc := range projects {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := tc.make(t)
			p.good(".", "tofu", "fmt", "-check", "-recursive", "-diff")
			p.good(".", "terragrunt", "hcl", "fmt", "--check", "--diff")
			for _, module := range []string{"proxmox-vm", "proxmox-pool", "dns-records"} {
				p.validates(module, "tofu")
			}
			for _, stack := range tc.stacks {
				p.generate(stack)
				p.good("stacks/"+stack, "terragrunt", "hcl", "validate")
				p.parses("stacks/" + stack)
			}
		})
	}
}

// validates initialises and validates a copy of a module.
func (p *realProject) validates(module, tool string) {
	p.Helper()
	dir := "validate-" + tool + "-" + module
	if err := os.CopyFS(filepath.Join(p.dir, dir), os.DirFS(filepath.Join(p.dir, "modules", module))); err != nil {
		p.Fatal(err)
	}
	p.good(dir, tool, "init", "-backend=false", "-input=false", "-no-color")
	p.good(dir, tool, "validate", "-no-color")
	p.remove(dir)
}

// parses checks that every HCL file below a folder parses.
func (p *realProject) parses(dir string) {
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

// TestRealTerraform: HashiCorp Terraform accepts the modules too.
func TestRealTerraform(t *testing.T) {
	if _, err := exec.LookPath("terraform"); err != nil {
		t.Skip("terraform is not installed")
	}
	t.Parallel()
	p := realEverything(t)
	p.good(".", "terraform", "fmt", "-check", "-recursive")
	for _, module := range []string{"proxmox-vm", "proxmox-pool", "dns-records"} {
		p.validates(module, "terraform")
	}
}

// TestRealEverything: testdata/everything.yaml has every property of a VM, and each
// reaches the provider.
func TestRealEverything(t *testing.T) {
	t.Parallel()
	p := realEverything(t)
	var spec struct {
		VMs map[string]map[string]any `yaml:"vms"`
	}
	if err := yaml.Unmarshal([]byte(p.read("specs/everything.yaml")), &spec); err != nil {
		t.Fatal(err)
	}
	planned := map[string]bool{}
	for _, c := range p.plan("everything", "proxmox-vm").Changes {
		realPaths(planned, "", c.Change.After)
	}
	written := map[string]bool{}
	for _, vm := range spec.VMs {
		realPaths(written, "", vm)
	}
	var walk func(fields []schema.Field, key, hcl string)
	walk = func(fields []schema.Field, key, hcl string) {
		for _, f := range fields {
			if f.Type == schema.List && f.Elem.Type == schema.Object {
				f.Fields = f.Elem.Fields
			}
			if !written[key+f.Key] {
				t.Errorf("testdata/everything.yaml lacks %s", key+f.Key)
			}
			if f.HCL != "" && len(f.Fields) == 0 && !planned[hcl+f.HCL] {
				t.Errorf("%s does not reach %s of the resource", key+f.Key, hcl+f.HCL)
			}
			below := hcl
			if f.HCL != "" {
				below += f.HCL + "."
			}
			walk(f.Fields, key+f.Key+".", below)
		}
	}
	walk(schema.VMFields, "", "")
}

// realPaths notes the path of everything in a value that is not null; lists have
// no index.
func realPaths(out map[string]bool, at string, v any) {
	switch v := v.(type) {
	case nil:
		return
	case []any:
		for _, item := range v {
			realPaths(out, at, item)
		}
	case map[string]any:
		for k, item := range v {
			realPaths(out, strings.TrimPrefix(at+"."+k, "."), item)
		}
	}
	out[at] = true
}

// TestRealEngines: constraints of a spec reach root.hcl and the modules, and are
// kept there.
func TestRealEngines(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ tofu, terragrunt, says string }{
		{"~> 1.10", "~> 1.1", ""},
		{">= 1.10, < 2, != 1.11.0", ">= 1.1, < 2", ""},
		{">= 7", ">= 1.1", ">= 7"},
		{">= 1.10", "= 1.2.0", "= 1.2.0"},
	} {
		p := realStack(t, fmt.Sprintf("engine: {opentofu: %q, terragrunt: %q}\nvms: {a: {}}\n", tc.tofu, tc.terragrunt)).render()
		if tc.says == "" {
			p.validates("proxmox-pool", "tofu")
			p.plan("live", "proxmox-vm")
			continue
		}
		p.generate("live")
		p.bad(realUnit("live", "proxmox-vm"), "terragrunt", []string{"run", "--", "plan"}, tc.says)
	}
}
