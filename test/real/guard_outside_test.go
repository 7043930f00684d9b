//go:build unix

package real

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// outsideSpecs are two stacks of one cluster. Each has VMs of its own.
func outsideSpecs(level string) map[string]string {
	const spec = "apiVersion: stackgen/v1\nkind: Stack\nname: %s\nvmids: %s\nguard: %s\n" +
		"defaults: {node: pve1, template: 9002, disks: [{interface: scsi0, size: 8, datastore: local-lvm}]}\nvms: {%s: {}}\n"
	return map[string]string{
		"specs/live.yaml":  fmt.Sprintf(spec, "live", "300-309", level, "a"),
		"specs/other.yaml": fmt.Sprintf(spec, "other", "310-319", level, "x"),
	}
}

func newOutside(t *testing.T, level string) *guardedStack {
	t.Helper()
	p := newProject(t, outsideSpecs(level))
	g := &guardedStack{project: p, sim: p.simulate()}
	p.render()
	for _, stack := range []string{"live", "other"} {
		p.succeeds("stacks/"+stack, "terragrunt", "stack", "run", "apply", "--non-interactive")
	}
	return g
}

// with runs a function with more variables in the environment.
func (p *project) with(env string, run func()) {
	before := p.tools
	defer func() { p.tools = before }()
	p.tools = p.tools.With(env)
	run()
}

// hasVMs fails unless exactly these VMs of the stacks are left.
func (g *guardedStack) hasVMs(want ...int) {
	g.Helper()
	var got []int
	for vmid := range stateOf(g.sim).guests {
		if vmid >= 300 && vmid < 400 {
			got = append(got, vmid)
		}
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		g.Errorf("the cluster has %v, want %v", got, want)
	}
}

// TestGuardOutside: nothing outside of the specs and the unit's own files changes what
// an apply does.
func TestGuardOutside(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"full", "fast"} {
		t.Run(level, func(t *testing.T) {
			g := newOutside(t, level)
			g.write("none.tfvars", "vms = {}\n")
			otherState := filepath.Join(g.dir, ".state/other/proxmox-vm/tofu.tfstate")
			for _, c := range []struct{ env, typed, want string }{
				{"TF_CLI_ARGS=-destroy", "", "TF_CLI_ARGS turns every apply into a destroy"},
				{"TF_CLI_ARGS_apply=-var=vms={}", "", "TF_CLI_ARGS_apply sets variables of the unit"},
				{"TF_CLI_ARGS_apply=-var-file=" + filepath.Join(g.dir, "none.tfvars"), "", "TF_CLI_ARGS_apply sets variables of the unit"},
				{"TF_CLI_ARGS_apply=-state=" + otherState, "", "TF_CLI_ARGS_apply names another state"},
				{"TF_CLI_ARGS_apply=-state-out=/tmp/x", "", "TF_CLI_ARGS_apply names another state"},
				{"TF_CLI_ARGS_init=-backend-config=path=" + otherState, "", "TF_CLI_ARGS_init names another backend"},
				{"TF_VAR_vms={}", "", "TF_VAR_vms sets a variable of the unit"},
				{`TF_VAR_proxmox={"endpoint":"https://192.0.2.1:8006"}`, "", "TF_VAR_proxmox sets a variable of the unit"},
				{"TF_WORKSPACE=dev", "", "TF_WORKSPACE names workspace dev"},
				{"X=", "-destroy", "-destroy turns this apply into a destroy"},
				{"X=", "-destroy=true", "-destroy turns this apply into a destroy"},
				{"X=", "-var=vms={}", "-var sets variables of the unit"},
				{"X=", "-var-file=" + filepath.Join(g.dir, "none.tfvars"), "-var-file sets variables of the unit"},
				{"X=", "-state=" + otherState, "-state names another state"},
			} {
				g.with(c.env, func() { g.stack(false, "apply -- "+c.typed, c.want) })
			}
			g.hasVMs(300, 310)
			g.stack(true, "apply", "1 managed")
		})
	}
}

