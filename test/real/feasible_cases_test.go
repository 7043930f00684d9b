//go:build unix

package real

import (
	"slices"
	"strings"

	"stackgen/internal/pvesim"
)

// feasibleCases are the rows of the table.
func feasibleCases() []feasibleCase {
	return slices.Concat(placeCases(), storageCases(), hardwareCases(), cloneCases(), privilegeCases(), noAccessCases(), separateCases())
}

// placeCases are about nodes, templates, and clones to another node.
func placeCases() []feasibleCase {
	local := func(s *pvesim.Seed) { moveTemplate(s, "local-lvm") }
	files := func(s *pvesim.Seed) { moveTemplate(s, "local") }
	return []feasibleCase{
		{what: "node", edits: []string{"node: pve1", "node: pve9"}, words: map[string]string{"NAME": "pve2"},
			server: "no such cluster node 'pve9'", want: "the cluster has no node pve9"},
		{what: "template", edits: []string{"vmid: 9000", "vmid: 9999"}, words: map[string]string{"VMID": "9000"},
			server: "unable to find configuration file for VM 9999 on node 'pve1'", want: "its template 9999 does not exist"},
		{what: "template on the node that the spec says", edits: []string{"{vmid: 9000, node: pve1}", "{vmid: 9000, node: pve2}"},
			server: "9000", want: "its template 9000 is on another node than the spec says"},
		{what: "linked clones on the storage", seed: func(s *pvesim.Seed) {
			s.Storages = append(s.Storages, &pvesim.Storage{ID: "thick", Type: "lvm", VG: "vg0", Content: []string{"images"}})
			moveTemplate(s, "thick")
		}, edits: []string{"serial:", "clone: linked\n    serial:"}, server: "Linked clone feature is not supported", want: "supports no linked clones"},
		{what: "linked clone of a local template on another node", seed: files, edits: []string{"node: pve1", "node: pve2", "serial:", "clone: linked\n    serial:", "datastore: shared", "datastore: local", "{datastore: shared}", "{datastore: local}"},
			server: "migration aborted", want: "cannot be migrated to another node"},
		{what: "shared storage for a clone to another node", edits: []string{"node: pve1", "node: pve2", "datastore: shared", "datastore: local-lvm"},
			server: "can't clone to non-shared storage 'local-lvm'", want: "local-lvm is not shared"},
		{what: "VM.Migrate for a clone of a local template on another node", seed: local, rights: lacking("VM.Migrate"), edits: []string{"node: pve1", "node: pve2", "datastore: shared", "datastore: local-lvm", "{datastore: shared}", "{datastore: local-lvm}"},
			server: "VM.Migrate", want: "VM.Migrate on /pool/live"},
	}
}

// moveTemplate moves the disks of the template to another storage.
func moveTemplate(s *pvesim.Seed, storage string) {
	for _, g := range s.Guests {
		if g.VMID == 9000 {
			g.Config["scsi0"] = storage + ":base-9000-disk-0,size=3G"
			g.Config["ide2"] = storage + ":vm-9000-cloudinit,media=cdrom,size=4M"
			switch storage {
			case "local":
				g.Config["scsi0"] = "local:9000/base-9000-disk-0.qcow2,size=3G"
				g.Config["ide2"] = "local:9000/vm-9000-cloudinit.qcow2,media=cdrom,size=4M"
			case "thick":
				g.Config["scsi0"] = storage + ":vm-9000-disk-0,size=3G"
			}
		}
	}
}

// registeredTag has a tag that only those may set who may change the system of the nodes.
func registeredTag(s *pvesim.Seed) { s.Options = map[string]string{"registered-tags": "prod"} }

// files adds the storage files to the cluster.
func files(change func(*pvesim.Storage)) func(*pvesim.Seed) {
	return func(s *pvesim.Seed) {
		f := &pvesim.Storage{ID: "files", Type: "dir", Path: "/mnt/files", Content: []string{"images"}}
		change(f)
		s.Storages = append(s.Storages, f)
	}
}

