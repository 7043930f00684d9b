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

// TestSeesNetwork: a network that is not listed does not exist only if no zone can hide it.
func TestSeesNetwork(t *testing.T) {
	use, look, nothing := map[string]bool{SDNUse: true}, map[string]bool{SDNAudit: true}, map[string]bool{}
	for name, c := range map[string]struct {
		r    Rights
		want bool
	}{
		"all zones":                   {Rights{"/sdn": use}, true},
		"all zones, to look at":       {Rights{"/sdn": look}, true},
		"one zone is hidden":          {Rights{"/sdn": use, "/sdn/zones/lab": nothing}, false},
		"one zone, to look at":        {Rights{"/sdn": use, "/sdn/zones/lab": look}, true},
		"the bridges are hidden":      {Rights{"/sdn": use, "/sdn/zones/localnetwork": nothing}, false},
		"all zones are hidden":        {Rights{"/sdn": use, "/sdn/zones": nothing}, false},
		"only the bridge":             {Rights{"/sdn/zones/localnetwork/vmbr0": use}, false},
		"another network is hidden":   {Rights{"/sdn": use, "/sdn/zones/lab/vnet1": nothing}, true},
		"nothing is known of a token": {Rights{}, false},
	} {
		inv := &Inventory{Access: &Access{Rights: c.r}}
		if got := inv.SeesNetwork("vmbr0"); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
