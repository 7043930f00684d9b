package cluster

import "testing"

// TestVirtualNetworks finds the path on which a virtual network needs SDN.Use.
func TestVirtualNetworks(t *testing.T) {
	use, look := map[string]bool{SDNUse: true}, map[string]bool{SDNAudit: true}
	for _, c := range []struct {
		name string
		zone string
		r    Rights
		all  bool
		want string
	}{
		{"everything", "", Rights{"/": use, "/sdn": use}, true, ""},
		{"a path without the privilege", "", Rights{"/": use, "/sdn": use, "/sdn/zones/lab": look}, false, ""},
		{"the zone was read", "lab", Rights{"/sdn": look}, false, "/sdn/zones/lab/vnet1"},
		{"only the privileges name the zone", "", Rights{"/sdn": look, "/sdn/zones/lab/vnet1": use}, false, "/sdn/zones/lab/vnet1"},
		{"another network", "", Rights{"/sdn": look, "/sdn/zones/lab/vnet2": use}, false, ""},
		{"what was asked about a bridge", "", Rights{"/sdn": look, "/sdn/zones/localnetwork/vnet1": look}, false, ""},
	} {
		if got := c.r.UsesAllNetworks(); got != c.all {
			t.Errorf("%s: uses all networks: %v", c.name, got)
		}
		if got := c.r.VNetPath(&Network{Name: "vnet1", Type: VNet, Zone: c.zone}); got != c.want {
			t.Errorf("%s: path %q, want %q", c.name, got, c.want)
		}
	}
}
