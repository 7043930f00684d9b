package real

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stackgen/generator"
)

// standIn puts modules in the place of the project's that need no provider, so
// that an apply is possible: a machine's address is what its meta says, and a
// record is what its own module would publish. Everything else is as rendered.
func (p *realProject) standIn() {
	p.Helper()
	header := "# " + generator.Header("") + "\n\n"
	p.stands = true
	engine := header + "terraform {\n  required_version = \">= 1.10\"\n}\n"
	for _, module := range []string{"dns-records", "proxmox-vm", "proxmox-pool"} {
		if module != "dns-records" || !p.serves {
			p.write("modules/"+module+"/versions.tf", engine)
		}
	}
	p.write("modules/proxmox-pool/main.tf", strings.ReplaceAll(regexp.MustCompile(`(?m)^  (pool_id|comment) .*\n`).ReplaceAllString(
		strings.Replace(p.read("modules/proxmox-pool/main.tf"), `"proxmox_virtual_environment_pool" "this"`, `"terraform_data" "this"`, 1), ""),
		"[for pool in proxmox_virtual_environment_pool.this : pool.pool_id]", "keys(terraform_data.this)"))
	p.write("modules/proxmox-vm/outputs.tf", header+`output "vms" {
  value = { for key, vm in terraform_data.this : key => { ipv4 = vm.output } }
}
`)
	p.write("modules/proxmox-vm/main.tf", header+`resource "terraform_data" "this" {
  for_each = var.vms
  input    = each.value.ipv4 != null ? each.value.ipv4 : try(jsondecode(each.value.meta).address, null)
}
`)
	if p.serves {
		return
	}
	records := p.read("modules/dns-records/main.tf")
	records = strings.Replace(records, `"dns_a_record_set" "this"`, `"terraform_data" "this"`, 1)
	body := regexp.MustCompile(`(?s)(for_each = var\.records\n)(.*?)(\n  lifecycle)`)
	records = body.ReplaceAllString(records, "$1\n  input = {$2  }\n$3")
	records = strings.Replace(records, "dns_a_record_set.this : name => record.addresses", "terraform_data.this : name => record.output.addresses", 1)
	p.write("modules/dns-records/main.tf", records)
}

// all runs a command in all units of a stack.
func (p *realProject) all(stack, command string, args ...string) string {
	p.Helper()
	return p.good("stacks/"+stack, "terragrunt", append([]string{"stack", "run", command, "--"}, args...)...)
}

// outputs are those of a unit's state.
func (p *realProject) outputs(stack, unit string) map[string]any {
	p.Helper()
	var state struct {
		Outputs map[string]struct {
			Value any `json:"value"`
		} `json:"outputs"`
		Resources []any `json:"resources"`
	}
	if err := json.Unmarshal([]byte(p.read(".state/"+stack+"/"+unit+"/tofu.tfstate")), &state); err != nil {
		p.Fatal(err)
	}
	out := map[string]any{"resources": len(state.Resources)}
	for name, o := range state.Outputs {
		out[name] = o.Value
	}
	return out
}

// order is the order in which a stack's units run, as Terragrunt has it.
func (p *realProject) order(stack string) []string {
	p.Helper()
	p.generate(stack)
	r := p.run("stacks/"+stack, "terragrunt", "find", "--dag")
	var out []string
	for line := range strings.Lines(string(r.Stdout)) {
		if unit, ok := strings.CutPrefix(strings.TrimSpace(line), ".terragrunt-stack/"); ok {
			out = append(out, unit)
		}
	}
	return out
}

// before fails unless the units run in this order.
func (p *realProject) before(order []string, units ...string) {
	p.Helper()
	for i := 0; i+1 < len(units); i++ {
		a, b := slices.Index(order, units[i]), slices.Index(order, units[i+1])
		if a < 0 || b < 0 || a > b {
			p.Errorf("the order is %v, want %v", order, units)
		}
	}
}

const realOrdered = "pool: {id: people, create: true}\ndns: {zone: example.org, server: 127.0.0.1}\n"

