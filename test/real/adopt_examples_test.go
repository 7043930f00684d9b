package real

import (
	"encoding/json"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"stackgen/internal/finding"
)

// exampleSpec is one of this repository's specs, reduced to what the simulated cluster
// has: no DNS server, no bucket, and explicit values for decisions that need a cluster.
func exampleSpec(t *testing.T, name string) string {
	t.Helper()
	body, err := os.ReadFile(repository + "/specs/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	spec := string(body)
	for _, cut := range []string{`(?m)^(dns|backend):\n( .*\n)+`, `(?m)^    dns: .*\n`, `(?m)^outputs: .*\n`} {
		spec = regexp.MustCompile(cut).ReplaceAllString(spec, "")
	}
	return strings.NewReplacer("template: ubuntu-22.04-template", "template: {vmid: 9002, node: pve1}", "clone: auto", "clone: full",
		"strategy: score", "strategy: round-robin", "weights: {cpu: 0.6, memory: 0.4}", "max_per_node: 12", "  max_per_node: 12\n", "",
		"count: 20", "count: 3", "student7", "student3").Replace(spec)
}

// TestHardwareDifferences applies the examples and removes all state. Preflight then announces
// no change, or exactly the attributes that the first plan removes.
func TestHardwareDifferences(t *testing.T) {
	t.Parallel()
	key, err := os.ReadFile(repository + "/specs/keys/admin.pub")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"specs/keys/admin.pub": string(key)}
	for _, name := range []string{"cs101", "homelab", "k3s"} {
		files["specs/"+name+".yaml"] = exampleSpec(t, name)
	}
	p := newProject(t, files)
	sim := p.simulate()
	p.render()
	if code, output := p.stackgen("import-blocks", p.dir); code != 0 {
		t.Fatalf("import-blocks: exit %d\n%s", code, output)
	}
	for _, name := range []string{"cs101", "homelab", "k3s"} {
		p.succeeds("stacks/"+name, "terragrunt", "stack", "run", "apply", "--non-interactive")
	}
	p.remove(".state")
	if code, output := p.stackgen("import-blocks", p.dir); code != 0 {
		t.Fatalf("import-blocks: exit %d\n%s", code, output)
	}
	differences := func() []string {
		t.Helper()
		code, output := p.stackgen("preflight", "--format", "json", p.dir)
		_, output, _ = strings.Cut(output, "{\n")
		var report struct{ Verdicts []finding.Finding }
		if err := json.Unmarshal([]byte("{\n"+output), &report); err != nil || code == 1 {
			t.Fatalf("preflight: exit %d, %v\n%s", code, err, output)
		}
		var out []string
		for _, v := range report.Verdicts {
			for _, d := range v.Differs {
				out = append(out, v.String()+" "+d.Field+" "+d.Line)
			}
		}
		return out
	}
	if found := differences(); len(found) > 0 {
		t.Errorf("false alarms: %q", found)
	}
	code, output := p.stackgen("import-blocks", "--verify", p.dir)
	if code != 0 || strings.Count(output, "0 to add, 0 to change, 0 to destroy") != 4 {
		t.Errorf("import-blocks --verify: exit %d\n%s", code, output)
	}
	callAPI(t, sim, "PUT", "/nodes/pve1/qemu/2100/config", url.Values{"serial0": {"socket"}, "tablet": {"0"}})
	callAPI(t, sim, "PUT", "/nodes/pve1/qemu/2102/config", url.Values{"startup": {"order=2"}})
	want := `["homelab/db01 startup startup: {order: 2}" "homelab/web01 tablet tablet: false" "homelab/web01 serial serial: socket"]`
	if found := differences(); strings.Join(quoted(found), " ") != strings.Trim(want, "[]") {
		t.Errorf("announced: %q, want %s", found, want)
	}
	p.write("specs/homelab.yaml", strings.Replace(p.read("specs/homelab.yaml"), "\ndefaults:\n", "\ndefaults:\n  restart: true\n", 1))
	p.render()
	code, output = p.stackgen("import-blocks", "--verify", p.dir+"/specs/homelab.yaml")
	if code != 3 {
		t.Errorf("import-blocks --verify: exit %d\n%s", code, output)
	}
	p.contains(output, "homelab/proxmox-vm: 3 to import, 0 to add, 2 to change, 0 to destroy", `update proxmox_virtual_environment_vm.protected["db01"]: startup`,
		`update proxmox_virtual_environment_vm.this["web01"]: serial_device, tablet_device`)
	p.step(0, "preflight", "serial0 is in Proxmox VE and not in the spec: the first plan after the import removes it", "the plan will change 2 VMs, listed below")
}

func quoted(items []string) []string {
	out := []string{}
	for _, i := range items {
		out = append(out, `"`+i+`"`)
	}
	return out
}
