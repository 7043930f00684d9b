package schema

import (
	"slices"
	"strings"
	"testing"

	"stackgen/guest"
)

// TestRights: every attribute that an update of a VM sends needs a privilege, or root.
func TestRights(t *testing.T) {
	unsent := []Effect{Creation, Migrate, Noise, Power, ProviderOnly, Replace}
	all := Attributes(guest.VMResource)
	for _, a := range all {
		none := slices.Contains(unsent, a.Change) || a.HCL == "pool_id" || a.HCL == "template" // requests of their own
		if none != (len(RightsOf(a.HCL)) == 0) && !strings.Contains(a.HCL, ".") && a.HCL != "amd_sev" {
			t.Errorf("%s, effect %s: %v", a.HCL, a.Change, RightsOf(a.HCL))
		}
	}
	for _, a := range all {
		if a.Right != (Right{}) && (a.Right.Privilege == "") != a.Right.Root {
			t.Errorf("%s: %+v: either a privilege or root", a.HCL, a.Right)
		}
	}
}
