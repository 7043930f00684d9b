package proxmox_test

import (
	"fmt"
	"strings"
	"testing"

	"stackgen/internal/cluster"
	"stackgen/internal/proxmox"
	"stackgen/internal/pvesim"
)

// TestWhatAStartNeeds: resource mappings, CD-ROM images and replication jobs are read where a spec or a candidate has them. A
// mapping that an entry hides is none that is missing.
func TestWhatAStartNeeds(t *testing.T) {
	seed := smallCluster(t)
	addAuditor(seed, false)
	seed.Roles = append(seed.Roles, &pvesim.Role{ID: "user", Privileges: []string{"VM.Audit", "Mapping.Use", "Datastore.Audit", "Sys.Audit"}})
	grant(seed, "/", "user", true)
	grant(seed, "/mapping/usb/hidden", "NoAccess", true)
	seed.Mappings = append(seed.Mappings, &pvesim.Mapping{Type: "usb", ID: "hidden", Nodes: []string{"pve1"}}, &pvesim.Mapping{Type: "usb", ID: "far", Nodes: []string{"pve3", "pve2"}})
	seed.Jobs = []*pvesim.Job{{Guest: 201, Target: "pve3"}, {Guest: 201, Target: "pve2"}, {Guest: 123, Target: "pve1"}}
	for _, g := range seed.Guests {
		if g.VMID == 201 {
			g.Config["usb0"], g.Config["scsi0"] = "mapping=stick", "local-zfs:vm-201-disk-0,size=1G"
			g.Config["ide0"] = "shared:iso/gone.iso,media=cdrom"
		}
	}
	s := start(t, pvesim.Options{Seed: seed})
	for name, c := range map[string]struct {
		wanted proxmox.Wanted
		want   string
	}{
		"nothing": {proxmox.Wanted{VMIDs: []int{202}}, "[]; []; []; true"},
		"a VM": {proxmox.Wanted{VMIDs: []int{201}}, "[{usb [{far [pve2 pve3]} {stick [pve1 pve2 pve3]}]}]; " +
			"[{shared pve1 [{debian-12-netinst.iso 661651456}]}]; [{201 [pve2 pve3]}]; true"},
		"a spec": {proxmox.Wanted{Mappings: []proxmox.MappingName{{Kind: "pci", Name: "gpu"}}}, "[{pci [{gpu [pve1 pve2 pve3]}]}]; []; []; true"},
		"a spec with a hidden one": {proxmox.Wanted{Mappings: []proxmox.MappingName{{Kind: "usb", Name: "hidden"}}},
			"[{usb [{far [pve2 pve3]} {stick [pve1 pve2 pve3]}]}]; []; []; false"},
	} {
		inv := mustRead(t, s, "audit@pve!t", c.wanted)
		got := fmt.Sprint(inv.Mappings, "; ", inv.ISOs, "; ", inv.Replication, "; ", inv.SeesMapping("usb", "hidden"))
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		raw, err := inv.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := cluster.Decode("inv.json", raw); err != nil || strings.Contains(string(raw), "null") || fmt.Sprint(again.Mappings) != fmt.Sprint(inv.Mappings) {
			t.Errorf("%s: %v\n%s", name, err, raw)
		}
	}
}
