package proxmox

import (
	"encoding/json"
	"testing"
)

// TestVLANsOfEntries: what a server lists of a bridge may not say whether it takes VLANs.
func TestVLANsOfEntries(t *testing.T) {
	for entry, want := range map[string][2]bool{
		`{"type": "bridge", "bridge_ports": ""}`:                         {true, true},
		`{"type": "bridge", "bridge_ports": null}`:                       {},
		`{"type": "bridge"}`:                                             {},
		`{"type": "bridge", "bridge_ports": "eno1"}`:                     {false, true},
		`{"type": "bridge", "bridge_ports": "", "bridge_vlan_aware": 1}`: {},
		`{"type": "bridge", "bridge_ports": "", "options": ["post-up iptables -t nat -A POSTROUTING -o vmbr0"]}`:         {true, true},
		`{"type": "bridge", "bridge_ports": "", "options": ["post-up ip link set veth9 master $IFACE"]}`:                 {},
		`{"type": "bridge", "bridge_ports": "", "options": ["post-up ip link set $IFACE type bridge vlan_filtering 1"]}`: {},
		`{"type": "OVSBridge"}`:              {},
		`{"type": "vnet", "vlanaware": 0}`:   {true, true},
		`{"type": "vnet", "vlanaware": "1"}`: {},
		`{"type": "vnet"}`:                   {},
	} {
		var b network
		if err := json.Unmarshal([]byte(entry), &b); err != nil {
			t.Fatal(err)
		}
		if noVLAN, noTrunks := b.vlans(); [2]bool{noVLAN, noTrunks} != want {
			t.Errorf("%s: %t, %t; want %v", entry, noVLAN, noTrunks, want)
		}
	}
}
