package real

import (
	"slices"
	"strings"
	"testing"
)

// TestRestartAfterImportIsNamed loses the state of running VMs whose spec says the
// provider's defaults. The apply after the import would restart those with
// `restart: true`, for nothing: preflight and the guard refuse that, the printed step
// prevents it, and a change that needs a restart asks for it.
func TestRestartAfterImportIsNamed(t *testing.T) {
	spec := `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
defaults: {node: pve1, template: 9002, agent: false}
vms:
  a: {restart: true}
  b: {restart: true}
  c: {}
`
	p := newProject(t, map[string]string{"specs/live.yaml": spec})
	sim := p.simulate()
	apply := func() (output string, tasks []string) {
		t.Helper()
		sim.ResetLog()
		r := p.run("stacks/live", "terragrunt", "stack", "run", "apply", "--non-interactive") // the provider warns that VMs without a restart need one
		if output = r.Text(); r.Code != 0 {
			t.Fatal(output)
		}
		tasks = slices.DeleteFunc(writes(sim), func(w string) bool { return strings.HasPrefix(w, "PUT ") })
		return output, tasks
	}
	p.render()
	apply()
	p.remove(".state")
	p.step(0, "import-blocks")
	apply()
	p.step(0, "preflight", "after its import file is removed; that apply is refused")
	const refused = "would restart it although no change of the VM needs that"
	p.step(3, "import-blocks", refused)
	p.step(3, "preflight", refused, "to set it without a restart", "restart: false  # vms.a", "restart: false  # vms.b")

	edited := strings.Replace(spec, "a: {restart: true}", "a: {restart: false}", 1)
	p.write("specs/live.yaml", strings.Replace(edited, "b: {restart: true}", "b: {restart: true, memory: 3072}", 1))
	p.render()
	p.step(0, "preflight", "the plan will change 1 VM")
	output, tasks := apply()
	p.contains(output, "stops the VM hard and starts it again: no agent answers")
	if got := strings.Join(tasks, "\n"); !strings.Contains(got, "/qemu/301/status/stop") || strings.Contains(got, "/qemu/300/") || strings.Contains(got, "/qemu/302/") {
		t.Errorf("the apply did %q, want a hard stop of VM 301 only", tasks)
	}

	spec = strings.Replace(spec, "b: {restart: true}", "b: {restart: true, memory: 3072}", 1)
	p.write("specs/live.yaml", spec)
	p.render()
	if _, tasks := apply(); len(tasks) > 0 {
		t.Errorf("`restart: true` was restored, and the apply did %q", tasks)
	}
	p.step(0, "preflight", "safe to apply (3 managed)")
}
