package tf

import (
	"cmp"
	"slices"
	"strings"

	"stackgen/schema"
)

// alwaysRead are the attributes that the provider reads of every VM.
var alwaysRead = []string{"boot_order", "network_device", "node_name", "on_boot", "pool_id", "started"}

// Read selects the changes that a plan has. They are those between spec and
// configuration. Of a VM that was cloned, the provider reads a block only if the state
// has it, and other attributes only if they have no default in the state; of no VM
// does it read disks or NUMA nodes that a state with others does not have. What a state does not
// know is not compared.
func (v Values) Read(changes []Change, cloned bool) []Change {
	var out []Change
	for _, c := range changes {
		if c, ok := v.reads(c, cloned); ok {
			out = append(out, c)
		}
	}
	return out
}

func (v Values) reads(c Change, cloned bool) (Change, bool) {
	top, _, below := strings.Cut(c.Path, ".")
	if !v.Knows(top) {
		return c, false
	}
	switch {
	case namedBy[c.Path] != "" && c.Removes():
		devices := v.Devices(c.Path)
		return c, len(devices) == 0 && !cloned || slices.Contains(devices, c.Device)
	case !cloned || slices.Contains(alwaysRead, top):
		return c, true
	case c.Is != "" && (below || c.Whole):
		return c, true
	case below:
		return c, v.Has(c.Path[:strings.LastIndexByte(c.Path, '.')])
	case c.Whole:
		return c, v.Has(c.Path)
	}
	return v.primitive(c)
}

// primitive is a change of an attribute without a block. A clone keeps the value of the
// state while that is the provider's default.
func (v Values) primitive(c Change) (Change, bool) {
	f := schema.VMField(c.Key())
	if f == nil {
		return c, v[c.Path] != ""
	}
	unset := f.Unset
	if unset == schema.Keep {
		unset = ""
	}
	if was := v[c.Path]; was == unset || was == "" {
		c.Was = was
		return c, cmp.Or(c.Is, unset) != cmp.Or(was, unset)
	}
	return c, true
}
