package generator

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"stackgen/internal/lock"
	"stackgen/schema"
)

const head = "apiVersion: stackgen/v1\nkind: Stack\nname: a\nvmids: 100-199\ndefaults: {template: 9000, node: pve1}\n"

// rendered renders a stack once for each version of its spec and returns the last
// files by path.
func rendered(t *testing.T, specs ...string) map[string]string {
	t.Helper()
	l := &lock.Lock{Version: lock.Version}
	var out map[string]string
	all := func(string) bool { return true }
	for _, src := range specs {
		s, problems := schema.Parse("specs/a.yaml", []byte(head+src+"\n"))
		if s == nil {
			t.Fatal(problems)
		}
		p, problems := schema.Join(nil, []schema.Input{{Spec: s, Label: "specs/a.yaml"}}, nil, nil)
		if schema.HasErrors(problems) {
			t.Fatal(problems)
		}
		r := lock.Decide(p, l, lock.Options{Specs: map[string]string{"a": "specs/a.yaml"}, Selected: all})
		if len(r.Refusals) > 0 || schema.HasErrors(r.Problems) {
			t.Fatalf("%s: %v %v", src, r.Refusals, r.Problems)
		}
		files, err := Render(p, r.Lock, all)
		if err != nil {
			t.Fatal(err)
		}
		if err := Parse(files, all); err != nil {
			t.Fatal(err)
		}
		out = map[string]string{}
		for _, f := range files {
			out[f.Path] = string(f.Body)
		}
		l = r.Lock
	}
	return out
}

// TestUnusedParts: what no stack uses is not rendered.
func TestUnusedParts(t *testing.T) {
	dns := "dns: {zone: example.org, server: 192.0.2.53}\n"
	pool := "pool: {id: p, create: true}\n"
	for name, c := range map[string]struct {
		specs           []string
		units, profiles string
	}{
		"one VM":                  {[]string{"vms: {x: {}}"}, "proxmox-vm", "default"},
		"no VM":                   {[]string{"vms: {}"}, "proxmox-vm", "default"},
		"another profile":         {[]string{"vms: {x: {profile: adopted}}"}, "proxmox-vm", "adopted"},
		"a profile not used":      {[]string{"profiles: {own: {ignore_changes: [node_name]}}\nvms: {x: {}}"}, "proxmox-vm", "default"},
		"own profile":             {[]string{"profiles: {own: {ignore_changes: [node_name]}}\nvms: {x: {profile: own}, y: {profile: protected}}"}, "proxmox-vm", "protected own"},
		"between two profiles":    {[]string{"vms: {x: {profile: protected}}", "vms: {x: {}}"}, "proxmox-vm", "default protected"},
		"a former profile":        {[]string{"vms: {x: {profile: protected}}", "vms: {x: {}}", "vms: {x: {profile: adopted}}"}, "proxmox-vm", "default protected adopted"},
		"retired":                 {[]string{"vms: {x: {profile: protected}}", "retired: [x]\nvms: {}"}, "proxmox-vm", "default protected"},
		"forgotten":               {[]string{"vms: {x: {profile: protected}}", "forgotten: [x]\nvms: {}"}, "proxmox-vm", "protected"},
		"forgotten, line removed": {[]string{"vms: {x: {profile: protected}}", "forgotten: [x]\nvms: {}", "vms: {y: {}}"}, "proxmox-vm", "default protected"},
		"records":                 {[]string{dns + "vms: {x: {}}"}, "dns proxmox-vm", "default"},
		"no records":              {[]string{dns + "vms: {x: {dns: false}}"}, "proxmox-vm", "default"},
		"retired records":         {[]string{dns + "vms: {x: {}}", "retired: [dns-x]\nvms: {x: {}}"}, "dns proxmox-vm", "default"},
		"a pool":                  {[]string{pool + "vms: {x: {}}"}, "proxmox-pool proxmox-vm", "default"},
		"a pool that exists":      {[]string{"pool: {id: p}\nvms: {x: {}}"}, "proxmox-vm", "default"},
		"a forgotten pool":        {[]string{pool + "vms: {x: {}}", "forgotten: [proxmox-pool]\nvms: {x: {}}"}, "proxmox-vm", "default"},
		"modules of a repository": {[]string{"catalog: {source: \"git::https://example.org/c.git\", ref: v1}\nvms: {x: {}}"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			files := rendered(t, c.specs...)
			var units []string
			for path := range files {
				if rest, ok := strings.CutPrefix(path, "units/"); ok {
					units = append(units, strings.TrimSuffix(rest, "/terragrunt.hcl"))
				}
			}
			slices.Sort(units)
			if got := strings.Join(units, " "); got != c.units {
				t.Errorf("units %q, want %q", got, c.units)
			}
			for unit, module := range map[string]string{"dns": "dns-records", "proxmox-pool": "proxmox-pool", "proxmox-vm": "proxmox-vm"} {
				if _, is := files["modules/"+module+"/main.tf"]; is != slices.Contains(units, unit) {
					t.Errorf("module %s is rendered: %v", module, is)
				}
			}
			var profiles, want []string
			for path, body := range files {
				for _, m := range regexp.MustCompile(`(?m)^  for_each = \{ for key, vm in var\.vms : key => key if vm\.profile == "(\w+)" \}`).FindAllStringSubmatch(body, -1) {
					profiles = append(profiles, path+" "+m[1])
				}
			}
			for _, profile := range strings.Fields(c.profiles) {
				want = append(want, "modules/proxmox-vm/profile-"+profile+".tf "+profile)
			}
			slices.Sort(profiles)
			slices.Sort(want)
			if !slices.Equal(profiles, want) {
				t.Errorf("resource blocks %q, want %q", profiles, want)
			}
		})
	}
}