func storageCases() []feasibleCase {
	disk := []string{"datastore: shared", "datastore: files"}
	cloudInit := []string{"cloud_init: {datastore: shared}", "cloud_init: {datastore: files}"}
	return []feasibleCase{
		{what: "storage of a disk", edits: disk, server: "storage 'files' does not exist", want: "storage files does not exist"},
		{what: "storage of the cloud-init drive", edits: cloudInit, server: "storage 'files' does not exist", want: "storage files does not exist"},
		{what: "storage of the EFI disk", edits: []string{"serial:", "bios: ovmf\n    efi: {datastore: files}\n    serial:"}, server: "storage 'files' does not exist", want: "storage files does not exist"},
		{what: "storage that is enabled", edits: disk, seed: files(func(s *pvesim.Storage) { s.Disabled = true }), server: "storage 'files' is disabled", want: "storage files is disabled"},
		{what: "storage on the node", edits: disk, seed: files(func(s *pvesim.Storage) { s.Nodes = []string{"pve2"} }), server: "storage 'files' is not available on node 'pve1'", want: "storage files is not available on node pve1"},
		{what: "storage that the node can reach", edits: disk, seed: files(func(s *pvesim.Storage) { s.Offline = []string{"pve1"} }), server: "storage 'files' is not online", want: "storage files is not active on node pve1"},
		{what: "storage for disk images", edits: disk, seed: files(func(s *pvesim.Storage) { s.Content = []string{"iso"} }), server: "storage 'files' does not support vm images", want: "storage files does not take disk images"},
		{what: "storage of the cloud-init drive for disk images", edits: cloudInit, seed: files(func(s *pvesim.Storage) { s.Content = []string{"iso"} }), server: "does not support content-type 'images'", want: "storage files does not take disk images"},
		{what: "storage of a snippet", edits: snippet("files"), seed: snippets, server: "storage 'files' does not exist", want: "storage files does not exist"},
		{what: "storage of a snippet with files", edits: snippet("local-lvm"), seed: snippets, server: "unable to parse lvm volume name", want: "storage local-lvm has no files"},
	}
}

// snippet edits a spec to name a snippet of a storage.
func snippet(storage string) []string {
	return []string{"cloud_init: {datastore: shared}", "cloud_init: {datastore: shared, user_data: \"" + storage + ":snippets/user.yaml\"}"}
}

// snippets adds snippets to the cluster.
func snippets(s *pvesim.Seed) {
	for _, storage := range []string{"local", "shared"} {
		for _, name := range []string{"user", "meta"} {
			s.Volumes = append(s.Volumes, &pvesim.Volume{ID: storage + ":snippets/" + name + ".yaml", Content: "snippets", Format: "snippet", Size: 1024})
		}
	}
}

