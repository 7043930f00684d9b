package real

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// simulate starts a simulated cluster for the project, and enables the guard.
func (p *project) simulate() *pvesim.Server { return p.simulateSeed(nil) }

// simulateSeed is simulate with another cluster than the default.
func (p *project) simulateSeed(seed *pvesim.Seed) *pvesim.Server {
	p.Helper()
	return p.simulateWith(pvesim.Options{Seed: seed})
}

// simulateWith is simulate with options of the simulator.
func (p *project) simulateWith(o pvesim.Options) *pvesim.Server {
	p.Helper()
	o.NoAuthDelay = true
	s, err := pvesim.New(o)
	if err != nil {
		p.Fatal(err)
	}
	if err := s.Start("127.0.0.1:0"); err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() {
		if err := s.Close(); err != nil {
			p.Error(err)
		}
	})
	p.tools = p.tools.With(append(s.Env(), "PATH="+filepath.Dir(stackgen)+string(filepath.ListSeparator)+p.pathOf())...)
	p.write("stackgen.yaml", strings.Replace(noGuard, "guard: off\n", "", 1))
	return s
}

// step runs stackgen on the project, which must end with an exit code and an output
// that contains all of these.
func (p *project) step(want int, command string, contains ...string) {
	p.Helper()
	code, output := p.stackgen(append(strings.Fields(command), p.dir)...)
	if code != want {
		p.Fatalf("%s: exit %d, want %d\n%s", command, code, want, output)
	}
	p.contains(output, contains...)
}

// pathOf is the PATH of the project's tools.
func (p *project) pathOf() string {
	path := ""
	for _, e := range p.tools.Env {
		if v, ok := strings.CutPrefix(e, "PATH="); ok {
			path = v
		}
	}
	return path
}

// TestStateLost removes the state of a stack that the real provider created, and
// adopts its VMs and one created by hand. Without import files preflight blocks; with
// them the plan only imports.
func TestStateLost(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
pool: {id: live, create: true}
defaults: {node: pve1, template: 9002, serial: socket, vga: {type: serial0}, disks: [{interface: scsi0, size: 8, datastore: local-lvm}]}
vms:
  a: {}
  b: {profile: protected}
  registry: {adopt: {vmid: 123}}
`})
	sim := p.simulate()
	p.render()
	step := p.step
	step(2, "preflight", "create live/live", "create live/a", "create live/b", "adopt live/registry")
	step(3, "import-blocks --verify", "live/proxmox-vm: 1 to import, 2 to add, 0 to change, 0 to destroy", "create proxmox_virtual_environment_vm.this")
	step(0, "preflight")
	apply := func() {
		t.Helper()
		p.succeeds("stacks/live", "terragrunt", "stack", "run", "apply", "--non-interactive")
	}
	apply()
	step(0, "import-blocks")
	step(0, "preflight", "managed live/live", "managed live/a", "managed live/b", "moved live/registry")
	p.remove(".state")
	step(2, "preflight", "adopt live/live", "adopt live/a", "adopt live/b", "adopt live/registry")
	plan := func() string {
		t.Helper()
		dir := t.TempDir()
		p.succeeds("stacks/live", "terragrunt", "stack", "run", "plan", "--non-interactive", "--json-out-dir", dir, "--out-dir", dir)
		return dir
	}
	sim.ResetLog()
	step(3, "preflight --plan "+plan(), "blocked adopt live/registry", "blocked adopt live/a", "the plan creates proxmox_virtual_environment_vm.this")
	step(0, "import-blocks --verify", "live/proxmox-pool: 1 to import, 0 to add, 0 to change, 0 to destroy", "live/proxmox-vm: 3 to import, 0 to add, 0 to change, 0 to destroy")
	step(0, "preflight")
	step(0, "preflight --plan "+plan(), "4 adopt")
	apply()
	step(0, "import-blocks")
	if n := sim.Counters().Writes; n != 0 {
		t.Errorf("the adoption made %d writes", n)
	}
	step(0, "preflight --plan "+plan(), "1 managed, 1 moved, 2 settling")
	apply()
	if got, want := writes(sim), []string{"PUT /nodes/pve1/qemu/300/config name", "PUT /nodes/pve1/qemu/301/config name"}; !slices.Equal(slices.Sorted(slices.Values(got)), want) {
		t.Errorf("the apply after the adoption wrote %q, want %q", got, want)
	}
	step(0, "preflight --plan "+plan(), "3 managed, 1 moved")
	sim.Remove(300)
	step(3, "preflight", "gone live/a")
	step(3, "preflight --plan "+plan(), "gone live/a", "its refresh did not find it")
}
