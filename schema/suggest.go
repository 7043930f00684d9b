package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
)

// synonyms are what people write who know another tool, and the keys that they mean:
// the first one that the place has.
var synonyms = map[string][]string{
	"address":         {"cloud_init.ipv4"},
	"autostart":       {"on_boot"},
	"boot":            {"boot_order"},
	"cidr":            {"cloud_init.ipv4", "ipv4"},
	"clone_from":      {"template"},
	"cpu":             {"cores"},
	"cpu_cores":       {"cores"},
	"cpus":            {"cores"},
	"disk":            {"disks"},
	"disk_size":       {"disks.size", "size"},
	"dns_servers":     {"cloud_init.nameservers"},
	"domain":          {"cloud_init.search_domain", "zone"},
	"efi_disk":        {"efi"},
	"fqdn":            {"name"},
	"gw":              {"gateway", "cloud_init.gateway"},
	"host":            {"node", "endpoint", "server"},
	"hostname":        {"name"},
	"hwaddr":          {"mac"},
	"id":              {"vmid"},
	"image":           {"template"},
	"init":            {"cloud_init"},
	"initialization":  {"cloud_init"},
	"ip":              {"cloud_init.ipv4", "ipv4"},
	"ip6":             {"cloud_init.ipv6", "ipv6"},
	"ip_address":      {"cloud_init.ipv4", "ipv4"},
	"ip_config":       {"cloud_init.ipv4"},
	"iso":             {"template"},
	"keys":            {"ssh_keys", "cloud_init.ssh_keys"},
	"macaddr":         {"mac"},
	"mac_address":     {"mac", "networks.mac"},
	"maxmem":          {"memory"},
	"mem":             {"memory"},
	"memory_mb":       {"memory"},
	"nameserver":      {"nameservers", "cloud_init.nameservers"},
	"net":             {"networks"},
	"network":         {"networks"},
	"network_device":  {"networks"},
	"nic":             {"networks"},
	"nics":            {"networks"},
	"node_name":       {"node"},
	"notes":           {"description"},
	"onboot":          {"on_boot"},
	"os":              {"os_type", "template"},
	"ostype":          {"os_type"},
	"pool_id":         {"pool", "id"},
	"public_keys":     {"ssh_keys", "cloud_init.ssh_keys"},
	"qemu_agent":      {"agent"},
	"ram":             {"memory"},
	"replicas":        {"count"},
	"scsihw":          {"scsi_hardware"},
	"searchdomain":    {"search_domain", "cloud_init.search_domain"},
	"serial_device":   {"serial"},
	"ssh":             {"cloud_init.ssh_keys"},
	"ssh_key":         {"ssh_keys", "cloud_init.ssh_keys"},
	"ssh_public_key":  {"ssh_keys", "cloud_init.ssh_keys"},
	"ssh_public_keys": {"ssh_keys", "cloud_init.ssh_keys"},
	"start_on_boot":   {"on_boot"},
	"start":           {"started"},
	"storage":         {"datastore", "disks.datastore"},
	"tag":             {"tags", "vlan"},
	"tpm_state":       {"tpm"},
	"url":             {"endpoint", "source"},
	"username":        {"user", "cloud_init.user"},
	"vcpu":            {"cores"},
	"vlan_id":         {"vlan", "networks.vlan"},
	"vlan_tag":        {"vlan", "networks.vlan"},
	"vm_id":           {"vmid"},
}

// instead are words of other tools that no key has, and what to do.
var instead = map[string]string{
	containersKey:     "containers are for kind: Stack: a class has VMs only",
	"depends_on":      "VMs do not wait for one another in an apply; startup: {order: ...} is the order in which Proxmox VE starts them",
	"ha":              "HA is not part of a spec: add the VM in Proxmox VE, with `ha-manager add vm:VMID`",
	kindKey:           "write each container below containers; only groups of kind: Stack have a kind",
	"loop":            "write groups: {NAME: {count: ...}}",
	"for_each":        "write groups: {NAME: {count: ...}}",
	"prevent_destroy": "write profile: protected",
	"provisioner":     "`stackgen outputs` writes an Ansible inventory; cloud_init: {user_data: ...} runs commands at the first start",
}

// What to do about a part of a container that the provider replaces it for, or that needs root@pam.
const (
	byHand   = "set it with `pct set` on the node, as root: an apply leaves it as it is"
	mounted  = "a container has mounts: [{path: ..., datastore: ..., size: ...}]; add a bind mount with `pct set` on the node, as root"
	archived = "a container is made from an archive, or is a full clone: template: STORAGE:vztmpl/ARCHIVE, or template: {vmid: N}"
)

// notOfContainers are words that a container does not have, and what to do.
var notOfContainers = map[string]string{
	guest.Agent:          "a container has no guest agent: its node knows its addresses",
	guest.Clone:          archived,
	guest.CloudInit:      "a container has networks: [{ipv4: ..., gateway: ...}], nameservers, search_domain and ssh_keys",
	"device_passthrough": byHand,
	"devices":            byHand,
	guest.Disks:          "a container has rootfs: {datastore: ..., size: ...}, and mounts: [{path: ..., datastore: ..., size: ...}]",
	"fuse":               byHand,
	guest.Hookscript:     byHand,
	guest.HostPCI:        byHand,
	"idmap":              byHand,
	"keyctl":             byHand,
	"mknod":              byHand,
	"mount":              mounted,
	"mount_point":        mounted,
	"mount_points":       mounted,
	"password":           "a spec contains no secrets: write ssh_keys, or set a password in the container",
}

