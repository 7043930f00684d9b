package schema

import (
	"fmt"
	"slices"
	"strings"
)

// synonyms are what people write who know another tool, and the keys that they mean:
// the first one that the place has.
var synonyms = map[string][]string{
	"address":         {"cloud_init.ipv4"},
	"boot":            {"boot_order"},
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
	"scsihw":          {"scsi_hardware"},
	"searchdomain":    {"search_domain", "cloud_init.search_domain"},
	"serial_device":   {"serial"},
	"ssh_key":         {"ssh_keys", "cloud_init.ssh_keys"},
	"ssh_public_key":  {"ssh_keys", "cloud_init.ssh_keys"},
	"ssh_public_keys": {"ssh_keys", "cloud_init.ssh_keys"},
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

// suggest says what an unknown key may mean: a synonym, a key of a part, a key of the
// VM or stack around the place, or a key that is spelt alike.
func suggest(key string, fields []Field, path string) string {
	word := strings.ReplaceAll(strings.ToLower(key), "-", "_")
	if at := find(fields, word); at != nil {
		return meant(word, fields)
	}
	for _, target := range synonyms[word] {
		if text := meant(target, fields); text != "" {
			return text
		}
	}
	if text := within(word, fields); text != "" {
		return text
	}
	root, _, _ := strings.Cut(path, ".")
	if slices.Contains([]string{"vms", "groups", "defaults", "teacher", "students"}, root) {
		if text := outside(word, VMFields, "VM"); text != "" {
			return text
		}
		if text := outside(word, slices.Concat(sharedFields, stackFields), "stack"); text != "" {
			return text
		}
	}
	if near := nearest(key, keysOf(fields)); near != "" {
		return meant(near, fields)
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
	first, rest, nested := strings.Cut(path, ".")
	f := find(fields, first)
	switch {
	case f == nil:
		return ""
	case !nested:
		return fmt.Sprintf("did you mean %q?", first)
	case f.Type == List && find(f.Elem.Fields, rest) != nil:
		return fmt.Sprintf("did you mean %s: [{%s: ...}]?", first, rest)
	case find(f.Fields, rest) != nil:
		return fmt.Sprintf("did you mean %s: {%s: ...}?", first, rest)
	}
	return ""
}

// within asks whether a key of one of the parts was meant. Where VMs have it,
// defaults do.
func within(word string, fields []Field) string {
	if f := find(fields, "defaults"); f != nil && find(f.Fields, word) != nil {
		return meant("defaults."+word, fields)
	}
	for i := range fields {
		if text := meant(fields[i].Key+"."+word, fields); text != "" && fields[i].Key != "meta" {
			return text
		}
	}
	return ""
}
