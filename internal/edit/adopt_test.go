package edit

import (
	"strings"
	"testing"
)

func TestAdopt(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"block", "vms:\n  web01:\n    # of the shop\n    name: shop # the name\n", "vms:\n  web01:\n    adopt: {vmid: 140}\n    # of the shop\n    name: shop # the name\n"},
		{"block, deep", "# ä\nvms:\n      web01: # ö\n            cores: 2\n", "# ä\nvms:\n      web01: # ö\n            adopt: {vmid: 140}\n            cores: 2\n"},
		{"block, Windows", "vms:\r\n  web01:\r\n    cores: 2\r\n", "vms:\r\n  web01:\r\n    adopt: {vmid: 140}\r\n    cores: 2\r\n"},
		{"block, merged", "x: &x {cores: 2}\nvms:\n  web01:\n    <<: *x\n", "x: &x {cores: 2}\nvms:\n  web01:\n    adopt: {vmid: 140}\n    <<: *x\n"},
		{"other ends of lines in a text", "note: 'x\u2028y\rz'\nvms:\n  web01: {cores: 2}\n  web02: {cores: 3}\n", "note: 'x\u2028y\rz'\nvms:\n  web01: {adopt: {vmid: 140}, cores: 2}\n  web02: {cores: 3}\n"},
		{"flow", "vms:\n  web01: {name: shop}  # c\n", "vms:\n  web01: {adopt: {vmid: 140}, name: shop}  # c\n"},
		{"flow, anchored", "vms:\n  web01: &w {name: shop}\n  web02: *w\n", "vms:\n  web01: &w {adopt: {vmid: 140}, name: shop}\n  web02: *w\n"},
		{"flow, several lines", "vms:\n  web01: {\n    name: shop,\n  }\n", "vms:\n  web01: {adopt: {vmid: 140}, \n    name: shop,\n  }\n"},
		{"empty braces", "vms:\n  web01: {}\n", "vms:\n  web01: {adopt: {vmid: 140}}\n"},
		{"no value", "vms:\n  web01:\n  web02: {}\n", "vms:\n  web01: {adopt: {vmid: 140}}\n  web02: {}\n"},
		{"no value, at the end", "vms:\n  web01: # c", "vms:\n  web01: {adopt: {vmid: 140}} # c"},
		{"no value, quoted", "vms:\n  \"web01\" : # c\n", "vms:\n  \"web01\" : {adopt: {vmid: 140}} # c\n"},
		{"tilde", "vms:\n  web01: ~ # c\n", "vms:\n  web01: {adopt: {vmid: 140}} # c\n"},
		{"all in braces", "vms: {web01: {}, web02: {}}\n", "vms: {web01: {adopt: {vmid: 140}}, web02: {}}\n"},
		{"keys in braces", "vms: {web02, web01}\n", "vms: {web02, web01: {adopt: {vmid: 140}}}\n"},
		{"other vmid", "vms:\n  web01: {adopt: {vmid: 99}} # c\n", "vms:\n  web01: {adopt: {vmid: 140}} # c\n"},
		{"same vmid", "vms:\n  web01:\n    adopt:\n      vmid: 140\n", "vms:\n  web01:\n    adopt:\n      vmid: 140\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Adopt([]byte(c.src), []Adoption{{"vms", "web01", 140}})
			if err != nil || string(got) != c.want {
				t.Errorf("got %v\n%s\nwant\n%s", err, got, c.want)
			}
		})
	}
}

func TestAdoptSeveral(t *testing.T) {
	src := "vms:\n  a: {}\n  b:\n    cores: 2\n  c:\n"
	want := "vms:\n  a: {adopt: {vmid: 1}}\n  b:\n    adopt: {vmid: 2}\n    cores: 2\n  c: {adopt: {vmid: 3}}\n"
	got, err := Adopt([]byte(src), []Adoption{{"vms", "c", 3}, {"vms", "a", 1}, {"vms", "b", 2}})
	if err != nil || string(got) != want {
		t.Errorf("got %v\n%s\nwant\n%s", err, got, want)
	}
}

func TestAdoptRefuses(t *testing.T) {
	for src, want := range map[string]string{
		"x: &x {}\nvms:\n  web01: *x\n":       "alias",
		"vms:\n  web02: {}\n":                 "not written under vms",
		"groups:\n  web: {count: 1}\n":        "not written under vms",
		"vms:\n  web01: 7\n":                  "no map",
		"vms:\n  web01: {adopt: {}}\n":        "without a vmid",
		"vms:\n  web01: {\n":                  "does not parse",
		"":                                    "no document",
		"vms:\n  web01: {adopt: {vmid: 0x1}}": "",
	} {
		got, err := Adopt([]byte(src), []Adoption{{"vms", "web01", 140}})
		if want == "" {
			if err != nil || !strings.Contains(string(got), "vmid: 140") {
				t.Errorf("%q: %v %s", src, err, got)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", src, err, want)
		}
	}
}
