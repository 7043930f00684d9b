package schema

import (
	"slices"
	"strings"
	"testing"

	"stackgen/guest"
)

// TestRights: every attribute that an update of a VM sends has a row, and every row is an
// attribute.
func TestRights(t *testing.T) {
	unsent := []Effect{Creation, Migrate, Noise, Power, ProviderOnly, Replace}
	all := Attributes(guest.VMResource)
	for _, a := range all {
		none := slices.Contains(unsent, a.Change) || a.HCL == "pool_id" || a.HCL == "template" // requests of their own
		if none != (len(RightsOf(a.HCL)) == 0) && !strings.Contains(a.HCL, ".") && a.HCL != "amd_sev" {
			t.Errorf("%s, effect %s: %v", a.HCL, a.Change, RightsOf(a.HCL))
		}
	}
	for _, r := range rights {
		if !slices.ContainsFunc(all, func(a Attribute) bool { return a.HCL == r.HCL || strings.HasPrefix(a.HCL, r.HCL+".") }) {
			t.Errorf("no table has %s", r.HCL)
		}
		if (r.Privilege == "") != r.Root {
			t.Errorf("%+v: either a privilege or root", r)
		}
	}
}
