package cluster

// A StorageType is what Proxmox VE does with disk images on storages of one type. The source is
// the plugin of that type in its package libpve-storage-perl, and for Threads get_drive_aio of
// its package qemu-server.
type StorageType struct {
	Name string // as in the storage's configuration

	Files    bool // images are files. Those that are raw can be no base of a linked clone
	Raw      bool // images are raw only
	Links    bool // images can be the base of a linked clone
	BaseFree bool // the volume of a linked clone does not name its base
	Threads  bool // io_uring may block: Proxmox VE uses threads, or native I/O without a cache

	Snapshots  bool // raw images have snapshots; those of format qcow2 have them anywhere
	Replicates bool // replication jobs copy images to another node
	OnlyNewest bool // a rollback is possible to the newest snapshot only
}

// storageTypes has a row for each type that keeps disk images. Of other types nothing is known.
var storageTypes = []StorageType{
	{Name: "dir", Files: true, Links: true},
	{Name: "nfs", Files: true, Links: true},
	{Name: "cifs", Files: true, Links: true, Threads: true},
	{Name: "glusterfs", Files: true, Links: true},
	{Name: "cephfs", Files: true, Links: true},
	{Name: "btrfs", Links: true, Snapshots: true},
	{Name: "lvm", Raw: true, Threads: true}, // qcow2, too, with the option snapshot-as-volume-chain of Proxmox VE 9
	{Name: "lvmthin", Raw: true, Links: true, BaseFree: true, Snapshots: true},
	{Name: "zfspool", Raw: true, Links: true, Snapshots: true, Replicates: true, OnlyNewest: true},
	{Name: "zfs", Raw: true, Links: true, Snapshots: true, OnlyNewest: true},
	{Name: "rbd", Raw: true, Links: true, Snapshots: true},
	{Name: "iscsi", Raw: true},
	{Name: "iscsidirect", Raw: true},
}

// StorageTypeOf is the row of a type; one with nothing but the name if there is none.
func StorageTypeOf(name string) StorageType {
	for _, t := range storageTypes {
		if t.Name == name {
			return t
		}
	}
	return StorageType{Name: name}
}
