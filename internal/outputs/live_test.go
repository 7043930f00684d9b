package outputs

import (
	"slices"
	"strings"
	"testing"
)

// TestTakeLive: an agent says where a VM is, but not instead of the spec.
func TestTakeLive(t *testing.T) {
	for name, c := range map[string]struct {
		was      optional
		static   bool
		reported []string
		want     optional
		warning  string
	}{
		"it reports the address":           {"10.0.0.1", false, []string{"fd00::1", "10.0.0.1"}, "10.0.0.1", ""},
		"it reports another one":           {"10.0.0.1", false, []string{"fd00::1", "10.0.0.2"}, "10.0.0.2", ""},
		"it reports none":                  {"10.0.0.1", false, nil, "10.0.0.1", "no guest agent reports one now"},
		"it reports that of the spec":      {"10.0.0.1", true, []string{"10.0.0.9", "10.0.0.1"}, "10.0.0.1", ""},
		"it reports another than the spec": {"10.0.0.1", true, []string{"10.0.0.9"}, "10.0.0.1", "lab: the address of a is that of the spec: the guest agent reports other ones only"},
		"it reports no IPv4":               {"10.0.0.1", true, []string{"fd00::1"}, "10.0.0.1", ""},
	} {
		s := &Source{Live: map[string]Live{"a": {Node: "pve1", Addresses: c.reported}}}
		r := &Registration{Stack: "lab", VMs: []VM{{Key: "a", Name: "a", Node: "pve1", IPv4: c.was, static: c.static}}}
		err := s.takeLive(r)
		if err != nil || r.VMs[0].IPv4 != c.want || c.warning == "" && len(r.Warnings) > 0 ||
			c.warning != "" && !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, c.warning) }) {
			t.Errorf("%s: %v, %s, %q", name, err, r.VMs[0].IPv4, r.Warnings)
		}
	}
}
