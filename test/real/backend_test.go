package real

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// record puts a tofu before the real one that notes how it is called, and hands
// back a way to read the notes.
func (p *realProject) record() func() string {
	p.Helper()
	tofu, err := p.tools.Path("tofu")
	if err != nil {
		p.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\necho \"$@ SSL_CERT_FILE=$SSL_CERT_FILE\" >>'%s/calls'\nexec '%s' \"$@\"\n", p.dir, tofu)
	if err := os.WriteFile(filepath.Join(p.dir, "tofu"), []byte(script), 0o755); err != nil {
		p.Fatal(err)
	}
	p.tools = p.tools.With("TG_TF_PATH=" + filepath.Join(p.dir, "tofu"))
	return func() string { return p.read("calls") }
}

const realS3 = `environment: prod
backend: {type: s3, bucket: states, region: eu-central-1, endpoint: "http://127.0.0.1:1", path_style: true, prefix: team}
vms: {a: {}}
`

const realBackend = `terraform {
  backend "s3" {
    bucket = "states"
    endpoints = {
      s3 = "http://127.0.0.1:1"
    }
    key                         = "team/prod/live/proxmox-vm/tofu.tfstate"
    region                      = "eu-central-1"
    skip_credentials_validation = true
    skip_metadata_api_check     = true
    skip_region_validation      = true
    skip_requesting_account_id  = true
    skip_s3_checksum            = true
    use_lockfile                = true
    use_path_style              = true
  }
}
`

