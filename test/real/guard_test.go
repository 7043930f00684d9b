package real

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// A guardedStack is a stack with the real provider and a simulated cluster, run
// with its hooks.
type guardedStack struct {
	*project
	sim *pvesim.Server
}

const guardedSpec = `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
pool: {id: live, create: true}
defaults: {node: pve1, template: 9002, disks: [{interface: scsi0, size: 8, datastore: local-lvm}]}
vms:
  a: {}
  b: {profile: protected}
`

func newGuarded(t *testing.T, spec string) *guardedStack {
	t.Helper()
	p := newProject(t, map[string]string{"specs/live.yaml": spec})
	g := &guardedStack{project: p, sim: p.simulate()}
	p.render()
	return g
}

// stack runs the whole stack, which must succeed or fail, with an output that contains
// all of these.
func (g *guardedStack) stack(succeeds bool, command string, contains ...string) string {
	g.Helper()
	command, extra, _ := strings.Cut(command, " -- ")
	args := append([]string{"stack", "run"}, strings.Fields(command)...)
	args = append(args, "--non-interactive")
	if extra != "" {
		args = append(append(args, "--"), strings.Fields(extra)...)
	}
	g.sim.ResetLog()
	r := g.run("stacks/live", "terragrunt", args...)
	if (r.Code == 0) != succeeds {
		g.Fatalf("%s: exit %d\n%s", command, r.Code, r.Text())
	}
	g.contains(r.Text(), contains...)
	if n := g.sim.Counters().Writes; !succeeds && n != 0 {
		g.Errorf("%s was refused after %d writes", command, n)
	}
	return r.Text()
}

// clusterReads is the number of inventories that stackgen read: each reads the status
// of the cluster once, and the provider never does.
func (g *guardedStack) clusterReads() int {
	n := 0
	for _, r := range g.sim.Requests() {
		if strings.HasSuffix(r.Path, "/cluster/status") {
			n++
		}
	}
	return n
}

// TestGuard applies, adopts and destroys a stack with Terragrunt only: the units' hooks
// refuse changes that are not in the spec, before any write.
func TestGuard(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, guardedSpec)
	g.stack(true, "apply", "stackgen guard: the apply of live/proxmox-pool may go on: 3 create", "stackgen guard: the apply of live/proxmox-vm may go on: 3 create")
	if n := g.clusterReads(); n != 1 {
		t.Errorf("a run of two units read the cluster %d times, want once", n)
	}
	g.stack(true, "apply", "stackgen guard: the apply of live/proxmox-vm may go on: 3 managed")
	if n := g.clusterReads(); n != 1 {
		t.Errorf("the next run read the cluster %d times, want once", n)
	}

	kept := t.TempDir()
	if err := os.CopyFS(kept, os.DirFS(filepath.Join(g.dir, ".state"))); err != nil {
		t.Fatal(err)
	}
	g.remove(".state")
	g.stack(false, "apply", "stackgen guard refuses the apply of live/proxmox-pool: fix 3 findings", "outdated adopt live/a", "stackgen import-blocks")
	if code, output := g.stackgen("import-blocks", g.dir); code != 0 {
		t.Fatalf("import-blocks: %d\n%s", code, output)
	}
	g.stack(true, "apply", "3 adopt")
	if n := g.sim.Counters().Writes; n != 0 {
		t.Errorf("the adoption made %d writes", n)
	}
	g.stack(true, "apply", "1 managed, 2 settling") // with import files that are applied

	g.stack(false, `apply -- -replace=proxmox_virtual_environment_vm.this["a"]`, "the plan replaces proxmox_virtual_environment_vm.this", "VMID 300")
	g.stack(false, "destroy", "refuses the destroy of live/proxmox-vm", "profile protected prevents its destroy")

	plans := t.TempDir()
	g.stack(true, "plan --out-dir "+plans)
	g.sim.Remove(300)
	g.stack(false, "apply --out-dir "+plans, "blocked gone live/a")
}

// TestGuardSavedPlan checks that the guard judges the saved plan, not a new one.
func TestGuardSavedPlan(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, guardedSpec)
	g.stack(true, "apply")
	plans := t.TempDir()
	g.stack(true, `plan --out-dir `+plans+` -- -replace=proxmox_virtual_environment_vm.this["a"]`)
	g.stack(false, "apply --out-dir "+plans, "the plan replaces proxmox_virtual_environment_vm.this")
}

// TestGuardFast checks that `guard: fast` judges no plan, and that `off` refuses nothing.
func TestGuardFast(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, strings.Replace(guardedSpec, "name: live\n", "name: live\nguard: fast\n", 1))
	g.stack(true, "apply", "3 create")
	g.stack(true, `apply -- -replace=proxmox_virtual_environment_vm.this["a"]`)
	g.sim.Remove(300)
	g.stack(false, "apply", "blocked gone live/a")
	g.write("specs/live.yaml", strings.Replace(guardedSpec, "name: live\n", "name: live\nguard: off\n", 1))
	g.render()
	g.stack(true, "apply")
	if output := g.stack(true, "apply"); strings.Contains(output, "guard") {
		t.Errorf("guard: off, but the guard runs\n%s", output)
	}
}