// noneOfContainers says of a key of VMs that containers have none.
func noneOfContainers(word string) string {
	if find(VMFields, word) == nil {
		return ""
	}
	return word + " is for VMs only"
}

// noneOfVMs says of a key of containers that VMs have none.
func noneOfVMs(word, path string) string {
	if find(ContainerFields, word) == nil {
		return ""
	}
	if group, is := strings.CutPrefix(path, "groups."); is && !strings.Contains(group, ".") {
		return word + " is for containers only: add kind: container to a group of containers"
	}
	return word + " is for containers only"
}

// maxListed is how many keys a message lists. The reference has the others.
const maxListed = 25

// suggest says what an unknown key may mean: a synonym, a key of a part, a key of the
// VM or stack around the place, or a key that is spelt alike. containers is whether the place is in a
// group of containers.
func suggest(key string, fields []Field, path string, containers bool) string {
	if m := noSpace.FindStringSubmatch(key); m != nil && find(fields, m[2]) != nil {
		return fmt.Sprintf("write a space after the colon: %s: %s", m[2], m[3])
	}
	word := strings.ReplaceAll(strings.ToLower(key), "-", "_")
	if at := find(fields, word); at != nil {
		return meant(word, fields)
	}
	synonym := ""
	for _, target := range append(slices.Clone(synonyms[word]), word+"s") {
		synonym = cmp.Or(synonym, meant(target, fields))
	}
	list := path == containersKey || strings.HasPrefix(path, containersKey+".")
	if containers || list || strings.HasPrefix(path, "defaults."+containersKey) {
		return cmp.Or(synonym, notOfContainers[word], noneOfContainers(word), within(word, fields), alike(key, fields))
	}
	switch root, _, _ := strings.Cut(path, "."); root {
	case "vms", "groups", "defaults", "teacher", "students":
		return cmp.Or(synonym, instead[word], within(word, fields), outside(word, VMFields, "VM"), noneOfVMs(word, path), ofGroup(word),
			outside(word, slices.Concat(sharedFields, stackGroups, stackFields), "stack"), alike(key, fields))
	case "":
		return cmp.Or(synonym, instead[word], within(word, fields), ofGroup(word), ofKind(word), alike(key, fields))
	}
	return cmp.Or(synonym, within(word, fields), alike(key, fields))
}

// ofGroup says how a key of groups is written.
func ofGroup(word string) string {
	if find(kindGroupFields, word) == nil {
		return ""
	}
	return fmt.Sprintf("%s is a key of a group: groups: {NAME: {%s: ...}}", word, word)
}

// ofKind says which kind of document has a key.
func ofKind(word string) string {
	for _, kind := range AllKinds {
		if find(fieldsOf(kind), word) != nil {
			return word + " is a key of kind: " + kind
		}
	}
	return ""
}

// alike is the key of a table that is spelt alike, or its keys.
func alike(key string, fields []Field) string {
	if near := Nearest(key, keysOf(fields)); near != "" {
		return meant(near, fields)
	}
	if len(fields) > maxListed {
		return "`stackgen schema --format markdown` lists the keys"
	}
	return "known keys: " + strings.Join(keysOf(fields), ", ")
}

// outside is a key, or what it is a synonym of, in the table of an outer level.
func outside(word string, fields []Field, level string) string {
	if find(fields, word) != nil {
		return word + " is a key of the " + level
	}
	for _, target := range synonyms[word] {
		if text := meant(target, fields); text != "" {
			return text + " It is a key of the " + level
		}
	}
	return ""
}

// meant asks whether a path was meant, if the table has it.
func meant(path string, fields []Field) string {
	if text := place(path, fields); text != "" {
		return "did you mean " + text + "?"
	}
	return ""
}

// place is a path as it is written in YAML, if the table has it.
func place(path string, fields []Field) string {
	first, rest, nested := strings.Cut(path, ".")
	f := find(fields, first)
	switch {
	case f == nil:
		return ""
	case !nested:
		return fmt.Sprintf("%q", first)
	case f.Type == List && find(f.Elem.Fields, rest) != nil:
		return fmt.Sprintf("%s: [{%s: ...}]", first, rest)
	case find(f.Fields, rest) != nil:
		return fmt.Sprintf("%s: {%s: ...}", first, rest)
	}
	return ""
}

// within asks whether a key of one or two of the parts was meant. Where VMs have it,
// defaults do.
func within(word string, fields []Field) string {
	for _, target := range append([]string{word}, synonyms[word]...) {
		if text := meant("defaults."+target, fields); text != "" {
			return text
		}
	}
	var places []string
	for i := range fields {
		if text := place(fields[i].Key+"."+word, fields); text != "" && fields[i].Key != guest.Meta {
			places = append(places, text)
		}
	}
	if len(places) == 0 || len(places) > 2 {
		return ""
	}
	return "did you mean " + strings.Join(places, " or ") + "?"
}
