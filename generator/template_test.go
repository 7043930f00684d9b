package generator

import (
	"strings"
	"testing"

	"stackgen/internal/lock"
	"stackgen/schema"
)

// TestTemplateFiles renders a Template and a stack without one.
func TestTemplateFiles(t *testing.T) {
	spec, problems := schema.Parse("specs/base.yaml", []byte(`apiVersion: stackgen/v1
kind: Template
name: base-1.0
vmids: 9000-9049
datastore: local-lvm
download: local
release: "1"
nodes: [a]
image: {url: "https://images.example/1", checksum: "sha256:`+strings.Repeat("0", 64)+`", file_name: 1.qcow2}
hardware: {cores: 3}
`))
	if spec == nil {
		t.Fatal(problems)
	}
	p, problems := schema.Join(nil, []schema.Input{{Spec: spec, Label: "specs/base.yaml"}}, nil, nil)
	if schema.HasErrors(problems) {
		t.Fatal(problems)
	}
	r := lock.Decide(p, &lock.Lock{Version: lock.Version}, lock.Options{Specs: map[string]string{"base-1.0": "specs/base.yaml"}, Selected: func(string) bool { return true }, Project: "0"})
	files, err := Render(p, r.Lock, func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	bodies := map[string]string{}
	for _, f := range files {
		bodies[f.Path] = strings.Join(strings.Fields(string(f.Body)), " ")
	}
	for path, want := range map[string][]string{
		"stacks/base-1.0/terragrunt.stack.hcl": {`source = "../../units/proxmox-template"`, `checksum_algorithm = "sha256"`, `file_name = "1.qcow2"`, `cores = 3`, `vm_id = 9000`, `started = false`},
		"modules/proxmox-template/main.tf": {"template = true", "overwrite = false", "overwrite_unmanaged = false", "ignore_changes = all",
			"import_from = proxmox_virtual_environment_download_file.this[each.key].id"},
		"modules/proxmox-template/versions.tf":  {`version = "0.111.1"`},
		"modules/proxmox-template/variables.tf": {"checksum_algorithm = optional(string)"},
		"units/proxmox-template/terragrunt.hcl": {"modules//proxmox-template"},
	} {
		for _, text := range want {
			if !strings.Contains(bodies[path], text) {
				t.Errorf("%s lacks %s\n%s", path, text, bodies[path])
			}
		}
	}
	if bodies["modules/proxmox-vm/main.tf"] != "" {
		t.Error("a project with Templates only has the module of VMs")
	}
	if main := bodies["modules/proxmox-template/main.tf"]; strings.Contains(main, "clone") || strings.Contains(main, "file_id =") && strings.Contains(main, "disk.value.file_id") {
		t.Error("the template is cloned, or its image needs SSH")
	}
}
