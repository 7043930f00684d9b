package real

import (
	"regexp"
	"slices"
	"testing"
)

// TestSplitStack moves a VM to another stack as docs/size.md describes: its old stack
// forgets it and its new one adopts it. Nothing happens to the VM.
func TestSplitStack(t *testing.T) {
	t.Parallel()
	const rest = "apiVersion: stackgen/v1\nkind: Stack\ndefaults: {node: pve1, template: 9002, clone: linked}\n"
	p := newProject(t, map[string]string{"specs/lab.yaml": rest + "name: lab\nvmids: 2100-2199\nvms: {a: {}, b: {}}\n"})
	sim := p.simulate()
	p.render()
	apply := func(stack string) {
		t.Helper()
		p.succeeds("stacks/"+stack, "terragrunt", "stack", "run", "apply", "--non-interactive")
	}
	apply("lab")
	p.step(0, "resolve")

	p.write("specs/lab.yaml", rest+"name: lab\nvmids: 2100-2199\nvms: {a: {}}\nforgotten: [b]\n")
	p.write("specs/lab2.yaml", rest+"name: lab2\nvmids: 2200-2299\nvms: {b: {name: lab-b, profile: default, adopt: {vmid: 2101}}}\n")
	code, output := p.stackgen("render", p.dir)
	remove := regexp.MustCompile(`cd stacks/lab && .*terragrunt state rm [^\n]*'`).FindString(output)
	if code != 0 || remove == "" {
		t.Fatalf("render: exit %d\n%s", code, output)
	}
	p.succeeds("", "sh", "-c", remove)
	sim.ResetLog()
	p.step(0, "import-blocks")
	apply("lab2")
	apply("lab")
	p.step(0, "import-blocks")
	if n := sim.Counters().Writes; n != 0 {
		t.Errorf("the move made %d writes", n)
	}
	apply("lab2")
	apply("lab")
	if got, want := writes(sim), []string{"PUT /nodes/pve1/qemu/2101/config name"}; !slices.Equal(got, want) {
		t.Errorf("the applies after the move wrote %q, want %q", got, want)
	}
	p.step(0, "preflight", "2 managed")
}