// TestRealLife is the life of a stack, from nothing to nothing.
func TestRealLife(t *testing.T) {
	t.Parallel()
	p := realStack(t, realOrdered+"vms:\n  dhcp: {meta: {address: 10.0.0.7}}\n  static: {cloud_init: {ipv4: 10.0.0.8/24}}\n").render()
	p.standIn()
	p.before(p.order("live"), "proxmox-pool", "proxmox-vm", "dns-dhcp")
	p.before(p.order("live"), "proxmox-vm", "dns-static")

	// From nothing, unknown addresses are mocks, and static ones are right.
	plan := p.all("live", "plan")
	p.says(plan, `"192.0.2.1"`, `"10.0.0.8"`)

	// An apply never sees a mock.
	p.all("live", "apply")
	for unit, want := range map[string]string{"dns-dhcp": "10.0.0.7", "dns-static": "10.0.0.8"} {
		records, _ := json.Marshal(p.outputs("live", unit)["records"])
		if !strings.Contains(string(records), want) {
			t.Errorf("%s publishes %s, want %s", unit, records, want)
		}
	}

	// The state is where neither clean nor a new generation reaches.
	p.good("stacks/live", "terragrunt", "stack", "clean")
	if p.exists("stacks/live/.terragrunt-stack") {
		t.Error("stack clean leaves the units")
	}
	again := p.all("live", "plan")
	if n := strings.Count(again, "No changes."); n != 4 {
		t.Errorf("%d of 4 units have no changes after a clean\n%s", n, again)
	}

	// One more VM: its record is planned before it has an address, those of the
	// others with the addresses they have.
	p.respec(realOrdered + "vms:\n  dhcp: {meta: {address: 10.0.0.7}}\n  static: {cloud_init: {ipv4: 10.0.0.8/24}}\n  more: {meta: {address: 10.0.0.9}}\n")
	plan = p.all("live", "plan")
	p.says(plan, `"192.0.2.1"`)
	if n := strings.Count(plan, "No changes."); n != 3 {
		t.Errorf("%d units have no changes, want pool and two records\n%s", n, plan)
	}
	p.all("live", "apply")

	// One VM less: its record goes before it does.
	p.respec(realOrdered + "retired: [dhcp]\nvms:\n  static: {cloud_init: {ipv4: 10.0.0.8/24}}\n  more: {meta: {address: 10.0.0.9}}\n")
	p.before(p.order("live"), "dns-dhcp", "proxmox-vm", "dns-static")
	p.all("live", "apply")
	if left := p.outputs("live", "dns-dhcp"); left["resources"] != 0 {
		t.Errorf("the retired record is still there: %v", left)
	}
	if vms := p.outputs("live", "proxmox-vm")["vms"].(map[string]any); len(vms) != 2 {
		t.Errorf("the VMs are %v, want two", vms)
	}

	// The whole stack goes, from the records down to the pool.
	p.write("stackgen.yaml", realSettings+"retired: {stacks: [live]}\n")
	p.remove("specs/live.yaml")
	p.render()
	p.before(p.order("live"), "dns-static", "proxmox-vm", "proxmox-pool")
	p.all("live", "apply")
	for _, unit := range []string{"dns-static", "dns-more", "dns-dhcp", "proxmox-vm", "proxmox-pool"} {
		if left := p.outputs("live", unit); left["resources"] != 0 {
			t.Errorf("%s still has something: %v", unit, left)
		}
	}
}

// TestRealDestroy: a destroy works, and so does a second one, when there is no
// address left to read.
func TestRealDestroy(t *testing.T) {
	t.Parallel()
	p := realStack(t, realOrdered+"vms:\n  a: {meta: {address: 10.0.0.7}}\n").render()
	p.standIn()
	p.all("live", "apply")
	p.all("live", "destroy")
	for _, unit := range []string{"dns-a", "proxmox-vm", "proxmox-pool"} {
		if left := p.outputs("live", unit); left["resources"] != 0 {
			t.Errorf("%s still has something: %v", unit, left)
		}
	}
	p.all("live", "destroy")
}

// TestRealNoAddress: a VM without an address has no record, and the message says
// whose fault that is.
func TestRealNoAddress(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"per-vm", "per-stack"} {
		p := realStack(t, strings.Replace(realOrdered, "}\ndns: {", "}\ndns: {mode: "+mode+", ", 1)+"vms:\n  mute: {}\n  loud: {meta: {address: 10.0.0.7}}\n").render()
		p.standIn()
		p.generate("live")
		p.bad("stacks/live", "terragrunt", []string{"stack", "run", "apply"},
			"VM mute has reported no IPv4 address, so its record live-mute cannot be published.", "guest agent", "static address")
		if mode == "per-vm" {
			p.outputs("live", "dns-loud")
		}
	}
}

