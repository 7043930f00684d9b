//go:build unix

package real

import (
	"cmp"
	"net/url"
	"strings"
)

// A driftCase is what happened to one VM since the last apply, and what drift says.
type driftCase struct {
	name    string
	key     string
	before  string // its entry in the spec; empty if the spec did not have it
	after   string // the same after a change; empty if there was none
	renamed string // its new key
	leaves  string // retired or forgotten
	event   func(*driftWorld)
	about   string   // of the findings, if that is not its key: a record or pool
	want    []string // each: VERDICT blocked|failed|safe|ok CAUSE: ATTRIBUTE[@TEXT of the spec][, ...][ by TASK of USER]
	says    []string // the same, as it is
}

// changedKey is the key that the findings have.
func (c *driftCase) changedKey() string { return cmp.Or(c.about, c.renamed, c.key) }

// keys are all keys that findings may have.
func (c *driftCase) keys() []string { return []string{c.changedKey()} }

const driftKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMBwIs2Z4DaSnXAcbRVzgn9i6FUV9nAHWjVPUWMzPnlv ops"

// driftCases are the cases of one stack and one run.
func driftCases() []driftCase {
	return []driftCase{
		{name: "memory by hand", key: "memory", before: "memory: 2048", event: options("memory", "4096"), want: []string{"pending safe hand: memory.dedicated@2048"}},
		{name: "memory in the spec, not applied", key: "spec", before: "memory: 2048", after: "memory: 3072", want: []string{"pending safe spec: memory.dedicated@3072"}},
		{name: "memory by hand, and a third value in the spec", key: "third", before: "memory: 2048", after: "memory: 3072", event: options("memory", "4096"), want: []string{"pending safe both: memory.dedicated@3072"}},
		{name: "cores by hand, and the same in the spec", key: "agreed", before: "cores: 2", after: "cores: 4", event: options("cores", "4"), want: []string{"pending safe hand: cpu.cores@4"}},
		{name: "cores in the spec, `restart: true`", key: "restart", before: "cores: 2, restart: true", after: "cores: 4, restart: true", want: []string{"restart safe spec: cpu.cores@4"}},
		{name: "tags by hand, memory in the spec", key: "two", before: "tags: [a], memory: 2048", after: "tags: [a], memory: 3072", event: options("tags", "a;b"), want: []string{"live safe hand: tags@[a]", "pending safe spec: memory.dedicated@3072"}},
		{name: "startup order by hand, none in the spec", key: "startup", before: "cores: 2", event: options("startup", "order=3"), want: []string{"noise safe unknown: startup@VM"}},
		{name: "startup order removed by hand", key: "nostartup", before: "startup: {order: 1}", event: options("delete", "startup"), want: []string{"live safe hand: startup@{order: 1"}},
		{name: "description, tags, firmware, a watchdog and others by hand, none in the spec", key: "unread", before: "cores: 2", event: options("description", "do not touch", "tags", "backup", "bios", "ovmf", "protection", "1", "watchdog", "model=i6300esb,action=reset", "usb0", "spice", "hookscript", "shared:snippets/a.pl", "tablet", "0", "keyboard", "de", "hotplug", "disk", "args", "-no-shutdown", "boot", "order=scsi0;net0"), want: []string{"noise safe hand: hotplug@VM", "noise safe unknown: description@VM, hook_script_file_id@VM, protection@VM, tablet_device@VM, tags@VM, usb.usb0@VM", "pending safe hand: boot_order@VM, watchdog@VM", "pending safe unknown: bios@VM, keyboard_layout@VM, kvm_arguments"}},
		{name: "cloud-init user, DNS server and password by hand, none in the spec", key: "user", before: "cores: 2", event: options("ciuser", "eve", "nameserver", "192.0.2.53", "cipassword", "hunter2hunter2"), want: []string{"noise safe unknown: initialization.dns.servers@{datastore: shared, initialization.user_account.password, initialization.user_account.username@{datastore: shared"}},
		{name: "cloud-init user and password by hand, another user in the spec", key: "password", before: "cloud_init: {datastore: shared, user: ops}", event: options("ciuser", "eve", "cipassword", "hunter2hunter2"), want: []string{"noise safe hand: initialization.user_account.password", "pending safe hand: initialization.user_account.username@ops"}},
		{name: "disk moved to another datastore by hand", key: "disks", before: "cores: 2", event: action("move_disk", "disk", "scsi0", "storage", "local-zfs", "delete", "1"), want: []string{"power blocked hand: disk.scsi0.datastore_id@shared by qmmove of root@pam", "noise safe hand: disk.scsi0.file_format@{interface: scsi0 by qmmove of root@pam", "noise ok nobody: disk.scsi0.path_in_datastore"}},
		{name: "bridge of a network device by hand", key: "bridge", before: "networks: [{bridge: vmbr0, mac: \"BC:24:11:00:77:01\"}]", event: options("net0", "virtio=BC:24:11:00:77:01,bridge=vmbr1"), want: []string{"live safe hand: network_device.net0.bridge@vmbr0", "noise ok unknown: ipv4_addresses, ipv6_addresses, network_interface_names"}},
		{name: "name in upper case by hand", key: "case", before: "name: web-case", event: options("name", "WEB-case"), want: []string{"live safe hand: name@web-case"}},
		{name: "startup order by hand, another one in the spec", key: "order", before: "startup: {order: 1}", event: options("startup", "order=3"), want: []string{"live safe hand: startup.order@1"}},
		{name: "SSH key added by hand", key: "another", before: `cloud_init: {ssh_keys: ["` + driftKey + `"]}`, event: options("sshkeys", url.PathEscape(driftKey+"\n"+strings.Replace(driftKey, "AAAAIMBw", "AAAAIMBx", 1)+"")), want: []string{"pending safe hand: initialization.user_account.keys@[\"ssh-ed25519 AAAAC3NzaC"}},
		{name: "tags by hand", key: "tags", before: "tags: [web]", event: options("tags", "web;old"), want: []string{"live safe hand: tags@[web]"}},
		{name: "description by hand", key: "notes", before: "description: web", event: options("description", "do not touch"), want: []string{"live safe hand: description@web"}},
		{name: "SSH key written in another way by hand", key: "keys", before: `cloud_init: {ssh_keys: ["` + driftKey + `"]}`, event: options("sshkeys", url.PathEscape(driftKey+"\n"))},
		{name: "another template in the spec", key: "template", before: "cores: 2", after: "cores: 2, template: {vmid: 9010, node: pve1}", want: []string{"noise safe spec: clone.vm_id@{vmid: 9010"}},
		{name: "VM deleted by hand", key: "gone", before: "cores: 2", event: remove, want: []string{"gone blocked hand: all of it by qmdestroy of root@pam"}},
		{name: "VM migrated by hand", key: "migrated", before: "cores: 2", event: action("migrate", "target", "pve2", "online", "1"), want: []string{"moved safe hand: node_name@pve1 by qmigrate of root@pam"}},
		{name: "VM migrated by hand, its profile manages `node_name`", key: "placed", before: "cores: 2, profile: placed", event: action("migrate", "target", "pve2", "online", "1"), want: []string{"migrate blocked hand: node_name@pve1 by qmigrate of root@pam"}},
		{name: "disk grown by hand", key: "grown", before: "cores: 2", event: grow, want: []string{"disk-loss blocked hand: disk.scsi0.size@8 by resize of root@pam"}},
		{name: "network device added by hand", key: "nic", before: "cores: 2", event: device("net1", "virtio,bridge=vmbr0"), want: []string{"disk-loss blocked hand: network_device.net1@VM by qmconfig of root@pam", "noise ok nobody: mac_addresses", "noise ok unknown: ipv4_addresses, ipv6_addresses, network_interface_names"}},
		{name: "disk added by hand", key: "disk", before: "cores: 2", event: device("scsi1", "shared:4"), want: []string{"noise safe unknown: disk.scsi1@[{interface: scsi0 by qmconfig of root@pam"}},
		{name: "VM renamed by hand", key: "renamed", before: "cores: 2", event: options("name", "erp"), want: []string{"live safe hand: name@VM"}},
		{name: "VMID reused by another VM", key: "reused", before: "cores: 2", event: reuse, want: []string{"unknown blocked hand: agent@{timeout: 5s, cpu.cores@2, cpu.type@VM, disk.scsi0@{interface: scsi0, initialization@{datastore: shared, memory.dedicated@VM, name@VM, network_device.net0.mac_address@VM, node_name@pve1, on_boot@VM, operating_system.type@VM, pool_id@{id: live, serial_device.0@socket, vga.type@serial0 by qmcreate of root@pam", "unknown blocked hand: all of it by qmcreate of root@pam", "unknown blocked nobody: memory.floating@VM", "noise safe hand: boot_order@VM by qmcreate of root@pam", "noise ok hand: started@VM by qmstop of root@pam", "noise ok nobody: mac_addresses", "noise ok unknown: ipv4_addresses, ipv6_addresses, network_interface_names"}},
		{name: "the agent reports another address", key: "address", before: "cores: 2", event: readdress, want: []string{"noise ok nobody: ipv4_addresses"}},
		{name: "cores wait for a restart", key: "waits", before: "cores: 2", event: await, want: []string{"pending safe unknown: cpu.cores@2"}},
		{name: "VM stopped by hand", key: "stopped", before: "cores: 2", event: action("status/stop"), want: []string{"noise ok hand: started@VM by qmstop of root@pam", "noise ok nobody: ipv4_addresses, ipv6_addresses, mac_addresses, network_interface_names"}},
		{name: "VM lost from the state, and its import file", key: "imported", before: "cores: 2", event: instance(lose), want: []string{"import safe spec: all of it"}},
		{name: "key renamed in the spec", key: "old", before: "name: same, cores: 2", renamed: "new", want: []string{"moved safe spec: all of it"}},
		{name: "VM tainted", key: "tainted", before: "cores: 2", event: instance(taint), want: []string{"replace blocked nobody: all of it", "noise ok nobody: boot_order@VM, cpu.units@VM, disk.scsi0.file_format@{interface: scsi0, disk.scsi0.path_in_datastore, hotplug@VM, id, initialization.file_format, initialization.interface@{datastore: shared, initialization.meta_data_file_id@{datastore: shared, initialization.network_data_file_id@{datastore: shared, initialization.type@{datastore: shared, initialization.upgrade@{datastore: shared, initialization.user_data_file_id@{datastore: shared, initialization.vendor_data_file_id@{datastore: shared, ipv4_addresses, ipv6_addresses, mac_addresses, network_device.net0.disconnected@VM, network_interface_names"}},
		{name: "VM retired", key: "retired", before: "cores: 2", leaves: "retired", want: []string{"destroy safe spec: all of it"}},
		{name: "VM forgotten", key: "forgotten", before: "cores: 2", leaves: "forgotten", want: []string{"destroy blocked spec: all of it"}},
		{name: "record changed at the DNS server", key: "record", about: "site.lab.test.", before: "cloud_init: {datastore: shared, ipv4: 10.0.0.8/24}, dns: {records: [site]}", event: republish, want: []string{"live safe hand: addresses"}},
		{name: "VM new in the spec", key: "created", after: "cores: 2", want: []string{"create safe spec: all of it"}},
		{name: "a VM came into the pool", about: "live", want: []string{"noise ok nobody: members"}},
		{name: "nothing happened", key: "same", before: "node: pve3, cores: 2"},
	}
}
