package real

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestRestartAfterImportIsNamed loses the state of running VMs whose spec says the
// provider's defaults. The apply after the import would restart those with
// `restart: true`, for nothing: preflight and the guard refuse that, the printed step
// prevents it, also where a disk grows, and a change that needs a restart asks for it.
func TestRestartAfterImportIsNamed(t *testing.T) {
	t.Parallel()
	spec := `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
defaults: {node: pve1, template: 9002, agent: false}
vms:
  a: {restart: true}
  b: {restart: true}
  c: {}
  d: {restart: true, disks: [{interface: scsi0, size: 8, datastore: shared}]}
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
	grown := strings.Replace(spec, "size: 8", "size: 9", 1)
	p.write("specs/live.yaml", grown)
	p.render()
	p.step(0, "preflight", "after its import file is removed; that apply is refused")
	const kept = "disks: [{interface: scsi0, datastore: shared, size: 8, format: raw}]"
	const refused = "would restart it although no change of the VM needs that"
	p.step(0, "import-blocks")
	p.step(3, "preflight", refused, "to set it without a restart", "restart: false  # vms.a", "restart: false  # vms.b",
		"restore `restart: true` and the disks after that apply", "restart: false  # vms.d", kept+"  # vms.d")

	edited := strings.Replace(spec, "a: {restart: true}", "a: {restart: false}", 1)
	edited = strings.Replace(edited, "d: {restart: true, disks: [{interface: scsi0, size: 8, datastore: shared}]}", "d: {restart: false, "+kept+"}", 1)
	p.write("specs/live.yaml", strings.Replace(edited, "b: {restart: true}", "b: {restart: true, memory: 3072}", 1))
	p.render()
	p.step(0, "preflight", "the plan will change 1 VM")
	output, tasks := apply()
	p.contains(output, "stops the VM hard and starts it again: no agent answers")
	if got := strings.Join(tasks, "\n"); !strings.Contains(got, "/qemu/301/status/stop") || strings.Contains(got, "/qemu/300/") || strings.Contains(got, "/qemu/302/") || strings.Contains(got, "/qemu/303/") {
		t.Errorf("the apply did %q, want a hard stop of VM 301 only", tasks)
	}

	p.write("specs/live.yaml", strings.Replace(grown, "b: {restart: true}", "b: {restart: true, memory: 3072}", 1))
	p.render()
	if _, tasks := apply(); len(tasks) > 0 {
		t.Errorf("`restart: true` and the disk were restored, and the apply did %q", tasks)
	}
	p.step(0, "preflight", "safe to apply (4 managed)")
	if got := fmt.Sprint(config(t, sim, 303)["scsi0"]); !strings.Contains(got, "size=9G") {
		t.Errorf("the disk has not grown: %s", got)
	}
}
