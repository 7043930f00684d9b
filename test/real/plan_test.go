package real

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"golang.org/x/text/unicode/norm"
)

// TestHomelabPlan checks that a first plan needs no server, and that an apply fails only
// on the connection.
func TestHomelabPlan(t *testing.T) {
	t.Parallel()
	p := ownProject(t)
	plan := p.plan("homelab", "proxmox-vm")
	p.expect(plan,
		`create proxmox_virtual_environment_vm.protected["db01"]`,
		`create proxmox_virtual_environment_vm.this["web01"]`,
		`create proxmox_virtual_environment_vm.this["web02"]`)
	p.expect(p.plan("homelab", "proxmox-pool"), `create proxmox_virtual_environment_pool.this["example-multi-vm-pool"]`)
	for _, c := range plan.Changes {
		want := map[string]float64{"web01": 2100, "web02": 2101, "db01": 2102}[c.Index]
		if got := c.Change.After["vm_id"]; got != want {
			t.Errorf("%s has VMID %v, want %v", c.Address, got, want)
		}
	}
	for _, unit := range []string{"proxmox-pool", "proxmox-vm"} {
		output := p.fails(unitDir("homelab", unit), []string{"run", "--", "apply", "-auto-approve", "-input=false"}, "connection refused")
		for _, failure := range strings.Split(output, "Error:")[1:] {
			if !strings.Contains(failure, "127.0.0.1:1: connect: connection refused") {
				t.Errorf("%s: an error other than the connection's: %s", unit, failure)
			}
		}
	}
}

// TestProfiles checks that OpenTofu ignores the changes that a profile ignores.
func TestProfiles(t *testing.T) {
	t.Parallel()
	p := newStack(t, "vms:\n  a: {description: one}\n  p: {description: one, profile: protected}\n  x: {description: one, adopt: {vmid: 900}}\n  o: {description: one, profile: own}\nprofiles: {own: {ignore_changes: [node_name, description]}}\n").render()
	p.state(p.plan("live", "proxmox-vm"))
	p.respec("vms:\n  a: {description: two, node: pve2}\n  p: {description: two, node: pve2, profile: protected}\n  x: {description: two, adopt: {vmid: 900}, node: pve2}\n  o: {description: two, node: pve2, profile: own}\nprofiles: {own: {ignore_changes: [node_name, description]}}\n")
	p.expect(p.plan("live", "proxmox-vm", "-refresh=false"),
		`update proxmox_virtual_environment_vm.this["a"]`,
		`update proxmox_virtual_environment_vm.protected["p"]`)
}

// TestTextIsData checks that text of a spec reaches the provider unchanged.
func TestTextIsData(t *testing.T) {
	t.Parallel()
	p := newStack(t, specialText).render()
	var spec struct {
		Pool struct{ Comment string }
		VMs  map[string]struct {
			Description string
			CloudInit   struct {
				Keys []string `yaml:"ssh_keys"`
			} `yaml:"cloud_init"`
			Meta map[string]any
		}
	}
	if err := yaml.Unmarshal([]byte(specialText), &spec); err != nil {
		t.Fatal(err)
	}
	plan := p.plan("live", "proxmox-vm")
	for _, c := range plan.Changes {
		if got, want := c.Change.After["description"], norm.NFC.String(spec.VMs[c.Index].Description); got != want { // HCL normalizes to NFC
			t.Errorf("description of %s is\n%q, want\n%q", c.Index, got, want)
		}
	}
	var keys map[string]any
	for _, c := range plan.Changes {
		if c.Index == "a" {
			keys = c.Change.After["initialization"].([]any)[0].(map[string]any)["user_account"].([]any)[0].(map[string]any)
		}
	}
	if got, want := keys["keys"], spec.VMs["a"].CloudInit.Keys[0]; !reflect.DeepEqual(got, []any{want}) {
		t.Errorf("keys are\n%q, want\n%q", got, want)
	}
	meta := plan.Planned.Outputs["meta"].Value.(map[string]any)["a"]
	if got, want := throughJSON(t, meta), throughJSON(t, spec.VMs["a"].Meta); !reflect.DeepEqual(got, want) {
		t.Errorf("meta is\n%q, want\n%q", got, want)
	}
	for _, c := range p.plan("live", "proxmox-pool").Changes {
		if got := c.Change.After["comment"]; got != spec.Pool.Comment {
			t.Errorf("the pool's comment is\n%q, want\n%q", got, spec.Pool.Comment)
		}
	}
}

// throughJSON encodes a value to JSON and decodes it.
func throughJSON(t *testing.T, v any) any {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestManyVMs plans more VMs than fit into an environment variable.
func TestManyVMs(t *testing.T) {
	t.Parallel()
	p := newStack(t, "groups:\n  n: {count: 150, description: \""+strings.Repeat("long ", 120)+"\"}\n").render()
	p.generate("live")
	output := p.succeeds(unitDir("live", "proxmox-vm"), "terragrunt", "run", "--", "plan", "-input=false")
	p.contains(output, "Plan: 150 to add, 0 to change, 0 to destroy.")
	if n := len(p.cached("vms.auto.tfvars.json")); n < 1<<17 { // MAX_ARG_STRLEN of Linux
		t.Errorf("the VMs are %d bytes: too few to prove anything", n)
	}
}

// state writes the state that the VM unit of the stack live has after the plan is
// applied.
func (p *project) state(plan planJSON) {
	p.Helper()
	blocks := map[string][]map[string]any{}
	for _, c := range plan.Changes {
		if c.Change.After == nil {
			continue
		}
		attributes := maps.Clone(c.Change.After)
		attributes["id"] = fmt.Sprint(attributes["vm_id"])
		fillComputed(attributes)
		blocks[c.Name] = append(blocks[c.Name], map[string]any{"index_key": c.Index, "schema_version": 0, "attributes": attributes})
	}
	var resources []map[string]any
	for _, label := range slices.Sorted(maps.Keys(blocks)) {
		resources = append(resources, map[string]any{"mode": "managed", "type": "proxmox_virtual_environment_vm", "name": label,
			"provider": `provider["registry.opentofu.org/bpg/proxmox"]`, "instances": blocks[label]})
	}
	body, err := json.Marshal(map[string]any{"version": 4, "terraform_version": "1.12.6", "serial": 1, "lineage": "test", "outputs": map[string]any{}, "resources": resources})
	if err != nil {
		p.Fatal(err)
	}
	p.write(".state/live/proxmox-vm/tofu.tfstate", string(body))
}

// fillComputed sets computed attributes, which a server would return.
func fillComputed(vm map[string]any) {
	fill := func(block map[string]any, values map[string]any) {
		for k, v := range values {
			if block[k] == nil {
				block[k] = v
			}
		}
	}
	blocks := func(name string, values map[string]any) {
		list, _ := vm[name].([]any)
		for _, b := range list {
			fill(b.(map[string]any), values)
		}
	}
	fill(vm, map[string]any{"boot_order": []any{}, "ipv4_addresses": []any{}, "ipv6_addresses": []any{}, "mac_addresses": []any{}, "network_interface_names": []any{}})
	blocks("network_device", map[string]any{"disconnected": false, "mac_address": "BC:24:11:00:00:01", "trunks": ""})
	blocks("cpu", map[string]any{"flags": []any{}, "units": 0})
	blocks("initialization", map[string]any{"upgrade": false})
}
