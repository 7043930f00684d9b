package real

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stackgen/internal/pvesim"
)

// record wraps tofu in a script that logs its arguments, and returns a function that
// reads the log.
func (p *project) record() func() string {
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

const s3Spec = `environment: prod
backend: {type: s3, bucket: states, region: eu-central-1, endpoint: "http://127.0.0.1:1", path_style: true, prefix: team}
vms: {a: {}}
`

const s3Backend = `terraform {
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

// TestS3Backend checks that the backend block is correct and has no credentials, and
// that nothing is prompted for or created: only the connection fails.
func TestS3Backend(t *testing.T) {
	t.Parallel()
	p := newStack(t, s3Spec).render()
	p.tools = p.tools.With("AWS_ACCESS_KEY_ID=the-key", "AWS_SECRET_ACCESS_KEY=the-secret")
	p.generate("live")
	output := p.fails(unitDir("live", "proxmox-vm"), []string{"run", "--", "plan", "-input=false"}, "127.0.0.1:1: connect: connection refused")
	if n := strings.Count(output, "Error:"); n > 2 { // one of tofu, repeated by Terragrunt
		t.Errorf("there are errors other than the connection's:\n%s", output)
	}
	if strings.Contains(output, "ootstrap") || strings.Contains(output, "[y/n]") || strings.Contains(output, "WARN") {
		t.Errorf("Terragrunt bootstraps or warns:\n%s", output)
	}
	if _, got, _ := strings.Cut(p.cached("backend.tf"), "\n"); got != s3Backend {
		t.Errorf("backend.tf is\n%s", got)
	}
	err := filepath.Walk(p.dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() && info.Size() < 1<<20 {
			if body, err := os.ReadFile(path); err != nil || strings.Contains(string(body), "the-secret") || strings.Contains(string(body), "the-key") {
				t.Errorf("%s has credentials, or cannot be read: %v", path, err)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestCAFile checks that ca_file is found for each base folder, from any working folder
// of Terragrunt.
func TestCAFile(t *testing.T) {
	t.Parallel()
	spec := "proxmox: {endpoint: \"https://127.0.0.1:1/\", ca_file: %s}\nvms: {a: {}}\n"
	ca := certificate(t)
	absolute := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(absolute, []byte(ca), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ written, found string }{
		{"certs/ca.pem", "specs/certs/ca.pem"}, {"../ca.pem", "ca.pem"}, {absolute, absolute},
	} {
		p := newStack(t, fmt.Sprintf(spec, tc.written))
		p.write("specs/certs/ca.pem", ca)
		p.write("ca.pem", ca)
		p.render()
		calls := p.record()
		p.generate("live")
		p.succeeds("/", "terragrunt", "run", "--working-dir", filepath.Join(p.dir, unitDir("live", "proxmox-vm")), "--", "plan", "-input=false")
		want := tc.found
		if !filepath.IsAbs(want) {
			want = filepath.Join(p.dir, want)
		}
		p.contains(calls(), "plan -input=false -no-color SSL_CERT_FILE="+want)
	}

	// In the project's settings, and in a spec that is rendered to another folder.
	p := newStack(t, "vms: {a: {}}\n")
	p.write("stackgen.yaml", noGuard+"proxmox: {endpoint: \"https://127.0.0.1:1/\", ca_file: shared/ca.pem}\n")
	p.write("shared/ca.pem", ca)
	p.render()
	p.contains(p.read("stacks/live/stack.hcl"), `ca_file  = "shared/ca.pem"`)
	out := filepath.Join(p.dir, "elsewhere")
	if code, output := p.stackgen("render", filepath.Join(p.dir, "specs/live.yaml"), "--out", out); code != 0 {
		t.Fatalf("exit %d: %s", code, output)
	}
	p.contains(p.read("elsewhere/stacks/live/stack.hcl"), `ca_file  = "../shared/ca.pem"`)
}

// certificate is that of an authority, in PEM form.
func certificate(t *testing.T) string {
	t.Helper()
	body, err := os.ReadFile("../script/shared/ca/specs/ca.pem")
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// TestParallelism checks that tofu gets the parallelism of a stack, and the certificate
// authority from root.hcl.
func TestParallelism(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/ca.pem": certificate(t), "specs/class.yaml": "apiVersion: stackgen/v1\nkind: Class\nname: class\nvmids: 100-199\ntemplate: 9000\ndefaults: {node: pve1}\n" +
		"proxmox: {ca_file: ca.pem}\nteacher: {}\nstudents: {count: 2}\napply: {parallelism: 5}\n", "specs/live.yaml": liveSpec("vms: {a: {}}\n")}).render()
	p.useTerraformData()
	calls := p.record()
	for _, stack := range []string{"class", "live"} {
		p.all(stack, "apply")
		p.all(stack, "destroy")
	}
	p.contains(calls(), "apply -parallelism=5 -no-color -auto-approve -input=false SSL_CERT_FILE="+p.dir+"/specs/ca.pem",
		"destroy -parallelism=5 -no-color -auto-approve SSL_CERT_FILE="+p.dir+"/specs/ca.pem",
		"apply -parallelism=4 -no-color -auto-approve -input=false SSL_CERT_FILE= ", "destroy -parallelism=4 -no-color -auto-approve SSL_CERT_FILE= ")
}

// TestClonesAtOnce counts the clones that an apply makes at the same time, while each
// of them takes a second.
func TestClonesAtOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spec string
		args []string
		want int
	}{
		"by default":     {"", nil, 4},
		"by the spec":    {"apply: {parallelism: 2}\n", nil, 2},
		"by an argument": {"apply: {parallelism: 2}\n", []string{"-parallelism=6"}, 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newStack(t, c.spec+"groups: {m: {count: 8, clone: linked, template: 9002}}\n").render()
			sim, err := pvesim.New(pvesim.Options{NoAuthDelay: true, Durations: func(kind string, _ int) (time.Duration, bool) { return time.Second, kind == "qmclone" }})
			check(t, err)
			check(t, sim.Start("127.0.0.1:0"))
			t.Cleanup(func() { check(t, sim.Close()) })
			p.tools = p.tools.With(sim.Env()...)
			p.succeeds("stacks/live", "terragrunt", append([]string{"stack", "run", "apply", "--"}, c.args...)...)
			var began []time.Time
			for _, e := range sim.Requests() {
				if e.Method == http.MethodPost && strings.HasSuffix(e.Path, "/clone") {
					began = append(began, e.Time)
				}
			}
			most := 0
			for i, first := range began {
				most = max(most, 1+len(slices.DeleteFunc(slices.Clone(began[i+1:]), func(at time.Time) bool { return at.Sub(first) >= time.Second })))
			}
			if len(began) != 8 || most != c.want {
				t.Errorf("%d clones, at most %d at once; want 8 and %d", len(began), most, c.want)
			}
		})
	}
}

// TestImportFiles checks that an import file reaches the unit's root module unchanged,
// and that nothing of it remains once it is removed.
func TestImportFiles(t *testing.T) {
	t.Parallel()
	p := newStack(t, "vms: {x: {adopt: {vmid: 800}}}\n").render()
	blocks := "# ${not.evaluated} %{ if true }\nimport {\n  for_each = { x = \"pve1/800\" }\n  to       = proxmox_virtual_environment_vm.adopted[each.key]\n  id       = \"${each.value}\"\n}\n"
	p.write("stacks/live/imports/proxmox-vm.tf", blocks)
	unit := filepath.Join(p.dir, unitDir("live", "proxmox-vm"))
	plan := []string{"run", "--working-dir", unit, "--", "plan", "-input=false"}
	p.succeeds("/", "terragrunt", "stack", "generate", "--working-dir", filepath.Join(p.dir, "stacks", "live"))
	p.fails("/", plan, "connection refused") // the import needs the cluster
	if _, got, _ := strings.Cut(p.cached("imports.tf"), "\n"); got != blocks {
		t.Errorf("imports.tf is\n%s\nwant\n%s", got, blocks)
	}
	if code, output := p.stackgen("render", "--check", p.dir); code != 0 {
		t.Errorf("render --check reports import files: exit %d\n%s", code, output)
	}

	p.remove("stacks/live/imports")
	p.succeeds("/", "terragrunt", "stack", "generate", "--working-dir", filepath.Join(p.dir, "stacks", "live"))
	p.contains(p.succeeds("/", "terragrunt", plan...), "1 to add")
	if got := p.cached("imports.tf"); strings.Contains(got, "import {") || !strings.Contains(got, "Nothing to import") {
		t.Errorf("imports.tf still has\n%s", got)
	}
}

// TestProviderLock checks that stackgen keeps the user's .terraform.lock.hcl of a unit or
// a module, and that tofu uses it.
func TestProviderLock(t *testing.T) {
	t.Parallel()
	for _, place := range []string{"modules/proxmox-vm", "units/proxmox-vm"} {
		p := newStack(t, "vms: {a: {}}\n").render()
		mirror := filepath.Join(filepath.Dir(tofurc(p.tools.Env)), "providers")
		p.succeeds("modules/proxmox-vm", "tofu", "providers", "lock", "-fs-mirror="+mirror, "-no-color")
		name := ".terraform.lock.hcl"
		made := p.read("modules/proxmox-vm/" + name)
		p.remove("modules/proxmox-vm/" + name)
		file := place + "/" + name
		p.write(file, made)
		p.render()
		if code, output := p.stackgen("render", "--check", p.dir); code != 0 || p.read(file) != made {
			t.Errorf("%s: render changes it: exit %d\n%s", file, code, output)
		}
		p.generate("live")
		dir := unitDir("live", "proxmox-vm")
		output := p.succeeds(dir, "terragrunt", "run", "--", "init", "-lockfile=readonly", "-no-color")
		p.contains(output, "Reusing previous version of bpg/proxmox from the dependency lock file")
		p.succeeds(dir, "terragrunt", "run", "--", "plan")
		if p.read(file) != made {
			t.Errorf("%s: a run changes it", file)
		}

		at := strings.Index(made, `"h1:`)
		p.write(file, made[:at+4]+"AAAA"+made[at+8:]) // of another provider
		p.succeeds("stacks/live", "terragrunt", "stack", "clean")
		p.generate("live")
		p.fails(dir, []string{"run", "--", "plan"}, "bpg/proxmox", "checksum")
	}
}

