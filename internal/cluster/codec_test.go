package cluster

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"stackgen/guest"
)

func TestEncodeDecode(t *testing.T) {
	in := Inventory{Taken: "2026-01-01T00:00:00Z", Nodes: []Node{{Name: "pve1", Online: true}}, Free: []int{300},
		Guests: []Guest{{VMID: 101, Node: "pve1", Kind: guest.VM, Name: "<web>", Config: &Config{Raw: map[string]string{"name": "<web>"}}}}}
	body, err := in.Encode()
	if err != nil {
		t.Fatal(err)
	}
	out, err := Decode("f.json", body)
	if err != nil {
		t.Fatal(err)
	}
	again, err := out.Encode()
	if err != nil || string(again) != string(body) {
		t.Errorf("%v\n%s\n%s", err, body, again)
	}
}

func TestDecodeErrors(t *testing.T) {
	body, err := Inventory{Nodes: []Node{{Name: "pve1"}}, Guests: []Guest{{VMID: 101, Node: "pve1", Kind: guest.VM}}}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	good := string(body)
	for name, c := range map[string]struct{ src, want string }{
		"empty":             {"", "f.json:1: not an inventory: unexpected end"},
		"a spec":            {"apiVersion: x\n", "f.json:1: not an inventory: invalid character"},
		"a list":            {"[]", "f.json:1: an inventory must be an object, not a list"},
		"no version":        {"{}", "f.json:1: not an inventory: it has no version"},
		"another version":   {strings.Replace(good, `"version": 1`, `"version": 2`, 1), "f.json:2: unsupported version 2, this stackgen reads version 1"},
		"an unknown key":    {strings.Replace(good, `"quorate"`, `"quorum"`, 1), `f.json:7: unknown key "quorum"`},
		"a wrong type":      {strings.Replace(good, `"vmid": 101`, `"vmid": "101"`, 1), "f.json:20: guests.vmid must be a number, not text"},
		"incomplete":        {good[:len(good)/2], "f.json:"},
		"trailing data":     {good + "{}", "after top-level value"},
		"a missing list":    {strings.Replace(good, `"gaps": [],`, "", 1), `the list "gaps" is missing`},
		"a null list":       {strings.Replace(good, `"gaps": []`, `"gaps": null`, 1), `the list "gaps" is missing`},
		"an unknown kind":   {strings.Replace(good, `"kind": "qemu"`, `"kind": "vm"`, 1), `f.json:20: guest 101 has kind "vm"`},
		"an unknown node":   {strings.Replace(good, `"node": "pve1"`, `"node": "pve9"`, 1), `f.json:20: guest 101 is on node "pve9"`},
		"free and not free": {strings.Replace(good, `"free": []`, `"free": [101]`, 1), "VMID 101 is listed as free, but a guest has it"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Decode("f.json", []byte(c.src))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestInventoryDocs checks that docs/inventory.md describes every key.
func TestInventoryDocs(t *testing.T) {
	doc, err := os.ReadFile("../../docs/inventory.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{Inventory{}, Node{}, Guest{}, Config{}, Pool{}, Storage{}, Task{}, Gap{}, Record{}, Datastore{}, Network{}, Access{}, ACL{}} {
		typ := reflect.TypeOf(v)
		for i := range typ.NumField() {
			key, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			if key != "-" && !strings.Contains(string(doc), "`"+key+"`") {
				t.Errorf("%s: key %q is not in docs/inventory.md", typ.Name(), key)
			}
		}
	}
}
