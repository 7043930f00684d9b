package real

import (
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

// inventoryJSON is an inventory with these guests, which are JSON objects.
func inventoryJSON(guests string) string {
	return `{"version":1,"taken":"2026-01-01T00:00:00Z","endpoint":"https://pve:8006","release":"8.4.21","requests":1,"quorate":true,
"nodes":[{"name":"pve1","online":true}],"guests":[` + guests + `{"vmid":9000,"node":"pve1","kind":"qemu","template":true,"name":"t","status":"stopped"}],
"pools":[],"storages":[],"tasks":[],"free":[],"gaps":[],"records":[]}`
}

const guestJSON = `{"vmid":100,"node":"pve1","kind":"qemu","name":"live-a","status":"stopped","config":{"macs":["BC:24:11:00:00:01"],"raw":{"name":"live-a","net0":"virtio=BC:24:11:00:00:01,bridge=vmbr0"}}},`

const stateJSON = `{"version":4,"terraform_version":"1.12.6","serial":1,"lineage":"x","outputs":{},"resources":[{"mode":"managed","type":"proxmox_virtual_environment_vm",
"name":"this","provider":"provider[\"registry.opentofu.org/bpg/proxmox\"]","instances":[{"index_key":"a","schema_version":0,"attributes":{"id":"100","vm_id":100,"node_name":"pve1","name":"live-a"}}]}],"check_results":null}`

// TestPreflight reads a state that does not exist yet, one that exists and one that
// cannot be read, through the backend. The last is not treated as the first.
func TestPreflight(t *testing.T) {
	t.Parallel()
	p := newStack(t, "vms:\n  a: {networks: [{mac: BC:24:11:00:00:01}]}\n").render()
	inventory := filepath.Join(p.dir, "inv.json")
	expect := func(want int, contains ...string) {
		t.Helper()
		code, output := p.stackgen("preflight", p.dir, "--inventory", inventory)
		if code != want {
			t.Errorf("exit %d, want %d\n%s", code, want, output)
		}
		p.contains(output, contains...)
	}
	p.write("inv.json", inventoryJSON(""))
	expect(0, "create live/a", "safe to apply")
	p.write("inv.json", inventoryJSON(guestJSON))
	expect(2, "adopt live/a", "import-blocks")
	if code, output := p.stackgen("import-blocks", p.dir, "--inventory", inventory); code != 0 {
		t.Fatalf("import-blocks: exit %d\n%s", code, output)
	}
	expect(0, "adopt live/a", "safe to apply")
	if code, output := p.stackgen("render", p.dir, "--check"); code != 0 {
		t.Errorf("an import file makes render find differences: exit %d\n%s", code, output)
	}
	p.write(".state/live/proxmox-vm/tofu.tfstate", stateJSON)
	expect(0, "managed live/a", "safe to apply")
	p.remove("stacks/live/imports")
	expect(0, "managed live/a", "safe to apply")
	p.write("inv.json", inventoryJSON(""))
	expect(3, "blocked gone live/a")
	p.write(".state/live/proxmox-vm/tofu.tfstate", "{")
	expect(1, "unknown live/a", "could not be read")
	p.remove("stacks/live/terragrunt.stack.hcl")
	expect(1, "unknown live/a", "could not be read")
}

// TestPreflightS3 reads a missing, a valid and an invalid state from a bucket.
func TestPreflightS3(t *testing.T) {
	t.Parallel()
	bucket := &bucketServer{objects: map[string][]byte{}}
	server := httptest.NewServer(bucket)
	t.Cleanup(server.Close)
	p := newStack(t, strings.NewReplacer("http://127.0.0.1:1", server.URL, "a: {}", "a: {networks: [{mac: BC:24:11:00:00:01}]}").Replace(s3Spec)).render()
	p.tools = p.tools.With("AWS_ACCESS_KEY_ID=the-key", "AWS_SECRET_ACCESS_KEY=the-secret")
	inventory := filepath.Join(p.dir, "inv.json")
	p.write("inv.json", inventoryJSON(guestJSON))
	for _, step := range []struct {
		state    string
		exit     int
		contains string
	}{{"", 2, "adopt live/a"}, {stateJSON, 0, "managed live/a"}, {"{", 1, "could not be read"}} {
		if step.state != "" {
			bucket.Lock()
			bucket.objects["/states/team/prod/live/proxmox-vm/tofu.tfstate"] = []byte(step.state)
			bucket.Unlock()
		}
		code, output := p.stackgen("preflight", p.dir, "--inventory", inventory)
		if code != step.exit || strings.Contains(output, "the-secret") {
			t.Errorf("state %.20q: exit %d, want %d\n%s", step.state, code, step.exit, output)
		}
		p.contains(output, step.contains)
		if step.exit == 0 {
			if code, output := p.stackgen("resolve", p.dir, "--inventory", inventory); code != 0 || !strings.Contains(p.read("stackgen.lock.yaml"), "lineage: ") {
				t.Errorf("resolve does not record the lineage of the state in the bucket: exit %d\n%s", code, output)
			}
		}
	}
	if len(bucket.seen) > 0 {
		t.Errorf("preflight has written: %v", bucket.seen)
	}
}
