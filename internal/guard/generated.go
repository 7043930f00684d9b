package guard

import (
	"cmp"
	"encoding/json"
	"slices"

	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/natural"
	"stackgen/schema"
)

// Outdated returns the VMs in which a generated unit differs from the last render:
// an apply would destroy a VM that the unit lacks. vars is the file that
// Terragrunt writes the unit's VMs to.
func Outdated(vars []byte, rendered lock.Ordered[lock.VM]) (keys []string, err error) {
	var unit struct {
		VMs map[string]struct {
			Profile string `json:"profile"`
			VMID    int    `json:"vm_id"`
		} `json:"vms"`
	}
	if err := json.Unmarshal(vars, &unit); err != nil {
		return nil, err
	}
	for _, e := range rendered {
		if e.Value.Status != lock.Live {
			continue
		}
		vm, has := unit.VMs[e.Key]
		if !has || vm.VMID != e.Value.VMID || vm.Profile != cmp.Or(e.Value.Profile, "default") {
			keys = append(keys, e.Key)
		}
		delete(unit.VMs, e.Key)
	}
	for key := range unit.VMs {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, natural.Compare)
	return keys, nil
}

// Unrendered are the findings for stacks whose specs were changed after the last
// render.
func Unrendered(stacks []*schema.Stack, severity finding.Severity) []finding.Finding {
	var out []finding.Finding
	for _, s := range stacks {
		f := finding.Finding{Address: finding.Address{Stack: s.Name, Type: finding.Stack}, Kind: finding.Unrendered, Severity: severity,
			Reason: "the spec was changed after the last render, and an apply would not do what it says now"}
		out = append(out, *f.Next("render first", "stackgen render"))
	}
	return out
}
