package proxmox_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"stackgen/internal/proxmox"
	"stackgen/internal/pvesim"
)

// TestInactiveBridges: a bridge of the kernel that is configured and not active is none, if the node reports which are active.
func TestInactiveBridges(t *testing.T) {
	for _, c := range []struct{ active, configured []string }{
		{[]string{"vmbr0"}, []string{"vmbr9"}},
		{nil, []string{"vmbr9"}}, // it has vmbr0, and nothing is active
	} {
		seed := smallCluster(t)
		seed.Nodes[0].Bridges, seed.Nodes[0].NewBridges = c.active, c.configured
		seed.VNets = nil
		s := start(t, pvesim.Options{Seed: seed})
		inv := mustRead(t, s, "root@pam!sim", proxmox.Wanted{})
		var got []string
		for _, b := range inv.Node("pve1").Networks {
			got = append(got, fmt.Sprint(b.Name, " ", b.Inactive))
		}
		want := "vmbr0 false, vmbr9 " + fmt.Sprint(c.active != nil)
		if strings.Join(got, ", ") != want {
			t.Errorf("active %v, configured %v: %s, want %s", c.active, c.configured, strings.Join(got, ", "), want)
		}
	}
}

// TestVLANs: a bridge that is not VLAN-aware takes no trunks, and a tag only with a port. A virtual network takes both or none.
func TestVLANs(t *testing.T) {
	seed := smallCluster(t)
	n := seed.Nodes[0]
	n.Bridges, n.Portless, n.VLANAware = []string{"vmbr0", "vmbr1", "vmbr2"}, []string{"vmbr1", "vmbr2"}, []string{"vmbr2"}
	seed.VNets = []*pvesim.VNet{{ID: "lab", Zone: "z", VLANAware: true}, {ID: "office", Zone: "z"}}
	s := start(t, pvesim.Options{Seed: seed})
	inv := mustRead(t, s, "root@pam!sim", proxmox.Wanted{})
	var got []string
	for _, b := range inv.Node("pve1").Networks {
		got = append(got, fmt.Sprint(b.Name, " ", b.NoVLAN, " ", b.NoTrunks))
	}
	if want := "lab false false, office true true, vmbr0 false true, vmbr1 true true, vmbr2 false false"; strings.Join(got, ", ") != want {
		t.Errorf("%s, want %s", strings.Join(got, ", "), want)
	}
}

// TestMachines: the machine types of a node are read if a candidate there has one with a version, and those of all if a spec has.
func TestMachines(t *testing.T) {
	for name, c := range map[string]struct {
		machine string // of VM 202 on pve2
		wanted  bool
		want    string
	}{
		"none":           {machine: "q35", want: ""},
		"of a candidate": {machine: "pc-q35-9.0+pve1", want: "pve2"},
		"of a spec":      {wanted: true, want: "pve1 pve2 pve3"},
	} {
		seed := smallCluster(t)
		for _, g := range seed.Guests {
			if g.VMID == 202 && c.machine != "" {
				g.Config["machine"] = c.machine
			}
		}
		inv := mustRead(t, start(t, pvesim.Options{Seed: seed}), "root@pam!sim", proxmox.Wanted{VMIDs: []int{201, 202}, Machines: c.wanted})
		var got []string
		for _, n := range inv.Nodes {
			if slices.Contains(n.Machines, "pc-q35-9.0") && slices.Contains(n.Machines, "pc-i440fx-2.9") {
				got = append(got, n.Name)
			} else if len(n.Machines) > 0 {
				t.Errorf("%s: node %s has %v", name, n.Name, n.Machines)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: read of %q, want %q", name, strings.Join(got, " "), c.want)
		}
	}
}
