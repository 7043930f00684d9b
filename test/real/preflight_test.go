package real

import (
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

// realHere gives the command line the environment of the real tools.
func (p *realProject) realHere() {
	p.Helper()
	for _, e := range p.tools.Env {
		name, value, _ := strings.Cut(e, "=")
		p.Setenv(name, value)
	}
	p.Setenv("TF_LOG", "")
}

// realInventory is a cluster with these guests, as JSON objects.
func realInventory(guests string) string {
	return `{"version":1,"taken":"2026-01-01T00:00:00Z","endpoint":"https://pve:8006","release":"8.4.21","requests":1,"quorate":true,
"nodes":[{"name":"pve1","online":true}],"guests":[` + guests + `{"vmid":9000,"node":"pve1","kind":"qemu","template":true,"name":"t","status":"stopped"}],
"pools":[],"storages":[],"tasks":[],"free":[],"gaps":[],"records":[]}`
}

const realGuest = `{"vmid":100,"node":"pve1","kind":"qemu","name":"live-a","status":"stopped","config":{"raw":{"name":"live-a"}}},`

const realState = `{"version":4,"terraform_version":"1.12.6","serial":1,"lineage":"x","outputs":{},"resources":[{"mode":"managed","type":"proxmox_virtual_environment_vm",
"name":"this","provider":"provider[\"registry.opentofu.org/bpg/proxmox\"]","instances":[{"index_key":"a","schema_version":0,"attributes":{"id":"100","vm_id":100,"node_name":"pve1","name":"live-a"}}]}],"check_results":null}`

// TestRealPreflight reads state through the backend: one that has
// none yet, one that has some, one that cannot be read. The last is never taken
// for the first.
func TestRealPreflight(t *testing.T) {
	p := realStack(t, "vms:\n  a: {}\n").render()
	p.realHere()
	inventory := filepath.Join(p.dir, "inv.json")
	expect := func(want int, says ...string) {
		t.Helper()
		code, said := p.stackgen("preflight", p.dir, "--inventory", inventory)
		if code != want {
			t.Errorf("exit %d, want %d\n%s", code, want, said)
		}
		p.says(said, says...)
	}
	p.write("inv.json", realInventory(""))
	expect(0, "create live/a", "Apply now.")
	p.write("inv.json", realInventory(realGuest))
	expect(2, "adopt live/a", "import-blocks")
	if code, said := p.stackgen("import-blocks", p.dir, "--inventory", inventory); code != 0 {
		t.Fatalf("import-blocks: exit %d\n%s", code, said)
	}
	expect(0, "adopt live/a", "Apply now.")
	if code, said := p.stackgen("render", p.dir, "--check"); code != 0 {
		t.Errorf("an import file makes render find differences: exit %d\n%s", code, said)
	}
	p.write(".state/live/proxmox-vm/tofu.tfstate", realState)
	expect(2, "managed live/a", "still imports")
	p.remove("stacks/live/imports")
	expect(0, "managed live/a", "Apply now.")
	p.write("inv.json", realInventory(""))
	expect(3, "lost live/a", "STOP")
	p.write(".state/live/proxmox-vm/tofu.tfstate", "{")
	expect(1, "unknown live/a", "could not be read")
	p.remove("stacks/live/terragrunt.stack.hcl")
	expect(1, "unknown live/a", "could not be read")
}

// TestRealPreflightS3 reads state from a bucket: none there, some, and none that
// can be read.
func TestRealPreflightS3(t *testing.T) {
	bucket := &realBucket{objects: map[string][]byte{}}
	server := httptest.NewServer(bucket)
	t.Cleanup(server.Close)
	p := realStack(t, strings.Replace(realS3, "http://127.0.0.1:1", server.URL, 1)).render()
	p.realHere()
	p.Setenv("AWS_ACCESS_KEY_ID", "the-key")
	p.Setenv("AWS_SECRET_ACCESS_KEY", "the-secret")
	inventory := filepath.Join(p.dir, "inv.json")
	p.write("inv.json", realInventory(realGuest))
	for _, step := range []struct {
		state string
		exit  int
		says  string
	}{{"", 2, "adopt live/a"}, {realState, 0, "managed live/a"}, {"{", 1, "could not be read"}} {
		if step.state != "" {
			bucket.Lock()
			bucket.objects["/states/team/prod/live/proxmox-vm/tofu.tfstate"] = []byte(step.state)
			bucket.Unlock()
		}
		code, said := p.stackgen("preflight", p.dir, "--inventory", inventory)
		if code != step.exit || strings.Contains(said, "the-secret") {
			t.Errorf("state %.20q: exit %d, want %d\n%s", step.state, code, step.exit, said)
		}
		p.says(said, step.says)
	}
	if len(bucket.seen) > 0 {
		t.Errorf("looking has written: %v", bucket.seen)
	}
}
