package real

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stackgen/generator"
)

// useTerraformData replaces the modules' resources by terraform_data, so that an
// apply needs no provider. The address of a VM is in its meta, and a record has the
// value that its module would publish. Everything else is as rendered.
func (p *project) useTerraformData() {
	p.Helper()
	header := "# " + generator.Header("") + "\n\n"
	p.terraformData = true
	engine := header + "terraform {\n  required_version = \">= 1.10\"\n}\n"
	for _, module := range []string{"dns-records", "proxmox-vm", "proxmox-pool"} {
		if p.exists("modules/"+module) && (module != "dns-records" || !p.realRecords) {
			p.write("modules/"+module+"/versions.tf", engine)
		}
	}
	if pool := "modules/proxmox-pool/main.tf"; p.exists(pool) {
		p.write(pool, strings.ReplaceAll(regexp.MustCompile(`(?m)^  (pool_id|comment) .*\n`).ReplaceAllString(
			strings.Replace(p.read(pool), `"proxmox_virtual_environment_pool" "this"`, `"terraform_data" "this"`, 1), ""),
			"[for pool in proxmox_virtual_environment_pool.this : pool.pool_id]", "keys(terraform_data.this)"))
	}
	p.write("modules/proxmox-vm/outputs.tf", header+`output "vms" {
  value = { for key, vm in terraform_data.this : key => { ipv4 = vm.output } }
}
`)
	p.write("modules/proxmox-vm/main.tf", header+`resource "terraform_data" "this" {
  for_each = var.vms
  input    = each.value.ipv4 != null ? each.value.ipv4 : try(jsondecode(each.value.meta).address, null)
}
`)
	if p.realRecords || !p.exists("modules/dns-records") {
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
func (p *project) all(stack, command string) string {
	p.Helper()
	return p.succeeds("stacks/"+stack, "terragrunt", "stack", "run", command, "--")
}

// outputs reads the outputs in the state of a unit of the stack live, and its number of resources.
func (p *project) outputs(unit string) map[string]any {
	p.Helper()
	var state struct {
		Outputs map[string]struct {
			Value any `json:"value"`
		} `json:"outputs"`
		Resources []any `json:"resources"`
	}
	if err := json.Unmarshal([]byte(p.read(".state/live/"+unit+"/tofu.tfstate")), &state); err != nil {
		p.Fatal(err)
	}
	out := map[string]any{"resources": len(state.Resources)}
	for name, o := range state.Outputs {
		out[name] = o.Value
	}
	return out
}

// order returns the units of the stack live in the order in which Terragrunt runs them.
func (p *project) order() []string {
	p.Helper()
	p.generate("live")
	r := p.run("stacks/live", "terragrunt", "find", "--dag")
	var out []string
	for line := range strings.Lines(string(r.Stdout)) {
		if unit, ok := strings.CutPrefix(strings.TrimSpace(line), ".terragrunt-stack/"); ok {
			out = append(out, unit)
		}
	}
	return out
}

// before fails unless the units run in this order.
func (p *project) before(order []string, units ...string) {
	p.Helper()
	for i := 0; i+1 < len(units); i++ {
		a, b := slices.Index(order, units[i]), slices.Index(order, units[i+1])
		if a < 0 || b < 0 || a > b {
			p.Errorf("the order is %v, want %v", order, units)
		}
	}
}

const poolAndDNS = "pool: {id: people, create: true}\ndns: {zone: example.org, server: 127.0.0.1}\n"

// TestLifecycle creates, changes, reduces and destroys a stack.
func TestLifecycle(t *testing.T) {
	t.Parallel()
	p := newStack(t, poolAndDNS+"vms:\n  dhcp: {meta: {address: 10.0.0.7}}\n  static: {cloud_init: {ipv4: 10.0.0.8/24}}\n").render()
	p.useTerraformData()
	p.before(p.order(), "proxmox-pool", "proxmox-vm", "dns-dhcp")
	p.before(p.order(), "proxmox-vm", "dns-static")

	// In the first plan, unknown addresses are mocks, and static ones are correct.
	plan := p.all("live", "plan")
	p.contains(plan, `"192.0.2.1"`, `"10.0.0.8"`)

	// An apply never uses a mock.
	p.all("live", "apply")
	for unit, want := range map[string]string{"dns-dhcp": "10.0.0.7", "dns-static": "10.0.0.8"} {
		records, _ := json.Marshal(p.outputs(unit)["records"])
		if !strings.Contains(string(records), want) {
			t.Errorf("%s publishes %s, want %s", unit, records, want)
		}
	}

	// `stack clean` and `stack generate` keep the state.
	p.succeeds("stacks/live", "terragrunt", "stack", "clean")
	if p.exists("stacks/live/.terragrunt-stack") {
		t.Error("stack clean keeps the units")
	}
	again := p.all("live", "plan")
	if n := strings.Count(again, "No changes."); n != 4 {
		t.Errorf("%d of 4 units have no changes after a clean\n%s", n, again)
	}

	// A new VM: its record is planned with a mock, the other records with their addresses.
	p.respec(poolAndDNS + "vms:\n  dhcp: {meta: {address: 10.0.0.7}}\n  static: {cloud_init: {ipv4: 10.0.0.8/24}}\n  more: {meta: {address: 10.0.0.9}}\n")
	plan = p.all("live", "plan")
	p.contains(plan, `"192.0.2.1"`)
	if n := strings.Count(plan, "No changes."); n != 3 {
		t.Errorf("%d units have no changes, want pool and two records\n%s", n, plan)
	}
	p.all("live", "apply")

	// A retired VM: its record is destroyed before it.
	p.respec(poolAndDNS + "retired: [dhcp]\nvms:\n  static: {cloud_init: {ipv4: 10.0.0.8/24}}\n  more: {meta: {address: 10.0.0.9}}\n")
	p.before(p.order(), "dns-dhcp", "proxmox-vm", "dns-static")
	p.all("live", "apply")
	if left := p.outputs("dns-dhcp"); left["resources"] != 0 {
		t.Errorf("the retired record still exists: %v", left)
	}
	if vms := p.outputs("proxmox-vm")["vms"].(map[string]any); len(vms) != 2 {
		t.Errorf("the VMs are %v, want two", vms)
	}

	// The retired stack: first the records, then the VMs, then the pool.
	p.write("stackgen.yaml", noGuard+"retired: {stacks: [live]}\n")
	p.remove("specs/live.yaml")
	p.render()
	p.before(p.order(), "dns-static", "proxmox-vm", "proxmox-pool")
	p.all("live", "apply")
	for _, unit := range []string{"dns-static", "dns-more", "dns-dhcp", "proxmox-vm", "proxmox-pool"} {
		if left := p.outputs(unit); left["resources"] != 0 {
			t.Errorf("%s still has resources: %v", unit, left)
		}
	}
}

// TestDestroy destroys a stack twice: the second time, no VM has an address.
func TestDestroy(t *testing.T) {
	t.Parallel()
	p := newStack(t, poolAndDNS+"vms:\n  a: {meta: {address: 10.0.0.7}}\n").render()
	p.useTerraformData()
	p.all("live", "apply")
	p.all("live", "destroy")
	for _, unit := range []string{"dns-a", "proxmox-vm", "proxmox-pool"} {
		if left := p.outputs(unit); left["resources"] != 0 {
			t.Errorf("%s still has resources: %v", unit, left)
		}
	}
	p.all("live", "destroy")
}

// TestNoAddress checks that the record of a VM without an address fails, and that the
// message names the guest agent.
func TestNoAddress(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"per-vm", "per-stack"} {
		p := newStack(t, strings.Replace(poolAndDNS, "}\ndns: {", "}\ndns: {mode: "+mode+", ", 1)+"vms:\n  mute: {}\n  loud: {meta: {address: 10.0.0.7}}\n").render()
		p.useTerraformData()
		p.generate("live")
		p.fails("stacks/live", []string{"stack", "run", "apply"},
			"VM mute has reported no IPv4 address, so its record live-mute cannot be published.", "guest agent", "static address")
		if mode == "per-vm" {
			p.outputs("dns-loud")
		}
	}
}

// TestDNSPerStack checks that one unit has all records, and drops one that the spec drops.
func TestDNSPerStack(t *testing.T) {
	t.Parallel()
	dns := "dns: {zone: example.org, server: 127.0.0.1, mode: per-stack}\n"
	p := newStack(t, dns+"vms:\n  a: {meta: {address: 10.0.0.7}}\n  b: {meta: {address: 10.0.0.8}}\n").render()
	p.useTerraformData()
	p.before(p.order(), "proxmox-vm", "dns")
	p.all("live", "apply")
	p.respec(dns + "vms:\n  a: {dns: false, meta: {address: 10.0.0.7}}\n  b: {meta: {address: 10.0.0.8}}\n")
	p.all("live", "apply")
	records, _ := json.Marshal(p.outputs("dns")["records"])
	if got := string(records); got != `{"live-b":["10.0.0.8"]}` {
		t.Errorf("the records are %s, want b's", got)
	}
}

// TestSavedPlans applies the first saved plans of a stack whose addresses are all in
// the spec.
func TestSavedPlans(t *testing.T) {
	t.Parallel()
	p := newStack(t, poolAndDNS+"vms:\n  a: {cloud_init: {ipv4: 10.0.0.7/24}}\n  b: {cloud_init: {ipv4: 10.0.0.8/24}}\n").render()
	p.useTerraformData()
	plans := p.TempDir()
	p.succeeds("stacks/live", "terragrunt", "stack", "run", "plan", "--out-dir", plans)
	p.succeeds("stacks/live", "terragrunt", "stack", "run", "apply", "--out-dir", plans)
	for unit, want := range map[string]string{"dns-a": `{"live-a":["10.0.0.7"]}`, "dns-b": `{"live-b":["10.0.0.8"]}`} {
		if got, _ := json.Marshal(p.outputs(unit)["records"]); string(got) != want {
			t.Errorf("%s publishes %s, want %s", unit, got, want)
		}
	}
}

// TestRenamedRecord checks that a renamed VM keeps its DNS unit and its record.
func TestRenamedRecord(t *testing.T) {
	t.Parallel()
	p := newStack(t, poolAndDNS+"vms:\n  a: {name: web, meta: {address: 10.0.0.7}}\n").render()
	p.useTerraformData()
	p.all("live", "apply")
	p.respec(poolAndDNS + "renamed: {a: b}\nvms:\n  b: {name: web, meta: {address: 10.0.0.7}}\n")
	output := p.all("live", "apply")
	p.contains(output, "No changes.")
	if got, _ := json.Marshal(p.outputs("dns-a")["records"]); string(got) != `{"web":["10.0.0.7"]}` {
		t.Errorf("dns-a publishes %s, want the same record as before", got)
	}
}

// TestForgotten checks that later runs omit a forgotten VM and keep its record's state.
func TestForgotten(t *testing.T) {
	t.Parallel()
	p := newStack(t, poolAndDNS+"vms:\n  a: {meta: {address: 10.0.0.7}}\n  b: {meta: {address: 10.0.0.8}}\n").render()
	p.useTerraformData()
	p.all("live", "apply")
	before := p.read(".state/live/dns-a/tofu.tfstate")
	p.write("specs/live.yaml", liveSpec(poolAndDNS+"vms:\n  b: {meta: {address: 10.0.0.8}}\n"))
	_, output := p.stackgen("render", p.dir)
	p.contains(output, "(cd stacks/live && terragrunt stack clean && terragrunt stack generate && cd .terragrunt-stack/proxmox-vm && terragrunt state rm '"+vmAddress("this", "a")+"')")
	p.respec(poolAndDNS + "forgotten: [a]\nvms:\n  b: {meta: {address: 10.0.0.8}}\n")
	p.succeeds("stacks/live", "terragrunt", "stack", "clean") // as the refusal says: otherwise every run includes the record's unit
	p.generate("live")
	p.succeeds(unitDir("live", "proxmox-vm"), "terragrunt", "run", "--", "state", "rm", `terraform_data.this["a"]`)
	p.all("live", "apply")
	p.contains(p.all("live", "plan"), "No changes.")
	if p.read(".state/live/dns-a/tofu.tfstate") != before {
		t.Error("the forgotten record's state has changed")
	}
}
