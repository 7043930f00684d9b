package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackgen/internal/lock"
)

// TestOutdated: a unit that Terragrunt generated before the last render is told
// from the one that it would generate now.
func TestOutdated(t *testing.T) {
	vms := lock.Ordered[lock.VM]{
		{Key: "a", Value: lock.VM{VMID: 300}},
		{Key: "b", Value: lock.VM{VMID: 301, Profile: "protected"}},
		{Key: "gone", Value: lock.VM{VMID: 302, Status: lock.Retired}},
	}
	const a, b = `"a": {"profile": "default", "vm_id": 300}`, `"b": {"profile": "protected", "vm_id": 301}`
	for body, want := range map[string]string{
		a + "," + b: "",
		a:           "differs in b",
		a + "," + b + `, "gone": {"profile": "default", "vm_id": 302}`: "differs in gone",
		a + "," + strings.Replace(b, "301", "999", 1):                  "differs in b",
		a + "," + strings.Replace(b, "protected", "default", 1):        "differs in b",
	} {
		file := filepath.Join(t.TempDir(), varsFile)
		if err := os.WriteFile(file, []byte(`{"vms": {`+body+`}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := outdated(file, vms); err != nil || !strings.HasSuffix(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: %q, %v; want %q", body, got, err, want)
		}
	}
	if got, err := outdated(filepath.Join(t.TempDir(), varsFile), vms); got != "" || err != nil {
		t.Errorf("without a file: %q, %v", got, err)
	}
	broken := filepath.Join(t.TempDir(), varsFile)
	if err := os.WriteFile(broken, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := outdated(broken, vms); err == nil {
		t.Error("a broken file is taken")
	}
}