// TestGuardFlagsFirst: Terragrunt takes the value of a flag before the command for the command, and OpenTofu applies.
func TestGuardFlagsFirst(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": oneSpec})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes", "live is as its spec says")
	p.write("specs/live.yaml", strings.Replace(oneSpec, "a: {}", "a: {tags: [blue]}", 1))
	p.render()
	p.write("specs/live.yaml", oneSpec)
	p.generate("live")
	sim.ResetLog()
	unit := unitDir("live", "proxmox-vm")
	for _, flags := range []string{"-lock-timeout 5m apply", "-parallelism 4 apply", "-lock-timeout 5m apply -destroy", "-lock-timeout 5m destroy"} {
		if strings.HasSuffix(flags, "destroy") {
			sim.Change(func(s *pvesim.Seed) { // which a destroy would meet
				for _, g := range s.Guests {
					if g.VMID == 300 {
						g.Config["protection"] = "1"
					}
				}
			})
		}
		args := append([]string{"run", "--"}, strings.Fields(flags)...)
		p.fails(unit, append(args, "-auto-approve"), "stackgen guard refuses the ")
	}
	noWrites(t, sim)
}

// TestGuardOutsideUnguarded: without the guard, the same variables destroy VMs, among
// them those of another stack.
func TestGuardOutsideUnguarded(t *testing.T) {
	t.Parallel()
	g := newOutside(t, "off")
	g.stack(true, "apply -- -var=vms={}")
	g.hasVMs(310)
	otherState := filepath.Join(g.dir, ".state/other/proxmox-vm/tofu.tfstate")
	g.remove("stacks/live/.terragrunt-stack")
	g.with("TF_CLI_ARGS_init=-backend-config=path="+otherState, func() { g.stack(true, "apply") })
	g.hasVMs(300)
}

// TestGuardBackend: a unit that was initialized with the state of another stack is
// refused, wherever its data is, until it is initialized again as the guard says.
func TestGuardBackend(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"full", "fast"} {
		t.Run(level, func(t *testing.T) {
			g := newOutside(t, level)
			otherState := filepath.Join(g.dir, ".state/other/proxmox-vm/tofu.tfstate")
			for _, env := range []string{"X=", "TF_DATA_DIR=" + filepath.Join(g.TempDir(), "data")} {
				g.with(env, func() {
					g.remove("stacks/live/.terragrunt-stack")
					g.with("TF_CLI_ARGS_init=-backend-config=path="+otherState, func() { g.stack(true, "plan") })
					output := g.stack(false, "apply", "initialized with another backend", "its path is", "/.state/other/proxmox-vm/tofu.tfstate")
					g.hasVMs(300, 310)
					g.pasteLine(".", output, "-reconfigure")
					g.stack(true, "apply", "1 managed")
				})
			}
			g.hasVMs(300, 310)
		})
	}
}

// pasteLine runs the first printed command line that contains a text, in a folder of the project
// in which a person pastes it.
func (p *project) pasteLine(dir, output, contains string) string {
	p.Helper()
	for line := range strings.Lines(output) {
		_, command, found := strings.Cut(strings.TrimRight(line, "\n"), "  (cd ")
		if found && strings.Contains(command, contains) {
			return p.succeeds(dir, "sh", "-c", "(cd "+command)
		}
	}
	p.Fatalf("no command line contains %q\n%s", contains, output)
	return ""
}

// TestGuardWaits: where OpenTofu asks after the check, the guard says so, with commands
// that leave no time between. They work as printed.
func TestGuardWaits(t *testing.T) {
	t.Parallel()
	const says = "OpenTofu asks you next"
	g := newOutside(t, "fast")
	unit := unitDir("live", "proxmox-vm")
	stderr := func(args ...string) string { return string(g.run(unit, "terragrunt", args...).Stderr) }
	g.with("TG_NON_INTERACTIVE=", func() { // the prompt reads an empty standard input
		g.write("specs/live.yaml", strings.Replace(outsideSpecs("fast")["specs/live.yaml"], "a: {}", "a: {}, b: {}", 1))
		g.render()
		g.generate("live")
		for _, command := range []string{"apply", "destroy"} {
			r := g.run(unit, "terragrunt", command)
			if r.Code == 0 || strings.Contains(string(r.Stdout), says) || !strings.Contains(string(r.Stderr), says) {
				t.Errorf("%s: exit %d, %s\n%s", command, r.Code, r.Stdout, r.Stderr)
			}
		}
		printed := stderr("apply")
		g.pasteLine(unit, printed, "terragrunt plan -out=tfplan")
		if output := g.pasteLine(unit, printed, "terragrunt apply tfplan"); strings.Contains(output, says) {
			t.Errorf("a saved plan waits for nobody\n%s", output)
		}
		g.hasVMs(300, 301, 310)
		for _, args := range [][]string{{"apply", "-auto-approve"}, {"run", "--all", "apply", "--non-interactive"}} {
			if got := stderr(args...); strings.Contains(got, says) {
				t.Errorf("%q: %s", args, got)
			}
		}
		printed = stderr("destroy")
		g.pasteLine(unit, printed, "terragrunt plan -destroy")
		g.pasteLine(unit, printed, "terragrunt destroy -auto-approve")
		g.hasVMs(310)
	})
}

