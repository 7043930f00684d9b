package generator

import (
	"encoding/json"
	"strings"
	"testing"

	"stackgen/internal/lock"
)

// TestOtherVariables: a plan has the values of the stack file, and defaults of the module.
func TestOtherVariables(t *testing.T) {
	const stack = `
unit "proxmox-vm" {
  values = {
    parallelism = 4
    vms = {
      a = { vm_id = 300, name = "live-a", pool_id = null, disk = [{ size = 8 }] }
      b = { vm_id = 301, name = "live-b", pool_id = null, disk = [] }
    }
  }
}
`
	const same = `{"a": {"vm_id": 300, "name": "live-a", "disk": [{"size": 8, "ssd": false}], "machine": null}, "b": {"vm_id": 301, "name": "live-b", "pool_id": null, "disk": []}}`
	for _, c := range []struct{ old, new, want string }{
		{"", "", ""},
		{"300", "310", "a"},
		{`"size": 8`, `"size": 16`, "a"},
		{`"disk": []`, `"disk": [{"size": 8}]`, "b"},
		{`"name": "live-b", `, "", "b"},
		{`"b": {"vm_id": 301`, `"c": {"vm_id": 301`, "b c"},
		{same, "{}", "a b"},
	} {
		differ, keys, err := OtherVariables([]byte(stack), lock.UnitVM, map[string]json.RawMessage{"vms": json.RawMessage(strings.Replace(same, c.old, c.new, 1)), "proxmox": nil})
		if err != nil || strings.Join(differ, " ") != c.want || strings.Join(keys, " ") != "a b" {
			t.Errorf("%q for %q: %q of %q, %v, want %q", c.new, c.old, differ, keys, err, c.want)
		}
	}
	if differ, _, err := OtherVariables([]byte(stack), lock.UnitVM, nil); err != nil || strings.Join(differ, " ") != "a b" {
		t.Errorf("without variables: %q, %v", differ, err)
	}
	if _, _, err := OtherVariables([]byte(stack), lock.UnitVM, map[string]json.RawMessage{"vms": json.RawMessage("[]")}); err == nil {
		t.Error("a variable that is no map is no error")
	}
}
