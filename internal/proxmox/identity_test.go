package proxmox_test

import (
	"bytes"
	"fmt"
	"testing"

	"stackgen/internal/cluster"
	"stackgen/internal/proxmox"
	"stackgen/internal/pvesim"
)

const testCA = "a605006c-350d-4db7-a15e-992172f198d6"

// identity is what was read of a cluster's identity.
func identity(inv cluster.Inventory) string {
	out := fmt.Sprintf("ca %s, cluster %s", inv.CA, inv.Cluster)
	for _, n := range inv.Nodes {
		out += ", " + n.Name + " " + n.Address
	}
	return out
}

func TestClusterIdentity(t *testing.T) {
	const full = "ca " + testCA + ", cluster stackgen, pve1 192.0.2.11, pve2 192.0.2.12, pve3 192.0.2.13"
	for name, c := range map[string]struct {
		change   func(*pvesim.Seed)
		token    string
		requests int // more than with a certificate of Proxmox VE
		want     string
	}{
		"cluster":                          {func(*pvesim.Seed) {}, "root@pam!sim", 0, full},
		"an installed certificate":         {func(s *pvesim.Seed) { s.OwnCertificate = true }, "root@pam!sim", 1, full},
		"a single node":                    {func(s *pvesim.Seed) { s.Cluster, s.Nodes, s.Guests = "", s.Nodes[:1], nil }, "root@pam!sim", -7, "ca " + testCA + ", cluster , pve1 192.0.2.11"},
		"token without Sys.Audit":          {func(s *pvesim.Seed) { grant(s, "/vms", "PVEAuditor", true) }, "audit@pve!t", 2, "ca " + testCA + ", cluster , pve1 , pve2 , pve3 "},
		"an installed one, few privileges": {func(s *pvesim.Seed) { s.OwnCertificate = true; grant(s, "/vms", "PVEAuditor", true) }, "audit@pve!t", 3, "ca " + testCA + ", cluster , pve1 , pve2 , pve3 "},
	} {
		t.Run(name, func(t *testing.T) {
			seed := smallCluster(t)
			seed.CA = testCA
			addAuditor(seed, true)
			c.change(seed)
			inv := mustRead(t, start(t, pvesim.Options{Seed: seed}), c.token, proxmox.Wanted{})
			if got := identity(inv); got != c.want || inv.Address != "127.0.0.1" || inv.Requests != 17+c.requests {
				t.Errorf("got %s, at %s, %d requests", got, inv.Address, inv.Requests)
			}
		})
	}
}

// TestClusterKeepsItsCA: a cluster that is saved and loaded is the same one, and two
// clusters are not.
func TestClusterKeepsItsCA(t *testing.T) {
	first := start(t, pvesim.Options{})
	var saved bytes.Buffer
	if err := first.Save(&saved); err != nil {
		t.Fatal(err)
	}
	again, err := pvesim.ParseSeed(saved.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	ca := mustRead(t, first, "root@pam!sim", proxmox.Wanted{}).CA
	if got := mustRead(t, start(t, pvesim.Options{Seed: again}), "root@pam!sim", proxmox.Wanted{}).CA; got != ca || ca == "" {
		t.Errorf("loaded again, it has CA %q, before %q", got, ca)
	}
	if got := mustRead(t, start(t, pvesim.Options{Number: 7}), "root@pam!sim", proxmox.Wanted{}).CA; got == ca {
		t.Errorf("another cluster has the same CA %q", got)
	}
}