func hardwareCases() []feasibleCase {
	return []feasibleCase{
		{what: "size of a disk", edits: []string{"size: 8", "size: 2"}, server: "is lower than current size", want: "a disk is smaller than in its template"},
		{what: "bridge", edits: []string{"serial:", "networks: [{bridge: vmbr9}]\n    serial:"}, server: "bridge 'vmbr9' does not exist", want: "node pve1 has no bridge or virtual network vmbr9"},
		{what: "bridge that is configured, and not active", edits: []string{"serial:", "networks: [{bridge: vmbr9}]\n    serial:"}, seed: func(s *pvesim.Seed) {
			s.Nodes[0].NewBridges = []string{"vmbr9"}
		}, server: "bridge 'vmbr9' does not exist", want: "bridge vmbr9 of node pve1 is configured, but not active"},
		{what: "virtual network on the node", edits: []string{"serial:", "networks: [{bridge: vnet1}]\n    serial:"}, seed: func(s *pvesim.Seed) {
			s.VNets = []*pvesim.VNet{{ID: "vnet1", Zone: "lab", Nodes: []string{"pve2"}}}
		}, server: "bridge 'vnet1' does not exist", want: "node pve1 has no bridge or virtual network vnet1"},
		{what: "bridge that takes VLANs", edits: []string{"serial:", "networks: [{bridge: vmbr1, vlan: 20}]\n    serial:"}, seed: func(s *pvesim.Seed) {
			s.Nodes[0].Bridges, s.Nodes[0].Portless = []string{"vmbr0", "vmbr1"}, []string{"vmbr1"}
		}, server: "QEMU exited with code 1", want: "vmbr1 of node pve1 is not VLAN-aware"},
		{what: "SDN.Use, for a virtual network", edits: []string{"serial:", "networks: [{bridge: vnet1}]\n    serial:"}, seed: func(s *pvesim.Seed) {
			s.VNets = []*pvesim.VNet{{ID: "vnet1", Zone: "lab"}}
		}, rights: func(s *pvesim.Seed) []pvesim.Grant {
			s.Roles = append(s.Roles, &pvesim.Role{ID: "look", Privileges: []string{"SDN.Audit"}})
			return []pvesim.Grant{{Path: "/", To: "ci@pve", Role: "all"}, {Path: "/sdn/zones/lab", To: "ci@pve", Role: "look"}}
		}, server: "/sdn/zones/lab/vnet1, SDN.Use", want: "SDN.Use on /sdn/zones/lab/vnet1"},
		{what: "CPUs", edits: []string{"serial:", "cores: 12\n    sockets: 2\n    serial:"}, seed: func(s *pvesim.Seed) { s.Nodes[1].CPUs = 32 }, words: map[string]string{"NAME": "pve2"}, server: "MAX 16 vcpus allowed per VM on this node", want: "it has more vCPUs than node pve1 has CPUs"},
		{what: "memory", edits: []string{"serial:", "memory: 131072\n    serial:"}, seed: func(s *pvesim.Seed) { s.Nodes[1].Memory = 256 << 30 }, words: map[string]string{"NAME": "pve2"}, server: "QEMU exited with code 1", want: "it has more memory than node pve1"},
		{what: "resource mapping", edits: []string{"serial:", "usb: [{mapping: key}]\n    serial:"}, words: map[string]string{"NAME": "stick"}, server: "USB device mapping not found for 'key'", want: "the cluster has no USB mapping key"},
		{what: "root@pam, for CPU affinity", edits: []string{"serial:", "cpu_affinity: 0-3\n    serial:"}, server: "only root can set 'affinity' config", want: "only root@pam may set cpu_affinity"},
		{what: "root@pam, for memory encryption", edits: []string{"serial:", "bios: ovmf\n    amd_sev: es\n    serial:"}, server: "only root can set 'amd-sev' config", want: "only root@pam may set amd_sev"},
		{what: "root@pam, for a USB device of the node", edits: []string{"serial:", "usb: [{host: \"1-1\"}]\n    serial:"}, words: map[string]string{"NAME": "stick"}, server: "only root can set 'usb0' config for real devices", want: "only root@pam may set usb with a device of the node"},
		{what: "root@pam, for a serial device of the node", edits: []string{"serial: socket", "serial: [socket, /dev/ttyS0]"}, server: "only root can modify 'serial1' config for real devices", want: "only root@pam may set serial with a device of the node"},
	}
}

// cloneCases are what Proxmox VE or the provider refuses of the configuration of a clone,
// and the template or the cluster shows.
func cloneCases() []feasibleCase {
	disk := "disks: [{interface: scsi0, size: 8, datastore: shared}]"
	return []feasibleCase{
		{what: "protection of the template", seed: func(s *pvesim.Seed) {
			for _, g := range s.Guests {
				if g.VMID == 9000 {
					g.Config["protection"] = "1"
				}
			}
		}, server: "can't remove drive", want: "its template 9000 is protected"},
		{what: "device of the boot order", edits: []string{"serial:", "boot_order: [scsi3, scsi0, net0]\n    serial:"},
			server: "invalid bootorder: device 'scsi3' does not exist", want: "its boot order names scsi3, which it does not have"},
		{what: "disk of the boot order in the template", edits: []string{"serial:", "boot_order: [scsi1]\n    serial:", disk, strings.Replace(disk, "}]", "}, {interface: scsi1, size: 8, datastore: shared}]", 1)},
			server: "invalid bootorder: device 'scsi1' does not exist", want: "its boot order names scsi1, which it gets only after the boot order"},
		{what: "format of a disk on its storage", edits: []string{disk, strings.Replace(disk, "}]", "}, {interface: scsi1, size: 8, datastore: local-lvm, format: qcow2}]", 1)},
			server: "unsupported format 'qcow2'", want: "storage local-lvm has no disk images in format qcow2"},
		{what: "format of the EFI disk on its storage", edits: []string{"serial:", "bios: ovmf\n    efi: {datastore: local-lvm, format: qcow2}\n    serial:"},
			server: "unsupported format 'qcow2'", want: "storage local-lvm has no disk images in format qcow2"},
		{what: "type of the template's EFI disk", edits: []string{"serial:", "bios: ovmf\n    efi: {datastore: shared, type: 4m}\n    serial:"}, seed: func(s *pvesim.Seed) {
			for _, g := range s.Guests {
				if g.VMID == 9000 {
					g.Config["efidisk0"] = "shared:9000/base-9000-disk-1.raw,efitype=2m,size=128K"
				}
			}
		}, words: map[string]string{"VMID": "9010"}, server: "changing the EFI disk type (4m / 2m) is not supported", want: "its template has an EFI disk of type 2m"},
		{what: "CPU model of the administrator", edits: []string{"serial:", "cpu_type: custom-lab\n    serial:"},
			server: "Custom cputype 'lab' not found", want: "the cluster has no CPU model custom-lab"},
		{what: "Sys.Audit on /nodes, for a CPU model of the administrator", edits: []string{"serial:", "cpu_type: custom-lab\n    serial:"}, seed: func(s *pvesim.Seed) { s.CPUs = []string{"lab"} },
			rights: func(s *pvesim.Seed) []pvesim.Grant {
				s.Roles = append(s.Roles, &pvesim.Role{ID: "few", Privileges: []string{"Sys.AccessNetwork"}})
				return []pvesim.Grant{{Path: "/", To: "ci@pve", Role: "all"}, {Path: "/nodes", To: "ci@pve", Role: "few"}}
			}, server: "/nodes, Sys.Audit", want: "Sys.Audit on /nodes"},
	}
}

