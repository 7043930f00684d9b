package proxmox_test

import (
	"slices"
	"strings"
	"testing"

	"stackgen/internal/cluster"
	"stackgen/internal/proxmox"
	"stackgen/internal/pvesim"
)

// TestArchives: the archives of a storage are read before a container is made, on other nodes only if its
// own lacks the archive. To a token that may not see the files, Proxmox VE refuses the list.
func TestArchives(t *testing.T) {
	const archive = "debian-12-standard_12.7-1_amd64.tar.zst"
	on := func(vmid int, storage string, nodes ...string) proxmox.WantedArchive {
		return proxmox.WantedArchive{VMID: vmid, Storage: storage, Name: archive, Nodes: nodes}
	}
	for name, c := range map[string]struct {
		role   string // on /storage
		wanted []proxmox.WantedArchive
		want   string
	}{
		"the node has it":         {"PVEDatastoreUser", []proxmox.WantedArchive{on(100, "local", "pve2")}, "local@pve2=" + archive},
		"the node lacks it":       {"PVEDatastoreUser", []proxmox.WantedArchive{on(100, "local", "pve1")}, "local@pve1= local@pve2=" + archive + " local@pve3="},
		"Datastore.Audit":         {"PVEAuditor", []proxmox.WantedArchive{on(100, "local", "pve2")}, "local@pve2=" + archive},
		"the container exists":    {"PVEDatastoreUser", []proxmox.WantedArchive{on(700, "local", "pve1")}, ""},
		"a shared storage":        {"PVEDatastoreUser", []proxmox.WantedArchive{on(100, "shared", "pve1")}, "shared@pve1=" + archive},
		"no such storage":         {"PVEDatastoreUser", []proxmox.WantedArchive{on(100, "gone", "pve1")}, ""},
		"no such node":            {"PVEDatastoreUser", []proxmox.WantedArchive{on(100, "local", "pve9")}, ""},
		"neither of the two":      {"VMsOnly", []proxmox.WantedArchive{on(100, "local", "pve2")}, ""},
		"only Datastore.Allocate": {"AllocateOnly", []proxmox.WantedArchive{on(100, "local", "pve2")}, ""},
		"two containers of one":   {"PVEDatastoreUser", []proxmox.WantedArchive{on(100, "local", "pve2"), on(0, "local", "pve2")}, "local@pve2=" + archive},
	} {
		t.Run(name, func(t *testing.T) {
			seed := smallCluster(t)
			seed.Volumes = slices.DeleteFunc(seed.Volumes, func(v *pvesim.Volume) bool { return v.Content == "vztmpl" })
			for storage, node := range map[string]string{"local": "pve2", "shared": ""} {
				seed.Volumes = append(seed.Volumes, &pvesim.Volume{ID: storage + ":vztmpl/" + archive, Node: node, Content: "vztmpl", Format: "tzst", Size: 1 << 20})
			}
			seed.Roles = append(seed.Roles, &pvesim.Role{ID: "VMsOnly", Privileges: []string{"VM.Audit"}},
				&pvesim.Role{ID: "AllocateOnly", Privileges: []string{"Datastore.Allocate"}})
			addAuditor(seed, true)
			grant(seed, "/storage", c.role, true)
			grant(seed, "/vms", "PVEAuditor", true)
			grant(seed, "/nodes", "PVEAuditor", true)
			inv := mustRead(t, start(t, pvesim.Options{Seed: seed}), "audit@pve!t", proxmox.Wanted{VMIDs: []int{100, 700}, Archives: c.wanted})
			if text := listed(inv.Archives); text != c.want {
				t.Errorf("%q, want %q", text, c.want)
			}
			body, err := inv.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if again, err := cluster.Decode("a.json", body); err != nil || len(again.Archives) != len(inv.Archives) {
				t.Errorf("the inventory lost its archives: %v", err)
			}
		})
	}
}

// listed is what an inventory has of storages, as text.
func listed(storages []cluster.Files) string {
	var out []string
	for _, l := range storages {
		var names []string
		for _, f := range l.Files {
			names = append(names, f.Name)
		}
		out = append(out, l.Storage+"@"+l.Node+"="+strings.Join(names, ","))
	}
	return strings.Join(out, " ")
}

// TestSnippets: the snippets of a storage are read where a candidate has one, or where they are wanted, if the list has them all.
func TestSnippets(t *testing.T) {
	for name, c := range map[string]struct {
		role    string // on /storage
		content []string
		config  map[string]string
		wanted  []cluster.Files
		want    string
	}{
		"of a candidate":                  {role: "PVEDatastoreAdmin", config: map[string]string{"ide2": "shared:201/vm-201-cloudinit.qcow2,media=cdrom", "cicustom": "user=shared:snippets/gone.yaml"}, want: "shared@pve1=user.yaml"},
		"without a cloud-init drive":      {role: "PVEDatastoreAdmin", config: map[string]string{"cicustom": "user=shared:snippets/gone.yaml"}},
		"script of hooks":                 {role: "PVEDatastoreAdmin", config: map[string]string{"hookscript": "shared:snippets/gone.pl"}, want: "shared@pve1=user.yaml"},
		"of a spec":                       {role: "PVEDatastoreAdmin", wanted: []cluster.Files{{Storage: "shared", Node: "pve2"}}, want: "shared@pve2=user.yaml"},
		"Datastore.AllocateSpace":         {role: "PVEDatastoreUser", config: map[string]string{"hookscript": "shared:snippets/gone.pl"}},
		"storage without that content":    {role: "PVEDatastoreAdmin", content: []string{"images"}, config: map[string]string{"hookscript": "shared:snippets/gone.pl"}},
		"a storage that does not exist":   {role: "PVEDatastoreAdmin", config: map[string]string{"hookscript": "gone:snippets/gone.pl"}},
		"a file that is no snippet of it": {role: "PVEDatastoreAdmin", config: map[string]string{"hookscript": "/usr/local/bin/hook.pl"}},
	} {
		t.Run(name, func(t *testing.T) {
			seed := smallCluster(t)
			seed.Volumes = append(seed.Volumes, &pvesim.Volume{ID: "shared:snippets/user.yaml", Content: "snippets", Format: "snippet", Size: 1 << 10})
			for _, s := range seed.Storages {
				if s.ID == "shared" {
					s.Content = slices.Concat(c.content, []string{"vztmpl"})
					if c.content == nil {
						s.Content = append(s.Content, "snippets")
					}
				}
			}
			for _, g := range seed.Guests {
				if g.VMID == 201 {
					for k, v := range c.config {
						g.Config[k] = v
					}
				}
			}
			addAuditor(seed, true)
			grant(seed, "/storage", c.role, true)
			grant(seed, "/vms", "PVEAuditor", true)
			grant(seed, "/nodes", "PVEAuditor", true)
			inv := mustRead(t, start(t, pvesim.Options{Seed: seed}), "audit@pve!t", proxmox.Wanted{VMIDs: []int{201}, Snippets: c.wanted})
			if text := listed(inv.Snippets); text != c.want {
				t.Errorf("%q, want %q", text, c.want)
			}
		})
	}
}