// TestGuardStaleUnit: what was not rendered, or not generated since, is not applied:
// neither by a new plan nor by a saved one.
func TestGuardStaleUnit(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"full", "fast"} {
		t.Run(level, func(t *testing.T) {
			g := newOutside(t, level)
			spec := outsideSpecs(level)["specs/live.yaml"]
			changed := strings.Replace(spec, "a: {}", "a: {started: false, memory: 4096}", 1)
			unit, plan := unitDir("live", "proxmox-vm"), filepath.Join(t.TempDir(), "plan")
			g.succeeds(unit, "terragrunt", "run", "--", "plan", "-out="+plan)

			g.write("specs/live.yaml", changed)
			g.stack(false, "apply", "unrendered", "the spec or the lock was changed after the last render")
			g.fails(unit, []string{"apply", plan}, "the spec or the lock was changed after the last render")

			g.render()
			for _, args := range [][]string{{"apply", "-auto-approve"}, {"apply", plan}} {
				g.fails(unit, args, "this unit was generated from another render than the last one", "it differs in a", "terragrunt stack generate")
			}
			if n := g.sim.Counters().Writes; n != 0 {
				t.Errorf("%d writes", n)
			}
			g.stack(true, "apply", "1 managed")
		})
	}
}

// TestGuardManyRecords: all units of records are guarded, and a run reads the cluster
// once.
func TestGuardManyRecords(t *testing.T) {
	t.Parallel()
	var vms strings.Builder
	for i := range 5 {
		fmt.Fprintf(&vms, "  n%d: {cloud_init: {ipv4: 10.0.0.%d/24}}\n", i, i+1)
	}
	g := newDNSCluster(t, "DNS\n"+recordsDefaults+"vms:\n"+vms.String())
	output := g.apply()
	if n := strings.Count(output, "stackgen guard: the apply of live/dns-"); n != 5 {
		t.Errorf("%d units of records were guarded, want 5\n%s", n, output)
	}
	if n := (&guardedStack{project: g.project, sim: g.sim}).clusterReads(); n != 1 {
		t.Errorf("the cluster was read %d times, want once", n)
	}
}

// TestGuardReads: a run that only reads does not write a network device into the state that somebody has added: the next apply
// would remove it. What the lines of preflight keep, it reads.
func TestGuardReads(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": oneSpec})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes", "live is as its spec says")
	sim.Change(func(s *pvesim.Seed) {
		for _, g := range s.Guests {
			if g.VMID == 300 {
				g.Config["net1"] = "virtio=BC:24:11:AA:00:01,bridge=vmbr0"
			}
		}
	})
	p.generate("live")
	unit, refused := unitDir("live", "proxmox-vm"), "the network device with the MAC BC:24:11:AA:00:01"
	p.fails(unit, []string{"apply", "-refresh-only", "-auto-approve"}, refused, "stackgen preflight specs/live.yaml")
	p.succeeds(unit, "terragrunt", "plan", "-refresh-only", "-out=tfplan")
	p.fails(unit, []string{"apply", "tfplan"}, refused)
	p.step(3, "preflight", "an apply would remove a network device that the spec does not have")

	p.write("specs/live.yaml", strings.Replace(oneSpec, "a: {}", "a: {networks: [{bridge: vmbr0}, {bridge: vmbr0, mac: 'BC:24:11:AA:00:01'}]}", 1))
	p.render()
	p.generate("live")
	p.succeeds(unit, "terragrunt", "apply", "-refresh-only", "-auto-approve")
}