// lacking is the role on / without some privileges.
func lacking(privileges ...string) func(*pvesim.Seed) []pvesim.Grant {
	return func(s *pvesim.Seed) []pvesim.Grant {
		r := s.Roles[0]
		r.Privileges = slices.DeleteFunc(r.Privileges, func(p string) bool { return slices.Contains(privileges, p) })
		return []pvesim.Grant{{Path: "/", To: "ci@pve", Role: "all"}}
	}
}

func privilegeCases() []feasibleCase {
	out := []feasibleCase{
		{what: "Sys.Modify, for a starting order", edits: []string{"serial:", "startup: {order: 1}\n    serial:"}, rights: lacking(), server: "/, Sys.Modify", want: "Sys.Modify on /"},
		{what: "Sys.Modify, for a tag that only some may set", edits: []string{"serial:", "tags: [prod]\n    serial:"}, seed: registeredTag, rights: lacking(), server: "/, Sys.Modify for modifying tag 'prod'", want: "Sys.Modify on /"},
		{what: "Mapping.Use, for a shared directory", edits: []string{"serial:", "virtiofs: [{mapping: media}]\n    serial:"}, rights: lacking("Mapping.Use"), server: "/mapping/dir/media, Mapping.Use", want: "Mapping.Use on /mapping/dir/media"},
		{what: "Mapping.Use, for a USB device", edits: []string{"serial:", "usb: [{mapping: stick}]\n    serial:"}, rights: lacking("Mapping.Use"), server: "/mapping/usb/stick, Mapping.Use", want: "Mapping.Use on /mapping/usb/stick"},
		{what: "Pool.Allocate, to create the pool", edits: []string{"{id: live}", "{id: fresh, create: true}"}, rights: lacking("Pool.Allocate"), server: "/pool/fresh, Pool.Allocate", want: "Pool.Allocate on /pool/fresh"},
		{what: "VM.Allocate, for a VM in no pool", edits: []string{"pool: {id: live}\n", ""}, rights: lacking("VM.Allocate"), server: "Permission check failed", want: "VM.Allocate on /vms"},
		{what: "everything but reading", rights: func(*pvesim.Seed) []pvesim.Grant {
			return []pvesim.Grant{{Path: "/", To: "ci@pve", Role: "PVEAuditor"}}
		}, server: "VM.Clone", want: "VM.Clone on /vms/9000"},
		{what: "VM.Config.Disk, with a role on each path", rights: onPaths("VM.Config.Disk"), server: "VM.Config.Disk", want: "VM.Config.Disk on /pool/live"},
		{what: "Datastore.AllocateSpace, with a role on each path", rights: onPaths("Datastore.AllocateSpace"), server: "/storage/shared, Datastore.AllocateSpace", want: "Datastore.AllocateSpace on /storage/shared"},
		{what: "SDN.Use, with a role on each path", rights: onPaths("SDN.Use"), server: "/sdn/zones/localnetwork/vmbr0, SDN.Use", want: "SDN.Use on /sdn/zones/localnetwork/vmbr0"},
		{what: "VM.Clone, with a role on each path", rights: onPaths("VM.Clone"), server: "/vms/9000, VM.Clone", want: "VM.Clone on /vms/9000"},
	}
	for _, p := range []string{"VM.Clone", "VM.Allocate", "VM.Config.CPU", "VM.Config.Memory", "VM.Config.Network", "VM.Config.Options", "VM.Config.HWType",
		"VM.Config.Disk", "VM.Config.Cloudinit", "VM.Config.CDROM", "VM.PowerMgmt", "VM.Monitor", "Datastore.AllocateSpace", "SDN.Use"} {
		server := p
		if p == "VM.Allocate" {
			server = "Permission check failed"
		}
		equal := []string{"size: 8", "size: 3"} // a disk as the template has it
		out = append(out, feasibleCase{what: p, edits: equal, rights: lacking(p), server: server, want: p + " on /"})
	}
	return out
}

