package real

import (
	"regexp"
	"strings"
	"testing"
)

// commandLine is a command in a refusal of a render.
var commandLine = regexp.MustCompile(`(?m)^      (\(cd .*|mkdir .*|stackgen .*)$`)

// paste runs the commands of the first step of a refusal after the one that leads to the folder of the project.
func (p *project) paste(refusal string) {
	p.Helper()
	step := strings.SplitN(refusal, "\n  > ", 4)[2]
	lines := commandLine.FindAllStringSubmatch(step, -1)
	if len(lines) == 0 {
		p.Fatalf("no commands in\n%s", step)
	}
	for _, m := range lines {
		before, args, ok := strings.Cut(" && "+m[1], " && stackgen ")
		if before != "" {
			p.succeeds(".", "sh", "-c", strings.TrimPrefix(before, " && "))
		}
		if !ok {
			continue
		}
		if code, output := p.stackgen(append(strings.Fields(args), p.dir)...); code != 0 {
			p.Fatalf("stackgen %s: exit %d\n%s", args, code, output)
		}
	}
}

// TestRenameStack renames a stack that was applied, with a pool and records in both
// modes, by the printed commands. Its plan then changes nothing.
func TestRenameStack(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"per-vm", "per-stack"} {
		t.Run(mode, func(t *testing.T) {
			rest := strings.Replace(poolAndDNS, "dns: {", "dns: {mode: "+mode+", ", 1) + "naming: {pattern: \"live-{key}\"}\n" +
				"vms:\n  dhcp: {meta: {address: 10.0.0.7}}\n  static: {cloud_init: {ipv4: 10.0.0.8/24}}\n"
			p := newStack(t, rest).render()
			p.useTerraformData()
			p.all("live", "apply")

			p.write("specs/live.yaml", strings.Replace(liveSpec(rest), "name: live", "name: front", 1))
			code, refusal := p.stackgen("render", p.dir)
			if code != 3 {
				t.Fatalf("render: exit %d\n%s", code, refusal)
			}
			p.contains(refusal, "renamed: {stacks: {live: front}}")
			p.write("stackgen.yaml", noGuard+"renamed: {stacks: {live: front}}\n")
			p.paste(refusal)
			p.useTerraformData()
			if p.exists(".state/live") || p.exists("stacks/live/.terragrunt-stack") {
				t.Error("the former name still has a state or generated folders")
			}
			units := 4
			if mode == "per-stack" {
				units = 3
			}
			if plan := p.all("front", "plan"); strings.Count(plan, "No changes.") != units {
				t.Errorf("not all of the %d units have an empty plan\n%s", units, plan)
			}
		})
	}
}