// TestRealS3: the backend block is right, holds no credentials, nothing is asked
// and nothing is made; only the server is missing.
func TestRealS3(t *testing.T) {
	t.Parallel()
	p := realStack(t, realS3).render()
	p.tools = p.tools.With("AWS_ACCESS_KEY_ID=the-key", "AWS_SECRET_ACCESS_KEY=the-secret")
	p.generate("live")
	said := p.bad(realUnit("live", "proxmox-vm"), "terragrunt", []string{"run", "--", "plan", "-input=false"}, "127.0.0.1:1: connect: connection refused")
	if n := strings.Count(said, "Error:"); n > 2 { // tofu says it, Terragrunt repeats it
		t.Errorf("more is wrong than the connection:\n%s", said)
	}
	if strings.Contains(said, "ootstrap") || strings.Contains(said, "[y/n]") || strings.Contains(said, "WARN") {
		t.Errorf("Terragrunt does more than it should:\n%s", said)
	}
	if _, got, _ := strings.Cut(p.cached("live", "proxmox-vm", "backend.tf"), "\n"); got != realBackend {
		t.Errorf("backend.tf is\n%s", got)
	}
	err := filepath.Walk(p.dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() && info.Size() < 1<<20 {
			if body, err := os.ReadFile(path); err != nil || strings.Contains(string(body), "the-secret") || strings.Contains(string(body), "the-key") {
				t.Errorf("%s holds credentials, or cannot be read: %v", path, err)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestRealAuthority: the cluster's own certificate authority is found whatever
// the file is relative to and wherever Terragrunt is run.
func TestRealAuthority(t *testing.T) {
	t.Parallel()
	spec := "proxmox: {endpoint: \"https://127.0.0.1:1/\", ca_file: %s}\nvms: {a: {}}\n"
	for _, tc := range []struct{ written, found string }{
		{"certs/ca.pem", "specs/certs/ca.pem"}, {"../ca.pem", "ca.pem"}, {"/etc/ca.pem", "/etc/ca.pem"},
	} {
		p := realStack(t, fmt.Sprintf(spec, tc.written)).render()
		calls := p.record()
		p.generate("live")
		p.good("/", "terragrunt", "run", "--working-dir", filepath.Join(p.dir, realUnit("live", "proxmox-vm")), "--", "plan", "-input=false")
		want := tc.found
		if !filepath.IsAbs(want) {
			want = filepath.Join(p.dir, want)
		}
		p.says(calls(), "plan -input=false -no-color SSL_CERT_FILE="+want)
	}

	// The settings of all specs, and a spec that is rendered elsewhere.
	p := realStack(t, "vms: {a: {}}\n")
	p.write("stackgen.yaml", realSettings+"proxmox: {endpoint: \"https://127.0.0.1:1/\", ca_file: shared/ca.pem}\n")
	p.render()
	p.says(p.read("stacks/live/stack.hcl"), `ca_file  = "shared/ca.pem"`)
	out := filepath.Join(p.dir, "elsewhere")
	if code, said := p.stackgen("render", filepath.Join(p.dir, "specs/live.yaml"), "--out", out); code != 0 {
		t.Fatalf("exit %d: %s", code, said)
	}
	p.says(p.read("elsewhere/stacks/live/stack.hcl"), `ca_file  = "../shared/ca.pem"`)
}

// TestRealParallelism: what a class says about it reaches tofu, and so does what
// root.hcl adds beside it.
func TestRealParallelism(t *testing.T) {
	t.Parallel()
	p := realNew(t, map[string]string{"specs/class.yaml": "apiVersion: stackgen/v1\nkind: Class\nname: class\nvmids: 100-199\ntemplate: 9000\ndefaults: {node: pve1}\n" +
		"proxmox: {ca_file: ca.pem}\nteacher: {}\nstudents: {count: 2}\napply: {parallelism: 4}\n"}).render()
	p.standIn()
	calls := p.record()
	p.all("class", "apply")
	p.all("class", "destroy")
	p.says(calls(), "apply -parallelism=4 -no-color -auto-approve -input=false SSL_CERT_FILE="+p.dir+"/specs/ca.pem",
		"destroy -parallelism=4 -no-color -auto-approve SSL_CERT_FILE="+p.dir+"/specs/ca.pem")
}

// TestRealImports: import blocks reach the unit's root module as they were
// written, and leave no trace once they are gone.
func TestRealImports(t *testing.T) {
	t.Parallel()
	p := realStack(t, "vms: {x: {adopt: {vmid: 800}}}\n").render()
	blocks := "# ${not.evaluated} %{ if true }\nimport {\n  for_each = { x = \"pve1/800\" }\n  to       = proxmox_virtual_environment_vm.adopted[each.key]\n  id       = \"${each.value}\"\n}\n"
	p.write("stacks/live/imports/proxmox-vm.tf", blocks)
	unit := filepath.Join(p.dir, realUnit("live", "proxmox-vm"))
	plan := []string{"run", "--working-dir", unit, "--", "plan", "-input=false"}
	p.good("/", "terragrunt", "stack", "generate", "--working-dir", filepath.Join(p.dir, "stacks", "live"))
	p.bad("/", "terragrunt", plan, "connection refused") // where the VM was to be imported from
	if _, got, _ := strings.Cut(p.cached("live", "proxmox-vm", "imports.tf"), "\n"); got != blocks {
		t.Errorf("imports.tf is\n%s\nwant\n%s", got, blocks)
	}
	if code, said := p.stackgen("render", "--check", p.dir); code != 0 {
		t.Errorf("render looks at import files: exit %d\n%s", code, said)
	}

	p.remove("stacks/live/imports")
	p.good("/", "terragrunt", "stack", "generate", "--working-dir", filepath.Join(p.dir, "stacks", "live"))
	p.says(p.good("/", "terragrunt", plan...), "1 to add")
	if got := p.cached("live", "proxmox-vm", "imports.tf"); strings.Contains(got, "import {") || !strings.Contains(got, "Nothing to import") {
		t.Errorf("imports.tf keeps\n%s", got)
	}
}

// TestRealProviderLock: a .terraform.lock.hcl that the user made, beside a unit
// or in a module, stays where it is and is what tofu goes by.
func TestRealProviderLock(t *testing.T) {
	t.Parallel()
	for _, place := range []string{"modules/proxmox-vm", "units/proxmox-vm"} {
		p := realStack(t, "vms: {a: {}}\n").render()
		mirror := filepath.Join(filepath.Dir(realConfig(p.tools.Env)), "providers")
		p.good("modules/proxmox-vm", "tofu", "providers", "lock", "-fs-mirror="+mirror, "-no-color")
		name := ".terraform.lock.hcl"
		made := p.read("modules/proxmox-vm/" + name)
		p.remove("modules/proxmox-vm/" + name)
		file := place + "/" + name
		p.write(file, made)
		p.render()
		if code, said := p.stackgen("render", "--check", p.dir); code != 0 || p.read(file) != made {
			t.Errorf("%s: render touches it: exit %d\n%s", file, code, said)
		}
		p.generate("live")
		dir := realUnit("live", "proxmox-vm")
		said := p.good(dir, "terragrunt", "run", "--", "init", "-lockfile=readonly", "-no-color")
		p.says(said, "Reusing previous version of bpg/proxmox from the dependency lock file")
		p.good(dir, "terragrunt", "run", "--", "plan")
		if p.read(file) != made {
			t.Errorf("%s: a run changes it", file)
		}

		at := strings.Index(made, `"h1:`)
		p.write(file, made[:at+4]+"AAAA"+made[at+8:]) // of another provider
		p.good("stacks/live", "terragrunt", "stack", "clean")
		p.generate("live")
		p.bad(dir, "terragrunt", []string{"run", "--", "plan"}, "bpg/proxmox", "checksum")
	}
}

func realConfig(env []string) string {
	out := ""
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, "TF_CLI_CONFIG_FILE="); ok {
			out = v
		}
	}
	return out
}

// TestRealCatalog: units and modules of a tag of a Git repository.
func TestRealCatalog(t *testing.T) {
	t.Parallel()
	lib := realStack(t, "pool: {id: all, create: true}\nprofiles: {own: {ignore_changes: [node_name]}}\nvms: {a: {profile: own}, b: {profile: protected}, c: {}}\n").render()
	lib.tools = lib.tools.With("GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "modules", "units", "root.hcl"}, {"commit", "-q", "-m", "catalog"}, {"tag", "v1.0.0"},
		{"rm", "-q", "-r", "modules", "units"}, {"commit", "-q", "-m", "no longer here"}} {
		lib.good(".", "git", args...)
	}
	for i, source := range []string{"git::file://" + lib.dir, "file://" + lib.dir, lib.dir} {
		p := realStack(t, "catalog: {source: \""+source+"\", ref: v1.0.0}\npool: {id: people, create: true}\nvms: {a: {profile: protected}, b: {}}\n").render()
		if p.exists("modules") || p.exists("units") {
			t.Error("a catalog's modules are rendered as well")
		}
		p.expect(p.plan("live", "proxmox-vm"), "create "+realVM("protected", "a"), "create "+realVM("this", "b"))
		if i == 0 {
			p.expect(p.plan("live", "proxmox-pool"), `create proxmox_virtual_environment_pool.this["people"]`)
		}
	}
	p := realStack(t, "catalog: {source: \"git::file://"+lib.dir+"\", ref: v1.0.0}\nprofiles: {other: {ignore_changes: [node_name]}}\nvms: {a: {profile: other}}\n").render()
	p.generate("live")
	p.bad(realUnit("live", "proxmox-vm"), "terragrunt", []string{"run", "--", "plan"},
		"A VM has a profile this module has no resource block for. It knows: default, protected, own.")
}

// TestRealLeavesNothing: what is rendered and generated is all there is: tools
// write nowhere else in the project.
func TestRealLeavesNothing(t *testing.T) {
	t.Parallel()
	p := realStack(t, "vms: {a: {}}\n").render()
	before := p.list()
	p.standIn()
	p.all("live", "apply")
	p.remove("stacks/live/.terragrunt-stack")
	p.remove(".state")
	if after := p.list(); !slices.Equal(before, after) {
		t.Errorf("after a run there are\n%v, before it\n%v", after, before)
	}
}

// list is every file of the project.
func (p *realProject) list() []string {
	p.Helper()
	var out []string
	err := filepath.Walk(p.dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		p.Fatal(err)
	}
	return out
}
