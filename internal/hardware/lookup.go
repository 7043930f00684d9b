package hardware

import (
	"slices"
)

// covered reports whether the tables have a property.
func covered(name string) bool {
	return name == "cpu_type" || name == "cpu_flags" || name == "tags" || name == "boot_order" || name == "pool" ||
		slices.ContainsFunc(single, func(w row) bool { return w.Field == name }) || slices.ContainsFunc(families, func(f family) bool { return f.Field == name })
}

// keyOf is what a configuration calls a property.
func keyOf(name string) string {
	for _, w := range single {
		if w.Field == name {
			return w.Key
		}
	}
	for _, f := range families {
		if f.Field == name && name != "disks" && name != "cloud_init" {
			return f.Keys[0] + map[bool]string{true: "0"}[f.Many > 0]
		}
	}
	return map[string]string{"cpu_type": "cpu", "cpu_flags": "flags of the CPU", "boot_order": "boot order", "disks": "disks", "cloud_init": "cloud-init drive"}[name] + map[bool]string{true: name}[name == "tags" || name == "pool"]
}

// unsetOf are what the provider takes where a spec does not say a property, by
// path in it; "" is the property itself. All disks, NICs and tags are kept where
// none is said: the provider takes an empty list of them for the one in state.
// https://github.com/bpg/terraform-provider-proxmox/blob/v0.111.1/proxmoxtf/structure/schema.go
func unsetOf(name string) map[string]string {
	for _, w := range single {
		if w.Field == name {
			return map[string]string{"": w.Unset}
		}
	}
	for _, f := range families {
		if f.Field == name {
			out := map[string]string{}
			for _, w := range f.Rows {
				out[w.Field] = w.Unset
			}
			if name == "vga" || name == "disks" || name == "networks" {
				out[""] = whatever
			}
			return out
		}
	}
	return map[string]string{"": map[string]string{"cpu_type": "qemu64", "boot_order": whatever, "pool": whatever, "tags": whatever}[name]}
}
