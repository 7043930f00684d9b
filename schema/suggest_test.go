package schema

import (
	"slices"
	"strings"
	"testing"
)

func TestSuggestions(t *testing.T) {
	stack := fieldsOf(KindStack)
	for _, c := range []struct {
		key    string
		fields []Field
		path   string
		want   string
	}{
		{"ram", VMFields, "vms.a", `"memory"`},
		{"cpu", VMFields, "vms.a", `"cores"`},
		{"vCPU", VMFields, "vms.a", `"cores"`},
		{"ip", VMFields, "vms.a", "cloud_init: {ipv4: ...}"},
		{"user", VMFields, "vms.a", "cloud_init: {user: ...}"},
		{"username", VMFields, "vms.a", "cloud_init: {user: ...}"},
		{"tag", VMFields, "vms.a", `"tags"`},
		{"disk", VMFields, "vms.a", `"disks"`},
		{"storage", VMFields, "vms.a", "disks: [{datastore: ...}]"},
		{"network", VMFields, "vms.a", `"networks"`},
		{"host", VMFields, "vms.a", `"node"`},
		{"id", VMFields, "vms.a", `"vmid"`},
		{"hostname", VMFields, "vms.a", `"name"`},
		{"ssh_keys", VMFields, "vms.a", "cloud_init: {ssh_keys: ...}"},
		{"ssh-key", VMFields, "vms.a", "cloud_init: {ssh_keys: ...}"},
		{"bridge", VMFields, "vms.a", "networks: [{bridge: ...}]"},
		{"on-boot", VMFields, "vms.a", `"on_boot"`},
		{"Cores", VMFields, "vms.a", `"cores"`},
		{"memroy", VMFields, "vms.a", `"memory"`},
		{"cores", stack, "", "defaults: {cores: ...}"},
		{"endpoint", stack, "", "backend: {endpoint: ...} or proxmox: {endpoint: ...}"},
		{"ram", stack, "", "defaults: {memory: ...}"},
		{"vmid", stack, "", `"vmids"`},
		{"count", stack, "", "count is a key of a group: groups: {NAME: {count: ...}}"},
		{"count", VMFields, "vms.a", "count is a key of a group: groups: {NAME: {count: ...}}"},
		{"prevent_destroy", VMFields, "vms.a", "write profile: protected"},
		{"plan", VMFields, "vms.a", "`stackgen schema --format markdown` lists the keys"},
		{"type", VMFields, "vms.a", "`stackgen schema --format markdown` lists the keys"},
		{"students", stack, "", "students is a key of kind: Class"},
		{"tag", networkFields, "vms.a.networks[0]", `"vlan"`},
		{"ip", networkFields, "vms.a.networks[0]", "did you mean cloud_init: {ipv4: ...}? It is a key of the VM"},
		{"storage", diskFields, "defaults.disks[0]", `"datastore"`},
		{"vmids", VMFields, "defaults", "vmids is a key of the stack"},
		{"host", proxmoxFields, "proxmox", `"endpoint"`},
		{"zzzzzz", proxmoxFields, "proxmox", "known keys: endpoint, insecure, ca_file"},
	} {
		want := c.want
		if !strings.Contains(want, " key") && !strings.HasPrefix(want, "write") && !strings.HasPrefix(want, "known") {
			want = "did you mean " + want + "?"
		}
		if got := suggest(c.key, c.fields, c.path, false); got != want {
			t.Errorf("%s in %q: %s, want %s", c.key, c.path, got, want)
		}
	}
}

// TestNearest: no word is better than one that was not meant.
func TestNearest(t *testing.T) {
	commands := []string{"man", "sim", "init", "render", "drift"}
	for word, want := range map[string]string{"plan": "", "ssh": "", "list": "", "ini": "init", "redner": "render", "dirft": "drift", "rendr": "render", "sin": "sim"} {
		if got := Nearest(word, commands); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
	if got := Nearest("ha", []string{"vga", "tags"}); got != "" {
		t.Errorf("ha: %q", got)
	}
}

// TestSynonymsLead: every synonym leads to keys that exist, and is none itself where it is used.
func TestSynonymsLead(t *testing.T) {
	tables := [][]Field{VMFields, networkFields, diskFields, cloudInitFields, proxmoxFields, dnsFields, poolFields, catalogFields, adoptFields, groupFields}
	for word, targets := range synonyms {
		for _, target := range targets {
			if !slices.ContainsFunc(tables, func(fields []Field) bool { return meant(target, fields) != "" }) {
				t.Errorf("%s: no table has %s", word, target)
			}
		}
	}
}
