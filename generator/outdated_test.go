package generator

import (
	"slices"
	"strings"
	"testing"

	"stackgen/internal/lock"
)

// TestOtherValues: a unit that Terragrunt generated before the last render differs
// from it in any value.
func TestOtherValues(t *testing.T) {
	const stack = `unit "proxmox-vm" {
  source = "../../units/proxmox-vm"
  path   = "proxmox-vm"

  values = {
    parallelism = 4
    vms = {
      a = { profile = "default", vm_id = 300, started = true, name = "$${x}", comment = null }
      b = { profile = "default", vm_id = 301, cpu_limit = 1.5 }
    }
  }
}
`
	const same = "parallelism = 4\nvms = {\n  a = {\n    comment = null\n    name = \"$${x}\"\n    profile = \"default\"\n    started = true\n    vm_id = 300\n  }\n  b = {\n    cpu_limit = 1.5\n    profile = \"default\"\n    vm_id = 301\n  }\n}\n"
	for _, c := range []struct{ old, new, want string }{
		{"", "", ""},
		{"started = true", "started = false", "a"},
		{"vm_id = 301", "vm_id = 999", "b"},
		{"  b = {", "  c = {", "b c"},
		{"parallelism = 4", "parallelism = 5", "parallelism"},
		{"parallelism = 4\n", "", "parallelism"},
		{"vms = {", "vms = null\nx = {", "vms x"},
	} {
		got, err := OtherValues([]byte(stack), lock.UnitVM, []byte(strings.Replace(same, c.old, c.new, 1)))
		if err != nil || !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%q instead of %q: %q, %v; want %s", c.new, c.old, got, err, c.want)
		}
	}
	if got, err := OtherValues([]byte(stack), "dns-a", []byte("records = {}\n")); err != nil || !slices.Equal(got, []string{"records"}) {
		t.Errorf("a unit that was not rendered: %q, %v", got, err)
	}
	if _, err := OtherValues([]byte(stack), lock.UnitVM, []byte("{")); err == nil {
		t.Error("a broken file is no error")
	}
}

// TestOtherBackend: a run must not use another state than the one that was read.
func TestOtherBackend(t *testing.T) {
	local := &lock.Stack{StateKey: "live", Backend: lock.Backend{Type: "local"}}
	s3 := &lock.Stack{StateKey: "live", Backend: lock.Backend{Type: "s3", Bucket: "b", Region: "r", Endpoint: "http://e"}}
	for _, c := range []struct {
		lock         *lock.Stack
		backend, own string
		want         string
	}{
		{local, "local", `"path": "/p/.state/live/proxmox-vm/tofu.tfstate", "workspace_dir": null`, ""},
		{local, "local", `"path": "/other/.state/live/proxmox-vm/tofu.tfstate"`, "its path is"},
		{local, "local", `"path": "/p/.state/live/proxmox-vm/tofu.tfstate", "workspace_dir": "/w"`, "its workspace_dir is"},
		{local, "s3", `"bucket": "b"`, `its type is "s3"`},
		{local, "", "", `its type is ""`},
		{s3, "s3", `"bucket": "b", "key": "live/proxmox-vm/tofu.tfstate", "region": "r", "endpoint": null, "endpoints": {"s3": "http://e", "sts": null}`, ""},
		{s3, "s3", `"bucket": "b", "key": "other/proxmox-vm/tofu.tfstate", "region": "r", "endpoints": {"s3": "http://e"}`, "its key is"},
		{s3, "s3", `"bucket": "c", "key": "live/proxmox-vm/tofu.tfstate", "region": "r", "endpoints": {"s3": "http://e"}`, "its bucket is"},
		{s3, "s3", `"bucket": "b", "key": "live/proxmox-vm/tofu.tfstate", "region": "r", "endpoints": {"s3": "http://f"}`, "its endpoint is"},
		{s3, "s3", `"bucket": "b", "key": "live/proxmox-vm/tofu.tfstate", "region": "r", "endpoints": null`, "its endpoint is"},
		{s3, "s3", `"bucket": "b", "key": "live/proxmox-vm/tofu.tfstate", "region": "q", "endpoints": {"s3": "http://e"}`, "its region is"},
	} {
		recorded := `{"version": 3, "backend": {"type": "` + c.backend + `", "config": {` + c.own + `}}}`
		got, err := OtherBackend(c.lock, lock.UnitVM, "/p", []byte(recorded))
		if err != nil || !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %q, %v; want %q", recorded, got, err, c.want)
		}
	}
	if _, err := OtherBackend(local, lock.UnitVM, "/p", []byte("{")); err == nil {
		t.Error("a broken file is no error")
	}
}

// TestNeedsInit: other settings of one state need another init, too.
func TestNeedsInit(t *testing.T) {
	l := &lock.Stack{StateKey: "live", Backend: lock.Backend{Type: "s3", Bucket: "b", Region: "r", Lock: true}}
	const place = `"bucket": "b", "key": "live/proxmox-vm/tofu.tfstate", "region": "r"`
	for own, want := range map[string]bool{
		place + `, "use_lockfile": true, "use_path_style": null`:              false,
		place + `, "use_lockfile": true, "use_path_style": true`:              true,
		place + `, "use_lockfile": null`:                                      true,
		place + `, "use_lockfile": true, "skip_s3_checksum": true`:            true,
		strings.Replace(place, "live", "other", 1) + `, "use_lockfile": true`: true,
	} {
		recorded := `{"version": 3, "backend": {"type": "s3", "config": {` + own + `}}}`
		if got := NeedsInit(l, lock.UnitVM, "/p", []byte(recorded)); got != want {
			t.Errorf("%s: %t, want %t", recorded, got, want)
		}
	}
	if !NeedsInit(l, lock.UnitVM, "/p", []byte("{")) {
		t.Error("a broken file needs no init")
	}
}

// TestSameSettings: only what comes from the settings of the project counts.
func TestSameSettings(t *testing.T) {
	const profile, versions = "modules/proxmox-vm/profile-default.tf", "modules/proxmox-vm/versions.tf"
	const vm = "resource \"proxmox_virtual_environment_vm\" \"this\" {\n  name = \"x\"\n  lifecycle {\n    ignore_changes = [clone]\n  }\n}\n"
	for _, c := range []struct {
		path, a, b string
		want       bool
	}{
		{profile, vm, vm, true},
		{profile, vm, strings.Replace(vm, `"x"`, `"y"`, 1), true},
		{profile, vm, strings.Replace(vm, "[clone]", "[\n      clone, # cloned\n    ]", 1), true},
		{profile, vm, strings.Replace(vm, "[clone]", "[clone, node_name]", 1), false},
		{profile, vm, vm + strings.Replace(vm, `"this"`, `"mine"`, 1), true},
		{"modules/proxmox-vm/main.tf", `v = "1"`, `v = "2"`, true},
		{versions, `v = "1"`, `v = "1" # one`, true},
		{versions, `v = "1"`, `v = "2"`, false},
		{"root.hcl", `v = "1"`, `v = "2"`, true},
	} {
		if got := SameSettings(c.path, []byte(c.a), []byte(c.b)); got != c.want {
			t.Errorf("%s: %v\n%s\n%s", c.path, got, c.a, c.b)
		}
	}
}