// onPaths are roles as a careful administrator grants them: each on its path, and one of
// them without a privilege.
func onPaths(without string) func(*pvesim.Seed) []pvesim.Grant {
	return func(s *pvesim.Seed) []pvesim.Grant {
		var out []pvesim.Grant
		for _, r := range []struct{ path, prefix string }{{"/pool/live", "VM.,Pool."}, {"/vms/9000", "VM.Clone,VM.Audit"}, {"/storage/shared", "Datastore."}, {"/sdn/zones/localnetwork/vmbr0", "SDN."}} {
			role := &pvesim.Role{ID: "at" + strings.ReplaceAll(r.path, "/", "-")}
			for _, p := range strings.Split(feasibleRights, ",") {
				if p != without && slices.ContainsFunc(strings.Split(r.prefix, ","), func(prefix string) bool { return strings.HasPrefix(p, prefix) }) {
					role.Privileges = append(role.Privileges, p)
				}
			}
			s.Roles = append(s.Roles, role)
			out = append(out, pvesim.Grant{Path: r.path, To: "ci@pve", Role: role.ID})
		}
		return append(out, pvesim.Grant{Path: "/", To: "ci@pve", Role: "PVEAuditor"})
	}
}

// noAccessCases are paths on which the role NoAccess removes all privileges.
func noAccessCases() []feasibleCase {
	var out []feasibleCase
	for _, c := range []struct{ what, path, server, want string }{
		{"access to the storage", "/storage/shared", "/storage/shared, Datastore.AllocateSpace", "Datastore.AllocateSpace on /storage/shared"},
		{"access to the bridge", "/sdn/zones/localnetwork/vmbr0", "/sdn/zones/localnetwork/vmbr0, SDN.Use", "SDN.Use on /sdn/zones/localnetwork/vmbr0"},
	} {
		out = append(out, feasibleCase{what: c.what + ", removed by NoAccess", server: c.server, want: c.want, rights: func(*pvesim.Seed) []pvesim.Grant {
			return []pvesim.Grant{{Path: "/", To: "ci@pve", Role: "all"}, {Path: c.path, To: "ci@pve", Role: "NoAccess"}}
		}})
	}
	return out
}

// separateCases are tokens with privilege separation.
func separateCases() []feasibleCase {
	separate := func(user, token string) func(*pvesim.Seed) []pvesim.Grant {
		return func(s *pvesim.Seed) []pvesim.Grant {
			s.Users[len(s.Users)-1].Tokens[0].Privsep = true
			s.Roles = append(s.Roles, &pvesim.Role{ID: "less", Privileges: slices.DeleteFunc(strings.Split(feasibleRights, ","), func(p string) bool { return p == "VM.Clone" })})
			return []pvesim.Grant{{Path: "/", To: "ci@pve", Role: user}, {Path: "/", Type: "token", To: "ci@pve!t", Role: token}}
		}
	}
	return []feasibleCase{
		{what: "VM.Clone of a token with privilege separation", rights: separate("all", "less"), server: "/vms/9000, VM.Clone", want: "VM.Clone on /vms/9000"},
		{what: "VM.Clone of such a token and its user", rights: separate("less", "less"), server: "/vms/9000, VM.Clone", want: "VM.Clone on /vms/9000"},
		{what: "VM.Clone of such a token, beside NoAccess for it", server: "VM.Clone", want: "VM.Clone on /vms/9000", rights: func(s *pvesim.Seed) []pvesim.Grant {
			return append(separate("all", "all")(s), pvesim.Grant{Path: "/vms/9000", Type: "token", To: "ci@pve!t", Role: "NoAccess"}, pvesim.Grant{Path: "/vms/9000", To: "ci@pve", Role: "all"})
		}},
	}
}
