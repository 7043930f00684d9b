//go:build unix

package real

import (
	"regexp"
	"slices"
	"strings"
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

// TestSplitStackRecords moves a VM with a record to another stack, and then another name, by the printed lines alone. DNS
// answers for them all the time, also if a line is run before its turn.
func TestSplitStackRecords(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"per-vm", "per-stack"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			dns := "DNS, mode: " + mode + "\ndefaults: {node: pve1, template: 9002, clone: linked}\n"
			p := newDNSCluster(t, dns+`vms:
  a: {name: web, cloud_init: {ipv4: 10.0.0.7/24}, dns: {records: [web, www]}}
  b: {name: db, cloud_init: {ipv4: 10.0.0.8/24}}
`)
			second := func(records string) {
				t.Helper()
				text := p.liveText(dns + "vms:\n  b: {name: db, profile: default, cloud_init: {ipv4: 10.0.0.8/24}, dns: {records: [" + records + "]}, adopt: {vmid: 101}}\n")
				p.write("specs/next.yaml", strings.NewReplacer("name: live", "name: next", "100-999", "1000-1999").Replace(text))
			}
			apply := func(stack string) {
				t.Helper()
				p.succeeds("stacks/"+stack, "terragrunt", "stack", "run", "apply", "--non-interactive")
			}
			apply("live")
			p.step(0, "resolve")
			stop := p.watch("db", "10.0.0.8", "web", "10.0.0.7")

			p.write("specs/live.yaml", p.liveText(dns+"forgotten: [b]\nvms:\n  a: {name: web, cloud_init: {ipv4: 10.0.0.7/24}, dns: {records: [web, www]}}\n"))
			second("db")
			code, output := p.stackgen("render", p.dir)
			if code != 0 {
				t.Fatalf("render: exit %d\n%s", code, output)
			}
			p.pasteLine(".", strings.ReplaceAll(output, ": (cd ", "\n  (cd "), "terragrunt state rm")
			if mode == "per-stack" {
				p.fails("stacks/live", []string{"stack", "run", "apply", "--non-interactive"}, "it may be that of a forgotten guest")
				p.has("db", "10.0.0.8")
				_, output = p.stackgen("preflight", p.dir)
				p.contains(output, "blocked would-destroy  live/db.lab.test.", "forgotten: b, VMID 101", "blocked conflict       next/db.lab.test.", "to keep it in DNS")
				p.pasteLine(".", output, "state rm 'dns_a_record_set.this[\"db\"]'")
			}
			p.step(0, "import-blocks")
			apply("next")
			apply("live")
			p.step(0, "import-blocks")
			apply("next")
			p.step(0, "preflight", "safe to apply")
			p.has("db", "10.0.0.8")

			p.is(dns + "forgotten: [b]\nvms:\n  a: {name: web, cloud_init: {ipv4: 10.0.0.7/24}}\n")
			second("db, www")
			p.render()
			_, output = p.stackgen("preflight", p.dir)
			p.contains(output, "blocked conflict  next/www.lab.test.", "in DNS, and in the state of stack live", "remove it from the state there, then import it here")
			p.pasteLine(".", output, "terragrunt import") // before its turn
			p.fails("stacks/live", []string{"stack", "run", "apply", "--non-interactive"}, "remove from DNS what that one manages")
			p.has("www", "10.0.0.7")
			p.pasteLine(".", output, "terragrunt state rm")
			apply("live")
			p.has("www", "10.0.0.7")
			apply("next")
			apply("live")
			p.has("www", "10.0.0.8")
			p.step(0, "preflight", "safe to apply")
			stop()
		})
	}
}
