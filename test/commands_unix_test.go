//go:build unix

package test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stackgen/cmd"
)

// hostile is a name that is a command in every place where it is not quoted.
const hostile = "x y'z\"$(pwned)`pwned`;pwned&pwned|pwned\\"

// hostileInURL has what a URL may have.
const hostileInURL = "$(pwned);pwned&pwned|pwned*"

// printed are the lines of outputs that are commands.
var printed = regexp.MustCompile(`(?m)(?:^\s*|^Next: .* run .)((?:\((?:cd|umask) |(?:stackgen|terragrunt|tofu|git|qm|pvesh|pveum|pvecm|dig|printf|mkdir|mv|aws|export) ).*)$`)

// TestPrintedCommandsUnderHostileNames runs every printed command line in a POSIX shell
// in which all programs are stand-ins that record their arguments: nothing else may
// run, and a name must be one argument, or a part of one.
func TestPrintedCommandsUnderHostileNames(t *testing.T) {
	p := &paster{T: t, bin: standIns(t)}
	t.Run("folders and files", func(t *testing.T) {
		t.Chdir(t.TempDir())
		p.run(0, "init", hostile)
		p.run(0, "render", hostile)
		check(t, os.Rename(hostile+"/specs/example.yaml", hostile+"/specs/"+hostile+".yaml"))
		p.run(0, "render", hostile)
		check(t, os.Remove(hostile+"/specs/"+hostile+".yaml"))
		p.run(3, "render", hostile)
		t.Chdir(hostile)
		p.run(3, "render")
		p.run(0, "init", "--", "-rf")
		p.run(0, "render", "--", "-rf")
	})
	t.Run("endpoints", func(t *testing.T) {
		t.Chdir(t.TempDir())
		for _, backend := range []string{"{type: s3, bucket: states, region: eu, endpoint: 'https://a/" + hostileInURL + "'}", "{}",
			"{type: s3, bucket: states, region: eu, endpoint: 'https://b/" + hostileInURL + "'}"} {
			writeFile(t, "specs/lab.yaml", "apiVersion: stackgen/v1\nkind: Stack\nname: lab\nvmids: 2100-2199\nbackend: "+backend+"\ndefaults: {node: pve1, template: 9000}\nvms: {web01: {}}\n")
			code := 3
			if backend[1] == 't' && strings.Contains(backend, "//a/") {
				code = 0
			}
			p.run(code, "render")
		}
	})
	t.Run("cluster", func(t *testing.T) {
		t.Chdir(t.TempDir())
		writeFile(t, "specs/lab.yaml", "apiVersion: stackgen/v1\nkind: Stack\nname: lab\nvmids: 2100-2199\nprofiles: {tied: {ignore_changes: [tags]}}\ndefaults: {node: pve1, template: 9000}\n"+
			"dns: {zone: example.org, server: ns.example.org}\nvms: {web01: {}, web02: {profile: tied}, web03: {}, web04: {}, web05: {adopt: {vmid: 2104}, profile: default}}\n")
		p.run(0, "render")
		writeFile(t, "inv.json", hostileInventory(t))
		writeFile(t, "state/lab/proxmox-vm/tofu.tfstate", `{"version":4,"terraform_version":"1.12.0","serial":1,"lineage":"x","outputs":{},"resources":[
{"mode":"managed","type":"proxmox_virtual_environment_vm","name":"tied","provider":"provider[\"registry.opentofu.org/bpg/proxmox\"]","instances":[{"index_key":"web02","schema_version":0,"attributes":{"id":"2101","vm_id":2101,"name":"lab-web02","node_name":"pve1"}},
{"index_key":"`+strings.ReplaceAll(strings.ReplaceAll(hostile, `\`, `\\`), `"`, `\"`)+`","schema_version":0,"attributes":{"id":"2150","vm_id":2150,"name":"x","node_name":"pve1"}}]}]}`)
		for _, args := range [][]string{{"preflight"}, {"preflight", "--verbose"}, {"import-blocks"}, {"guard", "lab/proxmox-vm"}} {
			args = append(args, "--inventory", "inv.json", "--state", "state")
			if args[0] == "guard" {
				args = append(args, "--", "apply")
			}
			p.run(3, args...)
		}
		writeFile(t, "plan.json", hostilePlan(t))
		p.run(3, "preflight", "--inventory", "inv.json", "--state", "state", "--plan", "lab/proxmox-vm=plan.json")
		p.run(3, "adopt", "--by-name", "--match", "--inventory", "inv.json", "--state", "state")
	})
	if p.lines < 30 || p.withName < 15 {
		t.Errorf("%d command lines, %d with a hostile name: that proves little", p.lines, p.withName)
	}
	t.Logf("%d command lines, %d with a hostile name", p.lines, p.withName)
}

// hostileInventory is a cluster in which every name is hostile.
func hostileInventory(t *testing.T) string {
	t.Helper()
	guest := func(vmid int, name, lock string, raw map[string]any) map[string]any {
		raw["name"] = name
		return map[string]any{"vmid": vmid, "node": hostile, "kind": "qemu", "name": name, "status": "running", "lock": lock, "pool": hostile,
			"tags": []string{hostile}, "config": map[string]any{"raw": raw}}
	}
	body, err := json.Marshal(map[string]any{"version": 1, "taken": "2026-01-01T00:00:00Z", "endpoint": "https://pve:8006/" + hostileInURL, "release": "8.4.21", "quorate": true,
		"nodes": []any{map[string]any{"name": "pve1", "online": true}, map[string]any{"name": hostile, "online": true}}, "storages": []any{}, "free": []any{}, "gaps": []any{}, "records": []any{},
		"pools": []any{map[string]any{"id": hostile}},
		"tasks": []any{map[string]any{"upid": "UPID:" + hostile, "node": hostile, "type": "qmigrate", "vmid": 2102, "user": hostile}},
		"guests": []any{
			guest(2100, hostile, "", map[string]any{"net0": "virtio=AA:BB:CC:00:00:01,bridge=" + hostile}),
			guest(2101, "lab-web02", "", map[string]any{"net0": "virtio=AA:BB:CC:00:00:02,bridge=vmbr0"}),
			guest(2102, "lab-web03", "migrate", map[string]any{}),
			guest(2103, "lab-web04", "clone", map[string]any{}),
			guest(2104, "lab-web05", "", map[string]any{"ide3": hostile + ",media=cdrom", "tags": strings.ToUpper(hostile), "scsi0": "local:" + hostile + ",size=512M", "bios": hostile}),
			guest(2160, "lab-web01", "", map[string]any{}),
			guest(2161, hostile, "", map[string]any{}),
		}})
	check(t, err)
	return string(body)
}

// hostilePlan imports web05, whose hardware has hostile names, and changes it.
func hostilePlan(t *testing.T) string {
	t.Helper()
	web05 := func(change map[string]any) map[string]any {
		change["id"], change["vm_id"], change["name"], change["node_name"] = "2104", 2104, "lab-web05", hostile
		return change
	}
	body, err := json.Marshal(map[string]any{
		"format_version": "1.2", "planned_values": map[string]any{}, "resource_changes": []any{map[string]any{
			"address": `proxmox_virtual_environment_vm.this["web05"]`, "mode": "managed", "type": "proxmox_virtual_environment_vm", "name": "this", "index": "web05",
			"change": map[string]any{"actions": []string{"update"}, "importing": map[string]any{"id": hostile + "/2104"},
				"before": web05(map[string]any{"tags": []string{strings.ToUpper(hostile)}, "bios": hostile,
					"disk": []any{map[string]any{"interface": "scsi0", "datastore_id": "local", "path_in_datastore": hostile, "size": 1}}}),
				"after": web05(map[string]any{"tags": []string{}, "bios": "seabios", "disk": []any{}})},
		}}})
	check(t, err)
	return string(body)
}

// A paster runs the command lines that stackgen prints.
type paster struct {
	*testing.T
	bin             string // folder of the stand-ins
	lines, withName int
	seen            []string
}

// run runs stackgen, and every command line that it prints.
func (p *paster) run(want int, args ...string) {
	p.Helper()
	var out bytes.Buffer
	code := cmd.Main(append([]string{"stackgen"}, args...), zeros{}, strings.NewReader(""), &out, &out)
	if code != want {
		p.Errorf("%q: exit %d, want %d\n%s", args, code, want, out.String())
	}
	for _, m := range printed.FindAllStringSubmatch(out.String(), -1) {
		if line := strings.TrimSuffix(m[1], "`."); !slices.Contains(p.seen, line) {
			p.seen = append(p.seen, line)
			p.paste(line)
		}
	}
}

