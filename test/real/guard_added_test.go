//go:build unix

package real

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"stackgen/internal/guard"
)

// oneVM is a stack of one VM at a level of the guard.
func oneVM(level string) string {
	return "apiVersion: stackgen/v1\nkind: Stack\nname: live\nvmids: 300-399\nguard: " + level + "\n" +
		"defaults: {node: pve1, template: 9002, disks: [{interface: scsi0, size: 8, datastore: local-lvm}]}\nvms: {a: {started: false}}\n"
}

// noVMs is an override of the module of VMs, which destroys all of them.
const noVMs = "resource \"proxmox_virtual_environment_vm\" \"this\" {\n  for_each = {}\n}\n"

// TestGuardAddedFiles: a file that stackgen did not write, where OpenTofu or Terragrunt reads
// it, stops an apply before anything is read. The printed line moves it away. The lock files
// of providers are the user's.
func TestGuardAddedFiles(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, oneVM("fast"))
	unit := unitDir("live", "proxmox-vm")
	g.write("modules/proxmox-vm/.terraform.lock.hcl", "")
	g.stack(true, "apply", "1 create")
	cache, err := filepath.Glob(filepath.Join(g.dir, unit, ".terragrunt-cache/*/*/proxmox-vm"))
	if err != nil || len(cache) != 1 {
		t.Fatalf("%q, %v, want one folder", cache, err)
	}
	inCache, err := filepath.Rel(g.dir, cache[0])
	check(t, err)
	const why = "a file that stackgen did not write changes what the run does"
	for _, c := range []struct{ path, body string }{
		{"modules/proxmox-vm/x_override.tf", noVMs},
		{"units/proxmox-vm/vms.tofu", "locals {}\n"},
		{unit + "/zz.auto.tfvars.json", `{"vms": {}}`},
		{inCache + "/terraform.tfvars", ""},
	} {
		g.write(c.path, c.body)
		output := g.stack(false, "apply", why, c.path+": stackgen did not write it")
		g.hasVMs(300)
		_, line, _ := strings.Cut(output, "      mv ")
		line, _, _ = strings.Cut(line, "\n")
		g.succeeds(".", "sh", "-c", "mv "+line)
	}
	g.write("o.tf", noVMs)
	for _, env := range []string{"STACKGEN_STARTING=" + filepath.Join(g.dir, "o.tf"), "STACKGEN_LATER=dns-x", "TG_SOURCE=" + filepath.Join(g.dir, "modules")} {
		name, _, _ := strings.Cut(env, "=")
		g.with(env, func() { g.stack(false, "apply", name, "unset "+name) })
		g.hasVMs(300)
	}

	// Without a hook, nothing but render --check, preflight and apply can find it.
	g.write("stacks/root.hcl", strings.Replace(g.read("root.hcl"), `"destroy"]`, `]`, 1))
	if code, output := g.stackgen("render", "--check", g.dir); code != 3 || !strings.Contains(output, "/stacks/root.hcl: is not a generated file") {
		t.Errorf("render --check: exit %d\n%s", code, output)
	}
	if code, output := g.stackgen("preflight", g.dir); code != 3 || !strings.Contains(output, "stacks/root.hcl: stackgen did not write it") {
		t.Errorf("preflight: exit %d\n%s", code, output)
	}
	g.remove("stacks/root.hcl")
	g.stack(true, "apply", "1 managed")
}

// TestVariablesOfTerragrunt: the guard has decided about each variable that a run of
// Terragrunt reads.
func TestVariablesOfTerragrunt(t *testing.T) {
	t.Parallel()
	p := newProject(t, nil)
	names := map[string]bool{}
	for _, command := range []string{"run", "stack run", "exec"} {
		help := p.succeeds(".", "terragrunt", append(strings.Fields(command), "--help")...)
		for _, m := range regexp.MustCompile(`\$(TG_[A-Z_]+)`).FindAllStringSubmatch(help, -1) {
			names[m[1]] = true
		}
	}
	if len(names) < 50 {
		t.Errorf("%d variables, want more: the pattern does not match", len(names))
	}
	for name := range names {
		if !guard.Decides(name) {
			t.Errorf("the guard has not decided about %s", name)
		}
	}
}
