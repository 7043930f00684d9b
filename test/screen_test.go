package test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"stackgen/cmd"
)

// classSpec is a class of some students and a teacher.
func classSpec(students int) string {
	return fmt.Sprintf("apiVersion: stackgen/v1\nkind: Class\nname: cs101\nvmids: 2100-2199\ntemplate: 9000\nplacement: {strategy: fixed, nodes: [pve1]}\nstudents: {count: %d}\nteacher: {}\ndefaults: {networks: [{mac: auto}]}\n", students)
}

// TestReportsFitOnAScreen: what a lost state of 21 VMs and the removal of 15
// students print fits on a terminal of 24 lines, with one line to paste.
func TestReportsFitOnAScreen(t *testing.T) {
	t.Chdir(t.TempDir())
	run := func(want int, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		if code := cmd.Main(append([]string{"stackgen"}, args...), zeros{}, strings.NewReader(""), &out, &out); code != want {
			t.Fatalf("%q: exit %d, want %d\n%s", args, code, want, out.String())
		}
		return out.String()
	}
	fits := func(name, out string) {
		t.Helper()
		if n := strings.Count(out, "\n"); n > 24 {
			t.Errorf("%s: %d lines\n%s", name, n, out)
		}
	}
	writeFile(t, "specs/cs101.yaml", classSpec(20))
	run(0, "render")
	var keys []string
	for i := range 20 {
		keys = append(keys, fmt.Sprintf("student%d", i+1))
	}
	keys = append(keys, "teacher")
	writeFile(t, "state/cs101/proxmox-vm/tofu.tfstate", "")
	var guests []string
	lock := string(read(t, "stackgen.lock.yaml"))
	for i, key := range keys {
		guests = append(guests, fmt.Sprintf(`{"vmid":%d,"node":"pve1","kind":"qemu","name":"cs101-%s","status":"stopped","config":{"uuid":"u%d","raw":{"name":"cs101-%s"}}}`, 2100+i, key, 2100+i, key))
		vmid := fmt.Sprintf("vmid: %d,", 2100+i)
		lock = strings.Replace(lock, vmid, fmt.Sprintf("fingerprint: {uuid: u%d}, %s", 2100+i, vmid), 1)
	}
	writeFile(t, "stackgen.lock.yaml", lock)
	writeFile(t, "inv.json", `{"version":1,"taken":"2026-01-01T00:00:00Z","endpoint":"https://pve:8006","release":"8.4.21","quorate":true,
"nodes":[{"name":"pve1","online":true}],"pools":[],"storages":[],"tasks":[],"free":[],"gaps":[],"records":[],"guests":[`+strings.Join(guests, ",")+`]}`)

	out := run(3, "guard", "cs101/proxmox-vm", "--inventory", "inv.json", "--state", "state", "--", "apply")
	fits("guard", out)
	if !strings.HasPrefix(out, "stackgen guard refuses the apply of cs101/proxmox-vm") || strings.Count(out, "stackgen import-blocks") != 1 {
		t.Errorf("guard prints\n%s", out)
	}
	if all := run(2, "preflight", "--inventory", "inv.json", "--state", "state", "--verbose"); strings.Count(all, "cs101/student") != 20 {
		t.Errorf("preflight --verbose prints\n%s", all)
	}

	writeFile(t, "specs/cs101.yaml", classSpec(5))
	out = run(3, "render")
	fits("render", out)
	if !strings.HasPrefix(out, "blocked: fix 15 findings") || strings.Count(out, "retired: [") != 1 || !strings.Contains(out, "student6, ") || !strings.Contains(out, "student20]") {
		t.Errorf("render prints\n%s", out)
	}
}