// paste runs one line.
func (p *paster) paste(line string) {
	p.Helper()
	dir := p.TempDir()
	log := filepath.Join(dir, "log")
	c := exec.Command("/bin/sh", "-c", "cd() { printf '%s\\0' cd \"$@\" >> \"$LOG\"; }\n"+line)
	c.Dir, c.Env = dir, []string{"PATH=" + p.bin, "LOG=" + log}
	out, _ := c.CombinedOutput()
	body, err := os.ReadFile(log)
	p.lines++
	if err != nil || strings.Contains(string(out), "not found") || strings.Contains(string(out), "yntax error") {
		p.Errorf("the line is no command, or has others in it: %s\n%s", line, out)
		return
	}
	for _, word := range strings.Split(string(body), "\x00") {
		word = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(word) // HCL in a resource address
		switch {
		case strings.HasPrefix(word, "-rf"):
			p.Errorf("a name became an option: %s", line)
		case word == "pwned":
			p.Errorf("a name became a command: %s", line)
		case strings.Contains(word, "pwned"):
			p.withName++
			if !strings.Contains(word, hostile) && !strings.Contains(word, hostileInURL) && !strings.Contains(word, strings.ToLower(hostile)) {
				p.Errorf("a name is split: %q of %s", word, line)
			}
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		p.Errorf("the line writes other files: %s: %v %v", line, entries, err)
	}
}

// standIns is a folder with a program for each word that a printed line may begin with.
func standIns(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	for _, name := range []string{"pwned", "stackgen", "terragrunt", "tofu", "git", "qm", "pvesh", "pveum", "pvecm", "dig", "nsupdate", "mkdir", "mv", "aws"} {
		body := "#!/bin/sh\nprintf '%s\\0' " + name + " \"$@\" >> \"$LOG\"\n"
		check(t, os.WriteFile(filepath.Join(bin, name), []byte(body), 0o700)) //nolint:gosec // a program
	}
	return bin
}