func tofurc(env []string) string {
	out := ""
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, "TF_CLI_CONFIG_FILE="); ok {
			out = v
		}
	}
	return out
}

// TestCatalog plans with units and modules from a tag of a Git repository.
func TestCatalog(t *testing.T) {
	t.Parallel()
	lib := newStack(t, "pool: {id: all, create: true}\nprofiles: {own: {ignore_changes: [node_name]}}\nvms: {a: {profile: own}, b: {profile: protected}, c: {}}\n").render()
	lib.tools = lib.tools.With("GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "modules", "units", "root.hcl"}, {"commit", "-q", "-m", "catalog"}, {"tag", "v1.0.0"},
		{"rm", "-q", "-r", "modules", "units"}, {"commit", "-q", "-m", "no longer here"}} {
		lib.succeeds(".", "git", args...)
	}
	for i, source := range []string{"git::file://" + lib.dir, "file://" + lib.dir, lib.dir} {
		p := newStack(t, "catalog: {source: \""+source+"\", ref: v1.0.0}\npool: {id: people, create: true}\nvms: {a: {profile: protected}, b: {}}\n").render()
		if p.exists("modules") || p.exists("units") {
			t.Error("a catalog's modules are rendered as well")
		}
		p.expect(p.plan("live", "proxmox-vm"), "create "+vmAddress("protected", "a"), "create "+vmAddress("this", "b"))
		if i == 0 {
			p.expect(p.plan("live", "proxmox-pool"), `create proxmox_virtual_environment_pool.this["people"]`)
		}
	}
	p := newStack(t, "catalog: {source: \"git::file://"+lib.dir+"\", ref: v1.0.0}\nprofiles: {other: {ignore_changes: [node_name]}}\nvms: {a: {profile: other}}\n").render()
	p.generate("live")
	p.fails(unitDir("live", "proxmox-vm"), []string{"run", "--", "plan"},
		"A VM has a profile this module has no resource block for. It knows: default, protected, own.")
}

// TestToolsLeaveNoFiles checks that tools write only to generated folders and the state.
func TestToolsLeaveNoFiles(t *testing.T) {
	t.Parallel()
	p := newStack(t, "vms: {a: {}}\n").render()
	p.useTerraformData()
	before := p.list()
	p.all("live", "apply")
	p.remove("stacks/live/.terragrunt-stack")
	p.remove(".state")
	if after := p.list(); !slices.Equal(before, after) {
		t.Errorf("the files after a run are\n%v, before it\n%v", after, before)
	}
}

// list returns every file of the project.
func (p *project) list() []string {
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
