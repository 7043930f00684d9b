package real

import (
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// config is the configuration of a VM on the simulated cluster.
func config(t *testing.T, s *pvesim.Server, vmid int) map[string]any {
	t.Helper()
	out, _ := callAPI(t, s, "GET", fmt.Sprintf("/nodes/pve1/qemu/%d/config", vmid), nil).(map[string]any)
	return out
}

// entries are some entries of a configuration, in text.
func entries(c map[string]any, keys ...string) string {
	var out []string
	for _, key := range keys {
		if v, ok := c[key]; ok {
			out = append(out, fmt.Sprintf("%s=%v", key, v))
		}
	}
	return strings.Join(out, " ")
}

// otherTemplate gives the template other hardware than the provider's defaults.
func otherTemplate(t *testing.T, s *pvesim.Server) {
	t.Helper()
	callAPI(t, s, "PUT", "/nodes/pve1/qemu/9002/config", url.Values{"agent": {"1"}, "cores": {"3"}, "cpu": {"kvm64"}, "memory": {"768"}, "vga": {"qxl"}, "ostype": {"l26"}})
}

const defaultsSpec = `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
defaults: {node: pve1, template: 9002}
vms:
  off: {agent: false, cores: 1, cpu_type: qemu64, memory: 512, vga: std, os_type: other}
  flags: {agent: false, cores: 1, cpu_type: qemu64, numa: false, memory: 512, balloon: 0, vga: {type: std, memory: 16}, os_type: other, started: false}
`

// TestClonesHaveWhatTheSpecSays clones a template with an agent and other hardware into
// VMs whose spec says the provider's defaults. A value that is not in the HCL would stay
// that of the template, and an apply would wait for the agent of the template.
func TestClonesHaveWhatTheSpecSays(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": defaultsSpec})
	sim := p.simulate()
	otherTemplate(t, sim)
	p.render()
	p.succeeds("stacks/live", "terragrunt", "stack", "run", "apply", "--non-interactive")
	for _, vmid := range []int{300, 301} {
		got := entries(config(t, sim, vmid), "agent", "cores", "cpu", "memory", "ostype", "vga")
		want := "agent=enabled=0,fstrim_cloned_disks=0,type=virtio cores=1 cpu=qemu64 memory=512 ostype=other vga=memory=16,type=std"
		if got != want {
			t.Errorf("VM %d has %s, want %s", vmid, got, want)
		}
	}
	p.contains(p.succeeds("stacks/live", "terragrunt", "stack", "run", "plan", "--non-interactive"), "No changes.")
	p.noDrift()
}

// writes are the writes since the log was reset: method, path and the names of what they set.
func writes(s *pvesim.Server) []string {
	var out []string
	for _, r := range s.Requests() {
		if r.Write {
			out = append(out, strings.TrimSpace(r.Method+" "+strings.TrimPrefix(r.Path, "/api2/json")+" "+strings.Join(slices.Sorted(slices.Values(r.Params)), " ")))
		}
	}
	return out
}

// TestImportThenSettle loses the state of VMs whose spec says the provider's defaults,
// and what only the provider knows. The import changes nothing; the next apply sets
// these, restarts nothing, and leaves an empty plan.
func TestImportThenSettle(t *testing.T) {
	t.Parallel()
	spec := strings.Replace(defaultsSpec, "vms:\n", "vms:\n  waits: {agent: {timeout: 40s}}\n", 1)
	spec = strings.ReplaceAll(spec, "defaults: {", "defaults: {started: false, ")
	p := newProject(t, map[string]string{"specs/live.yaml": spec})
	sim := p.simulate()
	p.render()
	apply := func() {
		t.Helper()
		sim.ResetLog()
		p.succeeds("stacks/live", "terragrunt", "stack", "run", "apply", "--non-interactive")
	}
	plan := func() string {
		t.Helper()
		return p.succeeds("stacks/live", "terragrunt", "stack", "run", "plan", "--non-interactive")
	}
	apply()
	before := []map[string]any{config(t, sim, 300), config(t, sim, 301), config(t, sim, 302)}
	p.remove(".state")
	p.step(0, "import-blocks --verify", "live/proxmox-vm: 3 to import, 0 to add, 0 to change, 0 to destroy")
	apply()
	if w := writes(sim); len(w) > 0 {
		t.Errorf("the import wrote %q", w)
	}
	p.contains(plan(), "No changes.")
	p.step(0, "preflight", "3 settling", "after its import file is removed")
	imports := p.read("stacks/live/imports/proxmox-vm.tf")
	p.step(0, "import-blocks")
	p.step(0, "preflight", "safe to apply (3 settling)")
	apply()
	var tasks []string
	for _, w := range writes(sim) {
		if !strings.HasPrefix(w, "PUT ") {
			tasks = append(tasks, w)
		}
	}
	if len(tasks) > 0 || len(writes(sim)) != len(before) {
		t.Errorf("the apply after the import wrote %q, want one PUT for each VM", writes(sim))
	}
	for i := range before {
		if after := config(t, sim, 300+i); !reflect.DeepEqual(after, before[i]) {
			t.Errorf("VM %d: %v, and before the state was lost %v", 300+i, after, before[i])
		}
	}
	p.contains(plan(), "No changes.")
	p.step(0, "preflight", "safe to apply (3 managed)")
	p.write("stacks/live/imports/proxmox-vm.tf", imports) // left over, as in another checkout
	p.step(2, "preflight", "an apply would unset reboot_after_update, agent.timeout")
}