// TestMoved: a stack has moved blocks only for VMs whose address changed, in one
// chain, and none away from the current address.
func TestMoved(t *testing.T) {
	for name, c := range map[string]struct {
		specs []string
		want  string
	}{
		"new":                   {[]string{"vms: {x: {profile: protected}, y: {}}"}, ""},
		"one of two":            {[]string{"vms: {x: {}, y: {}}", "vms: {x: {profile: protected}, y: {}}"}, `this["x"] > protected["x"]`},
		"and back":              {[]string{"vms: {x: {}}", "vms: {x: {profile: protected}}", "vms: {x: {}}"}, `protected["x"] > this["x"]`},
		"a chain":               {[]string{"vms: {x: {}}", "renamed: {x: y}\nvms: {y: {}}", "vms: {y: {profile: adopted}}"}, `this["x"] > this["y"], this["y"] > adopted["y"]`},
		"protected and retired": {[]string{"vms: {x: {profile: protected}, y: {profile: protected}}", "retired: [x]\nvms: {y: {profile: protected}}"}, `protected["x"] > this["x"]`},
		"moved and forgotten":   {[]string{"vms: {x: {}}", "vms: {x: {profile: protected}}", "forgotten: [x]\nvms: {}"}, ""},
		"line removed":          {[]string{"vms: {x: {}}", "renamed: {x: y}\nvms: {y: {}}", "vms: {y: {}, z: {}}"}, `this["x"] > this["y"]`},
	} {
		t.Run(name, func(t *testing.T) {
			body, exists := rendered(t, c.specs...)["stacks/a/moved/proxmox-vm.tf"]
			var got []string
			for _, m := range regexp.MustCompile(`(?s)from = \w+\.(\S+)\n  to   = \w+\.(\S+)\n`).FindAllStringSubmatch(body, -1) {
				got = append(got, m[1]+" > "+m[2])
			}
			if strings.Join(got, ", ") != c.want || exists != (c.want != "") {
				t.Errorf("got %q, want %q; the file exists: %v", strings.Join(got, ", "), c.want, exists)
			}
		})
	}
}

// TestLineWidth: rendered lines have 120 columns at most, where they can be broken.
func TestLineWidth(t *testing.T) {
	key := "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOGf5oyqYiE6i2O2ljzHFAXlkdO5yHNNRSpk7Fz9vZq4 admin@example"
	files := rendered(t, "dns: {zone: example.org, server: 192.0.2.53}\npool: {id: p, create: true}\nvms:\n  x:\n    cloud_init: {user: admin, ssh_keys: ["+key+"], ipv4: 192.168.20.40/24, gateway: 192.168.20.1, nameservers: [192.168.1.13]}\n"+
		"    disks: [{interface: scsi0, size: 40, datastore: local-zfs, ssd: true, discard: true, iothread: true, backup: false, serial: abcdefghijkl}, {interface: scsi1, size: 1, datastore: local-zfs}]\n")
	for path, body := range files {
		for line := range strings.Lines(body) {
			if len(line) > lineWidth+1 && !IsOurs([]byte(strings.TrimSpace(line))) {
				t.Errorf("%s: %d columns: %s", path, len(line)-1, line)
			}
		}
	}
}
