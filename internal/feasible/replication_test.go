package feasible

import (
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/lock"
	"stackgen/schema"
)

// TestReplication: Proxmox VE refuses a disk that cannot be replicated for a VM with a replication job.
func TestReplication(t *testing.T) {
	const zfs, spec = "{interface: scsi0, size: 8, datastore: zfs}, ", "it has a replication job, and Proxmox VE refuses disks for it that cannot be replicated: scsi1 > disks zfs"
	for disks, want := range map[string]string{
		zfs + "{interface: scsi1, size: 8, datastore: zfs}":                       "",
		zfs + "{interface: scsi1, size: 8, datastore: thin}":                      spec,
		zfs + "{interface: scsi1, size: 8, datastore: thin, replicate: false}":    "",
		zfs + "{interface: scsi1, size: 8, datastore: nas}":                       "",
		zfs + "{interface: scsi1, size: 8, datastore: unseen}":                    "",
		zfs + "{interface: scsi2, size: 8, datastore: thin, replicate: true}":     "it has a replication job, and Proxmox VE refuses disks for it that cannot be replicated: scsi2 > disks zfs",
		zfs + "{interface: scsi3, size: 8, datastore: thin}":                      "",
		"{interface: scsi0, size: 8, datastore: zfs, replicate: true, ssd: true}": "",
	} {
		inv := restartInventory()
		inv.Replication = []cluster.Replication{{VMID: 100, Targets: []string{"pve2"}}}
		for _, s := range []cluster.Storage{{ID: "zfs", Type: "zfspool"}, {ID: "thin", Type: "lvmthin"}, {ID: "nas", Type: "nfs", Shared: true}} {
			s.Node, s.Content, s.Active = "pve1", "images", true
			inv.Storages = append(inv.Storages, s)
		}
		v := stack(t, "vms: {web: {clone: full, disks: ["+disks+"]}}").VMs[0]
		vm := cluster.Guest{VMID: 100, Node: "pve1", Kind: guest.VM, Status: "running", Config: &cluster.Config{Raw: map[string]string{
			"scsi0": "zfs:vm-100-disk-0,size=8G", "scsi2": "thin:vm-100-disk-0,replicate=0,size=8G", "scsi3": "thin:vm-100-disk-1,size=8G"}}}
		e := &lock.VM{VMID: 100, Node: "pve1"}
		if got := ways(only(Update(inv, v, e, &vm, &schema.Profile{}), ReplicaCheck)); got != want {
			t.Errorf("%s: %q, want %q", disks, got, want)
		}
		inv.Replication[0].VMID = 101
		if got := ways(only(Update(inv, v, e, &vm, &schema.Profile{}), ReplicaCheck)); got != "" {
			t.Errorf("%s, without a job: %q", disks, got)
		}
	}
}

// TestReplicatedMigration: a running VM with replication jobs moves only to a node to which they copy it.
func TestReplicatedMigration(t *testing.T) {
	inv := restartInventory()
	inv.Replication = []cluster.Replication{{VMID: 100, Targets: []string{"pve3"}}}
	v := stack(t, "vms: {web: {clone: full}}").VMs[0]
	for status, want := range map[string]string{"running": "its replication jobs do not copy it to node pve2, and Proxmox VE migrates it there only while it is off", "stopped": ""} {
		vm := cluster.Guest{VMID: 100, Node: "pve1", Kind: guest.VM, Status: status, Config: &cluster.Config{Raw: map[string]string{"name": "web"}}}
		if got := ways(only(Migration(inv, v, &lock.VM{VMID: 100, Node: "pve2"}, &vm), ReplicaCheck)); got != want {
			t.Errorf("%s: %q, want %q", status, got, want)
		}
	}
}
