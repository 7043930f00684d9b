package schema

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	const missing = "property is missing and it is not optional"
	for name, c := range map[string]struct {
		verb, path string
		in         Values
		want       Errors
	}{
		"an unknown name":        {"GET", "/version", Values{"x": "1"}, Errors{"x": "property is not defined in schema and the schema does not allow additional properties"}},
		"nothing given":          {"POST", "/nodes/{node}/qemu", Values{"node": "pve"}, Errors{"vmid": missing}},
		"a boolean like a word":  {"PUT", "/nodes/{node}/qemu/{vmid}/config", Values{"node": "pve", "vmid": "100", "onboot": "Yes"}, Errors{"onboot": "type check ('boolean') failed - got 'Yes'"}},
		"a JSON boolean":         {"PUT", "/nodes/{node}/qemu/{vmid}/config", Values{"node": "pve", "vmid": json.Number("100"), "onboot": true}, nil},
		"a list for a list":      {"PUT", "/nodes/{node}/qemu/{vmid}/config", Values{"node": "pve", "vmid": "100", "tags": []any{"a", "b"}}, nil},
		"a list for one value":   {"PUT", "/nodes/{node}/qemu/{vmid}/config", Values{"node": "pve", "vmid": "100", "memory": []any{"1", "2"}}, Errors{"memory": "type check ('string') failed - got ARRAY"}},
		"an index out of range":  {"PUT", "/nodes/{node}/qemu/{vmid}/config", Values{"node": "pve", "vmid": "100", "net32": "virtio"}, Errors{"net32": "property is not defined in schema and the schema does not allow additional properties"}},
		"gateway without prefix": {"PUT", "/nodes/{node}/qemu/{vmid}/config", Values{"node": "pve", "vmid": "100", "ipconfig1": "gw=192.0.2.1"}, Errors{"ipconfig1": "invalid format - format error\nipconfig1.ip: missing property - 'ipconfig1.gw' requires this property\n"}},
		"null":                   {"PUT", "/nodes/{node}/qemu/{vmid}/config", Values{"node": "pve", "vmid": "100", "description": nil}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			for _, version := range []string{"8.4", "9"} {
				api, err := Load(version)
				if err != nil {
					t.Fatal(err)
				}
				_, got := api.Paths[c.path][c.verb].Check(c.in)
				if len(got) != len(c.want) {
					t.Fatalf("%s: %v, want %v", version, got, c.want)
				}
				for k, v := range c.want {
					if got[k] != v {
						t.Errorf("%s: %s: %q, want %q", version, k, got[k], v)
					}
				}
			}
		})
	}
}

func TestFind(t *testing.T) {
	api, err := Load("8.4")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"version": "/version", "nodes/pve/qemu/100/config": "/nodes/{node}/qemu/{vmid}/config", "pools/a": "/pools/{poolid}",
		"nodes/pve/storage/local/content/local:iso/a.iso": "/nodes/{node}/storage/{storage}/content/{volume}",
		"pools/a/b": "", "nosuch": "", "nodes/pve/nosuch": "",
	} {
		m, _ := api.Find("GET", strings.Split(path, "/"))
		got := ""
		if m != nil {
			got = m.Path
		}
		if got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if _, err := Load("7"); err == nil {
		t.Error("version 7 was accepted")
	}
}