// TestRealPerStackRecords: one unit holds all records, and loses one that leaves.
func TestRealPerStackRecords(t *testing.T) {
	t.Parallel()
	dns := "dns: {zone: example.org, server: 127.0.0.1, mode: per-stack}\n"
	p := realStack(t, dns+"vms:\n  a: {meta: {address: 10.0.0.7}}\n  b: {meta: {address: 10.0.0.8}}\n").render()
	p.standIn()
	p.before(p.order("live"), "proxmox-vm", "dns")
	p.all("live", "apply")
	p.respec(dns + "vms:\n  a: {dns: false, meta: {address: 10.0.0.7}}\n  b: {meta: {address: 10.0.0.8}}\n")
	p.all("live", "apply")
	records, _ := json.Marshal(p.outputs("live", "dns")["records"])
	if got := string(records); got != `{"live-b":["10.0.0.8"]}` {
		t.Errorf("the records are %s, want b's", got)
	}
}

// TestRealSavedPlans: where every address is in the spec, plans that are made
// from nothing are the ones that are applied.
func TestRealSavedPlans(t *testing.T) {
	t.Parallel()
	p := realStack(t, realOrdered+"vms:\n  a: {cloud_init: {ipv4: 10.0.0.7/24}}\n  b: {cloud_init: {ipv4: 10.0.0.8/24}}\n").render()
	p.standIn()
	plans := p.TempDir()
	p.good("stacks/live", "terragrunt", "stack", "run", "plan", "--out-dir", plans)
	p.good("stacks/live", "terragrunt", "stack", "run", "apply", "--out-dir", plans)
	for unit, want := range map[string]string{"dns-a": `{"live-a":["10.0.0.7"]}`, "dns-b": `{"live-b":["10.0.0.8"]}`} {
		if got, _ := json.Marshal(p.outputs("live", unit)["records"]); string(got) != want {
			t.Errorf("%s publishes %s, want %s", unit, got, want)
		}
	}
}

// TestRealRenamedRecord: a renamed VM keeps its DNS unit, and so its record.
func TestRealRenamedRecord(t *testing.T) {
	t.Parallel()
	p := realStack(t, realOrdered+"vms:\n  a: {name: web, meta: {address: 10.0.0.7}}\n").render()
	p.standIn()
	p.all("live", "apply")
	p.respec(realOrdered + "renamed: {a: b}\nvms:\n  b: {name: web, meta: {address: 10.0.0.7}}\n")
	said := p.all("live", "apply")
	p.says(said, "No changes.")
	if got, _ := json.Marshal(p.outputs("live", "dns-a")["records"]); string(got) != `{"web":["10.0.0.7"]}` {
		t.Errorf("dns-a publishes %s, want what it did before", got)
	}
}

// TestRealForgotten: what is forgotten is in no later run, and its record's state
// stays as it is.
func TestRealForgotten(t *testing.T) {
	t.Parallel()
	p := realStack(t, realOrdered+"vms:\n  a: {meta: {address: 10.0.0.7}}\n  b: {meta: {address: 10.0.0.8}}\n").render()
	p.standIn()
	p.all("live", "apply")
	before := p.read(".state/live/dns-a/tofu.tfstate")
	p.write("specs/live.yaml", realSpec(realOrdered+"vms:\n  b: {meta: {address: 10.0.0.8}}\n"))
	_, said := p.stackgen("render", p.dir)
	p.says(said, "(cd stacks/live && terragrunt stack clean && terragrunt stack generate && cd .terragrunt-stack/proxmox-vm && terragrunt state rm '"+realVM("this", "a")+"')")
	p.respec(realOrdered + "forgotten: [a]\nvms:\n  b: {meta: {address: 10.0.0.8}}\n")
	p.good("stacks/live", "terragrunt", "stack", "clean") // as the refusal says: the record's unit would be in every run
	p.generate("live")
	p.good(realUnit("live", "proxmox-vm"), "terragrunt", "run", "--", "state", "rm", `terraform_data.this["a"]`)
	p.all("live", "apply")
	p.says(p.all("live", "plan"), "No changes.")
	if p.read(".state/live/dns-a/tofu.tfstate") != before {
		t.Error("the forgotten record's state has changed")
	}
}
