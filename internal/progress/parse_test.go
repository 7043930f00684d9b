package progress

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackgen/guest"
)

// recorded are the events in a recording of OpenTofu 1.12.6, in short.
func recorded(t *testing.T, file string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range bytes.Lines(data) {
		e, ok := Parse("lab", "proxmox-vm", line)
		if !ok {
			continue
		}
		if e.Stack != "lab" || e.Unit != "proxmox-vm" {
			t.Errorf("%+v is about another unit", e)
		}
		text, _, _ := strings.Cut(e.Text, "\n")
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s %s %s", e.Type, e.Kind, e.Key, e.Action, text)))
	}
	return out
}

func TestParseRecordings(t *testing.T) {
	tests := []struct {
		file string
		want []string
	}{
		{"apply.jsonl", []string{
			"summary unit", "began pool lab create", "began vm linked create", "ended pool lab create", "began vm registry create",
			"began vm web01 create", "began vm web02 create", "failed vm web02 create", "failed vm registry create", "ended vm linked create",
			"working vm web01 create", "ended vm web01 create", "problem vm registry  VM clone", "problem vm web02  VM clone",
		}},
		{"change.jsonl", []string{
			"summary unit", "began vm web01 change", "began vm linked change", "ended vm linked change", "ended vm web01 change", "summary unit",
		}},
		{"destroy.jsonl", []string{
			"summary unit", "began pool lab destroy", "began vm web01 destroy", "began vm linked destroy", "began pool old destroy",
			"ended pool lab destroy", "ended pool old destroy", "ended vm linked destroy", "ended vm web01 destroy", "summary unit",
		}},
		{"token.jsonl", []string{
			"summary unit",
			"problem pool lab  error getting pool: received an HTTP 401 response - Reason: Authentication failed!",
			"problem pool old  error getting pool: received an HTTP 401 response - Reason: Authentication failed!",
			`problem vm web01  failed to get resources list of type ("vm") for cluster: received an HTTP 401 response - Reason: Authentication failed!`,
			`problem vm linked  failed to get resources list of type ("vm") for cluster: received an HTTP 401 response - Reason: Authentication failed!`,
		}},
		{"dns.jsonl", []string{"summary unit", "began record web01 create", "failed record web01 create", "problem record web01  update server is not set"}},
	}
	for _, test := range tests {
		if got := recorded(t, test.file); !slices.Equal(got, test.want) {
			t.Errorf("%s: got\n%s", test.file, strings.Join(got, "\n"))
		}
	}
}

func TestParseIgnores(t *testing.T) {
	for _, line := range []string{
		"", "{", "null", "[]", `"text"`, "{}", `{"type":"version"}`, `{"type":"of_a_later_version","hook":{"resource":{"addr":"proxmox_virtual_environment_vm.default[\"a\"]"}}}`,
		`{"type":"apply_start","hook":{"resource":{"addr":"terraform_data.x[\"a\"]"},"action":"create"}}`,
		`{"type":"apply_start","hook":{"resource":{"addr":"proxmox_virtual_environment_vm.default[\"a\"]"},"action":"read"}}`,
		`{"type":"apply_start","hook":{"resource":{"addr":"proxmox_virtual_environment_vm.default[0]"},"action":"create"}}`,
		`{"type":"apply_start","hook":{"resource":{"addr":"proxmox_virtual_environment_vm.default"},"action":"create"}}`,
		`{"type":"apply_start","hook":7}`,
		`{"type":"diagnostic","diagnostic":{"severity":"warning","summary":"Deprecated Resource"}}`,
	} {
		if e, ok := Parse("s", "u", []byte(line)); ok {
			t.Errorf("%s: %+v", line, e)
		}
	}
}

func TestResource(t *testing.T) {
	tests := []struct {
		address, want string
	}{
		{`proxmox_virtual_environment_vm.default["web01"]`, "vm web01"},
		{`proxmox_virtual_environment_vm.protected["a-b"]`, "vm a-b"},
		{`proxmox_virtual_environment_container.this["ns"]`, "vm ns"},
		{`proxmox_virtual_environment_pool.this["p.1"]`, "pool p.1"},
		{`dns_a_record_set.this["@"]`, "record @"},
		{`dns_a_record_set.this["a\"b"]`, `record a"b`},
		{`module.lab.module.vm.proxmox_virtual_environment_vm.default["web01"]`, "vm web01"},
		{`data.proxmox_virtual_environment_vm.default["web01"]`, ""},
		{`proxmox_virtual_environment_vm.default["web01"`, ""},
		{`proxmox_virtual_environment_vm["web01"]`, ""},
		{`null_resource.x["a"]`, ""}, {"", ""}, {"module.", ""}, {"[", ""}, {`module.a["x"]`, ""},
	}
	for _, test := range tests {
		of, ok := resource("s", guest.ContainerUnit, test.address)
		if got := strings.TrimSpace(string(of.Kind) + " " + of.Key); got != test.want && ok || ok != (test.want != "") {
			t.Errorf("%s: %q, %v", test.address, got, ok)
		}
	}
}

// TestSidecar: a container that a module of VMs has is not the VM with its key.
func TestSidecar(t *testing.T) {
	const address = `proxmox_virtual_environment_container.sidecar["web01"]`
	if of, ok := resource("s", guest.VMUnit, address); ok {
		t.Errorf("it is %+v", of)
	}
	if of, _ := resource("s", guest.ContainerUnit, address); of.Name() != "container web01" {
		t.Errorf("it is %s", of.Name())
	}
}

func FuzzParse(f *testing.F) {
	for _, file := range []string{"apply.jsonl", "token.jsonl"} {
		data, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			f.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if e, ok := Parse("s", "u", line); ok && e.Kind != Unit && e.Key == "" {
			t.Errorf("%q: %+v", line, e)
		}
	})
}
