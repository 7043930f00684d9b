package real

import (
	"strings"
	"testing"
)

// TestResolvedTemplates creates VMs on every node from a template on local storage of
// one of them, which the spec gives by its VMID alone. Without resolve, preflight blocks
// what would fail in the middle of the apply.
func TestResolvedTemplates(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
defaults: {template: 9002, clone: auto, started: false, placement: {strategy: spread, nodes: [pve1, pve2, pve3]}}
groups: {vm: {count: 6}}
vms: {pinned: {node: pve2, clone: full}}
`})
	sim := p.simulate()
	if code, output := p.stackgen("render", p.dir); code != 1 || !strings.Contains(output, "needs-resolve") {
		t.Fatalf("render before resolve: exit %d\n%s", code, output)
	}
	code, output := p.stackgen("resolve", "--explain", p.dir)
	t.Log(output)
	if code != 0 || !strings.Contains(output, "decided in") {
		t.Fatalf("resolve: exit %d", code)
	}
	p.render()
	if code, output := p.stackgen("preflight", p.dir); code != 0 {
		t.Fatalf("preflight: exit %d\n%s", code, output)
	}
	p.succeeds("stacks/live", "terragrunt", "stack", "run", "apply", "--non-interactive")
	nodes := map[string]int{}
	for _, r := range callAPI(t, sim, "GET", "/cluster/resources?type=vm", nil).([]any) {
		if vm := r.(map[string]any); vm["vmid"].(float64) >= 300 && vm["vmid"].(float64) < 400 {
			nodes[vm["node"].(string)]++
		}
	}
	if nodes["pve1"] != 2 || nodes["pve2"] != 3 || nodes["pve3"] != 2 {
		t.Errorf("VMs by node: %v", nodes)
	}
	if code, output := p.stackgen("resolve", p.dir); code != 0 || strings.Contains(output, "decided") {
		t.Errorf("a second resolve: exit %d\n%s", code, output)
	}
	if output := p.succeeds("stacks/live", "terragrunt", "stack", "run", "plan", "--non-interactive"); !strings.Contains(output, "No changes") {
		t.Errorf("the plan after the apply:\n%s", output)
	}
}
