package guard

import (
	"slices"
	"strings"
	"testing"

	"stackgen/internal/lock"
)

// TestOutdated: a unit that Terragrunt generated before the last render differs
// from it.
func TestOutdated(t *testing.T) {
	rendered := lock.Ordered[lock.VM]{
		{Key: "a", Value: lock.VM{VMID: 300}},
		{Key: "b", Value: lock.VM{VMID: 301, Profile: "protected"}},
		{Key: "gone", Value: lock.VM{VMID: 302, Status: lock.Retired}},
	}
	const a, b = `"a": {"profile": "default", "vm_id": 300}`, `"b": {"profile": "protected", "vm_id": 301}`
	for vms, want := range map[string][]string{
		a + "," + b: nil,
		a:           {"b"},
		a + "," + b + `, "gone": {"profile": "default", "vm_id": 302}`: {"gone"},
		a + "," + strings.Replace(b, "301", "999", 1):                  {"b"},
		a + "," + strings.Replace(b, "protected", "default", 1):        {"b"},
	} {
		if got, err := Outdated([]byte(`{"vms": {`+vms+`}}`), rendered); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", vms, got, err, want)
		}
	}
	if _, err := Outdated([]byte("{"), rendered); err == nil {
		t.Error("a broken file is no error")
	}
}
