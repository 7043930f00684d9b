package feasible

import (
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/schema"
)

// TestCloneMode checks the choice between linked and full clones, by storage type,
// content, image format, sharedness and node.
func TestCloneMode(t *testing.T) {
	const linked = "linked: the template is on "
	for name, c := range map[string]struct {
		disk, node, disks string // of the template; of the VM
		storage           cluster.Storage
		want              string
	}{
		"LVM-thin on the node":       {"st:base-9000-disk-0,size=4G", "pve1", "", cluster.Storage{Type: "lvmthin"}, linked + "local storage st (lvmthin) of the same node"},
		"ZFS on the node":            {"st:base-9000-disk-0,size=4G", "pve1", "", cluster.Storage{Type: "zfspool"}, linked + "local storage st (zfspool) of the same node"},
		"Ceph":                       {"st:base-9000-disk-0,size=4G", "pve2", "", cluster.Storage{Type: "rbd", Shared: true}, linked + "shared storage st (rbd)"},
		"qcow2 on NFS":               {"st:9000/base-9000-disk-0.qcow2,size=4G", "pve2", "", cluster.Storage{Type: "nfs", Shared: true}, linked + "shared storage st (nfs)"},
		"qcow2 in a directory":       {"st:9000/base-9000-disk-0.qcow2,size=4G", "pve1", "", cluster.Storage{Type: "dir"}, linked + "local storage st (dir) of the same node"},
		"the same datastore":         {"st:base-9000-disk-0,size=4G", "pve1", "st", cluster.Storage{Type: "lvmthin"}, linked + "local storage st (lvmthin) of the same node"},
		"raw on NFS":                 {"st:9000/base-9000-disk-0.raw,size=4G", "pve1", "", cluster.Storage{Type: "nfs", Shared: true}, "full: scsi0 of the template is a raw image on storage st (nfs)"},
		"raw in a directory":         {"st:9000/base-9000-disk-0.raw,size=4G", "pve1", "", cluster.Storage{Type: "dir"}, "full: scsi0 of the template is a raw image on storage st (dir)"},
		"thick LVM":                  {"st:base-9000-disk-0,size=4G", "pve1", "", cluster.Storage{Type: "lvm"}, "full: storage st of the template (lvm) supports no linked clones"},
		"another node":               {"st:base-9000-disk-0,size=4G", "pve2", "", cluster.Storage{Type: "lvmthin"}, "full: the template is on local storage st (lvmthin) of node pve1"},
		"another datastore":          {"st:base-9000-disk-0,size=4G", "pve1", "tt", cluster.Storage{Type: "lvmthin"}, "full: scsi0 is on storage tt and on st in the template"},
		"no disk images":             {"st:base-9000-disk-0,size=4G", "pve1", "", cluster.Storage{Type: "lvmthin", Content: "iso"}, "full: storage st takes no disk images"},
		"shared, not on the node":    {"st:base-9000-disk-0,size=4G", "pve3", "", cluster.Storage{Type: "rbd", Shared: true}, "full: storage st of the template is not available on node pve3"},
		"a storage that nobody sees": {"uu:base-9000-disk-0,size=4G", "pve1", "", cluster.Storage{Type: "rbd"}, "full: storage uu of the template is not known"},
		"no configuration":           {"", "pve1", "", cluster.Storage{Type: "rbd"}, "full: the configuration of template 9000 could not be read"},
	} {
		t.Run(name, func(t *testing.T) {
			inv := &cluster.Inventory{}
			for _, node := range []string{"pve1", "pve2"} {
				s := c.storage
				s.ID, s.Node, s.Active = "st", node, true
				if s.Content == "" {
					s.Content = "images"
				}
				inv.Storages = append(inv.Storages, s)
			}
			template := &cluster.Guest{VMID: 9000, Node: "pve1", Kind: guest.VM, Template: true}
			if c.disk != "" {
				template.Config = &cluster.Config{Raw: map[string]string{"scsi0": c.disk, "ide2": "x:vm-9000-cloudinit,media=cdrom"}}
			}
			src := "apiVersion: stackgen/v1\nkind: Stack\nname: a\nvmids: 100-199\nvms: {v: {node: pve1, template: 9000}}\n"
			if c.disks != "" {
				src = strings.Replace(src, "9000}", "9000, disks: [{interface: scsi0, datastore: "+c.disks+", size: 8}]}", 1)
			}
			spec, problems := schema.Parse("a.yaml", []byte(src))
			if spec == nil {
				t.Fatal(problems)
			}
			p, problems := schema.Join(nil, []schema.Input{{Spec: spec, Label: "a.yaml"}}, schema.Files{}, nil)
			if schema.HasErrors(problems) {
				t.Fatal(problems)
			}
			mode, reason := CloneMode(inv, p.Stacks[0].VMs[0], template, c.node)
			if got := mode + ": " + reason; got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