// TestGuardOverride checks that variables that turn an apply into a destroy, or select
// another workspace, are refused, and so is a unit of an earlier render.
func TestGuardOverride(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, strings.Replace(guardedSpec, "name: live\n", "name: live\nguard: fast\n", 1))
	g.stack(true, "apply", "3 create")
	tools := g.tools
	g.tools = tools.With("TF_CLI_ARGS_apply=-destroy")
	g.stack(false, "apply", "TF_CLI_ARGS_apply turns every apply into a destroy")
	g.tools = tools.With("TF_WORKSPACE=dev")
	g.stack(false, "apply", "TF_WORKSPACE names workspace dev")

	g.tools = tools
	g.write("specs/live.yaml", strings.Replace(guardedSpec, "name: live\n", "name: live\nguard: fast\n", 1)+"  c: {}\n")
	g.render()
	r := g.run("stacks/live/.terragrunt-stack/proxmox-vm", "terragrunt", "apply", "-auto-approve", "--non-interactive")
	if r.Code == 0 {
		t.Error("a unit that was generated before the last render is applied")
	}
	g.contains(r.Text(), "this unit was generated from another render than the last one", "it differs in c")
}

// TestGuardStateID checks that no level of the guard permits a destroy of a VM whose id in
// the state is the VMID of another guest: the provider destroys that.
func TestGuardStateID(t *testing.T) {
	t.Parallel()
	spec := strings.Replace(guardedSpec, "  b: {profile: protected}\n", "", 1)
	g := newGuarded(t, spec)
	g.stack(true, "apply", "2 create")
	g.sim.Change(func(s *pvesim.Seed) { s.Guests = append(s.Guests, guestByHand(700, "pve1", "erp")) })
	const file = ".state/live/proxmox-vm/tofu.tfstate"
	state := g.read(file)
	g.write(file, strings.Replace(state, `"id": "300"`, `"id": "700"`, 1))
	for _, level := range []string{"full", "fast"} {
		g.write("specs/live.yaml", strings.Replace(spec, "name: live\n", "name: live\nguard: "+level+"\n", 1))
		g.render()
		g.stack(false, "destroy -- -refresh=false", "conflict", "live/a: VM 300", "its id in the state is another VMID than its vm_id")
	}
}

// TestGuardRunTwice checks that two runs of the guard from a shell both read the cluster.
func TestGuardRunTwice(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, strings.Replace(guardedSpec, "name: live\n", "name: live\nguard: fast\n", 1))
	g.stack(true, "apply")
	for _, want := range []int{0, 3} {
		if code, output := g.stackgen("guard", "--project", g.dir, "live/proxmox-vm", "--", "apply"); code != want {
			t.Errorf("exit %d, want %d\n%s", code, want, output)
		}
		g.sim.Remove(300)
	}
}

// TestGuardNotInstalled checks that nothing is applied without stackgen on PATH.
func TestGuardNotInstalled(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, guardedSpec)
	path := strings.TrimPrefix(g.pathOf(), filepath.Dir(stackgen)+string(filepath.ListSeparator))
	g.tools = g.tools.With("PATH=" + path)
	g.stack(false, "apply", `exec: "stackgen": executable file not found in $PATH`)
}

// TestGuardRefusedCredentials checks that a cluster that cannot be read is not an empty one.
func TestGuardRefusedCredentials(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, guardedSpec)
	g.tools = g.tools.With("PROXMOX_VE_API_TOKEN=root@pam!other=00000000-0000-0000-0000-000000000000")
	g.stack(false, "apply", "rejects the credentials")
}

// TestGuardDestroy checks that the destroy of a stack with a protected VM is refused
// before its first record is destroyed. Without one, everything is destroyed.
func TestGuardDestroy(t *testing.T) {
	t.Parallel()
	const live = "DNS\n" + dnsLive + "vms:\n  a: {name: web}\n  b: {name: db, profile: "
	p := newDNSCluster(t, live+"protected}\n")
	p.apply()
	web, db := p.address("web"), p.address("db")
	p.sim.ResetLog()
	p.fails("stacks/live", []string{"stack", "run", "destroy", "--non-interactive"},
		"stackgen guard refuses the destroy of live/dns-", "profile protected prevents its destroy")
	p.has("web", web)
	p.has("db", db)
	if n := p.sim.Counters().Writes; n != 0 {
		t.Errorf("a refused destroy made %d writes", n)
	}

	p.write("specs/live.yaml", p.liveText(live+"default}\n"))
	p.render()
	p.apply()
	p.succeeds("stacks/live", "terragrunt", "stack", "run", "destroy", "--non-interactive")
	p.has("web")
	p.has("db")
}
