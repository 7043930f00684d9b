package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackgen/internal/lock"
)

// TestDiffering compares units that Terragrunt generated with the last render.
func TestDiffering(t *testing.T) {
	vms := lock.Ordered[lock.VM]{
		{Key: "a", Value: lock.VM{VMID: 300}},
		{Key: "b", Value: lock.VM{VMID: 301, Profile: "protected"}},
		{Key: "gone", Value: lock.VM{VMID: 302, Status: lock.Retired}},
	}
	const a, b = `"a": {"profile": "default", "vm_id": 300}`, `"b": {"profile": "protected", "vm_id": 301}`
	for body, want := range map[string]string{
		a + "," + b: "",
		a:           "b",
		a + "," + b + `, "gone": {"profile": "default", "vm_id": 302}`: "gone",
		a + "," + strings.Replace(b, "301", "999", 1):                  "b",
		a + "," + strings.Replace(b, "protected", "default", 1):        "b",
	} {
		file := filepath.Join(t.TempDir(), varsFile)
		if err := os.WriteFile(file, []byte(`{"vms": {`+body+`}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := differing(file, vms); err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %q, %v; want %q", body, got, err, want)
		}
	}
	if got, err := differing(filepath.Join(t.TempDir(), varsFile), vms); got != nil || err != nil {
		t.Errorf("without a file: %q, %v", got, err)
	}
	broken := filepath.Join(t.TempDir(), varsFile)
	if err := os.WriteFile(broken, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := differing(broken, vms); err == nil {
		t.Error("a broken file is accepted")
	}
}
