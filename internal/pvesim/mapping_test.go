package pvesim_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// TestMappings: a configuration may name a resource mapping that does not exist, or not on the node. A start fails, and so does
// a running guest that would get it at once.
func TestMappings(t *testing.T) {
	for name, c := range map[string]struct{ entry, start, plug string }{
		"PCI":                   {"hostpci0=mapping=gpu", "OK", ""},
		"PCI, missing":          {"hostpci0=mapping=card", "PCI device mapping not found for 'card'", ""},
		"PCI, another node":     {"hostpci0=mapping=far", "PCI device mapping not found for 'far'", ""},
		"USB":                   {"usb0=mapping=stick,usb3=1", "OK", ""},
		"USB, missing":          {"usb0=mapping=key", "USB device mapping not found for 'key'", "hotplug problem - USB device mapping not found for 'key'"},
		"directory":             {"virtiofs0=media", "OK", ""},
		"directory, named":      {"virtiofs0=dirid=media,cache=never", "OK", ""},
		"directory, missing":    {"virtiofs0=dirid=music", "Directory ID music does not exist.", ""},
		"directory, other node": {"virtiofs0=far", "No directory mapping for node pve1.", ""},
	} {
		t.Run(name, func(t *testing.T) {
			seed, err := pvesim.DefaultSeed()
			if err != nil {
				t.Fatal(err)
			}
			for _, kind := range []string{"pci", "dir"} {
				seed.Mappings = append(seed.Mappings, &pvesim.Mapping{Type: kind, ID: "far", Nodes: []string{"pve2"}})
			}
			b := newTestSim(t, pvesim.Options{Seed: seed})
			b.task("POST", "/nodes/pve1/qemu", "vmid", "300", "ostype", "l26")
			b.task("POST", "/nodes/pve1/qemu/300/status/start")
			key, value, _ := strings.Cut(c.entry, "=")
			r := b.do("PUT", "/nodes/pve1/qemu/300/config", key, value)
			if got := string(r.Body); c.plug == "" && r.Status != 200 || !strings.Contains(got, c.plug) {
				t.Errorf("while it runs: %d %s", r.Status, got)
			}
			b.task("POST", "/nodes/pve1/qemu/300/status/stop")
			b.data("PUT", "/nodes/pve1/qemu/300/config", key, value)
			if end, _ := b.task("POST", "/nodes/pve1/qemu/300/status/start"); end != c.start {
				t.Errorf("start ended %q, want %q", end, c.start)
			}
		})
	}
}

// TestMappingsAreListed to those who may use, audit or change them.
func TestMappingsAreListed(t *testing.T) {
	for privilege, want := range map[string]string{"Mapping.Use": "home media", "Mapping.Audit": "home media", "Mapping.Modify": "home media", "Sys.Audit": ""} {
		seed, err := pvesim.DefaultSeed()
		if err != nil {
			t.Fatal(err)
		}
		seed.Users = append(seed.Users, &pvesim.User{ID: "ci@pve", Tokens: []*pvesim.Token{{ID: "t", Secret: "s"}}})
		seed.Roles = append(seed.Roles, &pvesim.Role{ID: "few", Privileges: []string{privilege}})
		seed.ACL = append(seed.ACL, &pvesim.Grant{Path: "/", To: "ci@pve", Role: "few"})
		r := newTestSim(t, pvesim.Options{Seed: seed}).as("ci@pve!t=s", "GET", "/cluster/mapping/dir", "")
		var list struct {
			Data []struct {
				ID  string
				Map []string
			}
		}
		if err := json.Unmarshal(r.Body, &list); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, m := range list.Data {
			names = append(names, m.ID)
			if !slices.Contains(m.Map, "path=/srv/share,node=pve1") {
				t.Errorf("%v", m.Map)
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %q, want %q", privilege, got, want)
		}
	}
}
