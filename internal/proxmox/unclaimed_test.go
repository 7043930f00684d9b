package proxmox_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"stackgen/internal/cluster"
	"stackgen/internal/proxmox"
	"stackgen/internal/pvesim"
)

// TestUnclaimed: a token that sees the guests of its pool only cannot know which other guest has a volume of a VM that it
// destroys. It can know that there is no volume with its VMID but those that the VM has.
func TestUnclaimed(t *testing.T) {
	const spare = "local-lvm:vm-201-disk-7"
	for name, c := range map[string]struct {
		edit func(s *pvesim.Seed, g *pvesim.Guest)
		who  string // audit@pve!t
		want string // "VOLUMES; PATH PRIVILEGE of gaps"
	}{
		"all volumes are its own": {},
		"a volume that it does not have": {edit: func(s *pvesim.Seed, _ *pvesim.Guest) {
			s.Volumes = append(s.Volumes, &pvesim.Volume{ID: spare, Node: "pve1", VMID: 201, Size: 1 << 30})
		}, want: spare},
		"a volume that it does not have, on another node": {edit: func(s *pvesim.Seed, _ *pvesim.Guest) {
			s.Volumes = append(s.Volumes, &pvesim.Volume{ID: spare, Node: "pve2", VMID: 201, Size: 1 << 30})
		}},
		"a volume of another VM": {edit: func(s *pvesim.Seed, _ *pvesim.Guest) {
			s.Volumes = append(s.Volumes, &pvesim.Volume{ID: "local-lvm:vm-203-disk-7", Node: "pve1", VMID: 203, Size: 1 << 30})
		}},
		"an unused volume": {edit: func(s *pvesim.Seed, g *pvesim.Guest) {
			s.Volumes = append(s.Volumes, &pvesim.Volume{ID: spare, Node: "pve1", VMID: 201, Size: 1 << 30})
			g.Config["unused0"] = spare
		}},
		"a volume of a snapshot": {edit: func(s *pvesim.Seed, g *pvesim.Guest) {
			s.Volumes = append(s.Volumes, &pvesim.Volume{ID: spare, Node: "pve1", VMID: 201, Size: 1 << 30})
			g.Config["parent"] = "before"
			g.Snapshots = []*pvesim.Snapshot{{Name: "before", Time: time.Now(), Config: map[string]string{"scsi5": spare + ",size=1G"}}}
		}},
		"a volume that it does not have, and all guests are seen": {who: "root@pam!sim", edit: func(s *pvesim.Seed, _ *pvesim.Guest) {
			s.Volumes = append(s.Volumes, &pvesim.Volume{ID: spare, Node: "pve1", VMID: 201, Size: 1 << 30})
		}},
		"a storage that it may only use": {edit: func(s *pvesim.Seed, _ *pvesim.Guest) {
			s.Roles = append(s.Roles, &pvesim.Role{ID: "Space", Privileges: []string{"Datastore.AllocateSpace"}})
			grant(s, "/storage/shared", "Space", true)
		}},
		"a storage that it does not see": {edit: func(s *pvesim.Seed, _ *pvesim.Guest) { grant(s, "/storage/shared", "NoAccess", true) }},
		"no right to its disks": {edit: func(s *pvesim.Seed, _ *pvesim.Guest) {
			for _, a := range s.ACL {
				a.Role = strings.Replace(a.Role, "PVEVMAdmin", "PVEAuditor", 1)
			}
		}},
	} {
		seed := smallCluster(t)
		addAuditor(seed, true)
		grant(seed, "/pool/lab", "PVEVMAdmin", true)
		grant(seed, "/storage", "PVEDatastoreUser", true)
		for _, g := range seed.Guests {
			if g.VMID == 201 {
				g.Config["scsi0"] = "local-lvm:vm-201-disk-0,size=4G"
				if c.edit != nil {
					c.edit(seed, g)
				}
			}
		}
		if c.who == "" {
			c.who = "audit@pve!t"
		}
		s := start(t, pvesim.Options{Seed: seed})
		inv := mustRead(t, s, c.who, proxmox.Wanted{VMIDs: []int{201}, Others: true, Destroyed: []int{201, 999}})
		got := ""
		if u := inv.UnclaimedBy(201); u != nil {
			got = strings.TrimSuffix(strings.Join(u.Volumes, " ")+"; "+gaps(cluster.Inventory{Gaps: u.Gaps}), "; ")
		}
		if got != c.want || inv.UnclaimedBy(999) != nil || inv.Guest(201).Config == nil {
			t.Errorf("%s: %q, want %q; %s", name, got, c.want, fmt.Sprint(inv.Unclaimed))
		}
	}
}
