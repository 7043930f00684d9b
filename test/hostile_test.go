package test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"stackgen/cmd"
)

// TestHostileText: control characters, bidi controls and workflow commands in a
// spec's path, a registration path or a name in the cluster reach no output.
func TestHostileText(t *testing.T) {
	t.Chdir(t.TempDir())
	const hostile, file = "specs/x\x1b[31m.yaml", "specs/x.yaml"
	spec := "apiVersion: stackgen/v1\nkind: Stack\nname: lab\nvmids: 2100-2199\ndefaults: {node: pve1, template: 9000}\nvms:\n  web01: {}\n"
	writeFile(t, hostile, spec)
	for _, format := range []string{"text", "json", "sarif", "github"} {
		said(t, 1, "render", "--format", format)
		said(t, 1, "validate", "--format", format)
	}
	said(t, 1, "preflight")
	check(t, os.Remove(hostile))
	writeFile(t, file, spec+"  web02: {}\n")
	said(t, 0, "render")
	writeFile(t, file, spec)
	for _, format := range []string{"text", "json", "sarif", "github"} {
		said(t, 3, "render", "--format", format)
		said(t, 3, "validate", "--format", format)
	}
	writeFile(t, file, spec+"  web02: {}\n")
	writeFile(t, "inv.json", `{"version":1,"taken":"2026-01-01T00:00:00Z","endpoint":"https://pve:8006","release":"8.4.21","quorate":true,
"nodes":[{"name":"pve1","online":true}],"pools":[],"storages":[],"tasks":[],"free":[],"gaps":[],"records":[],"guests":[
{"vmid":2100,"node":"pve1","kind":"qemu","name":"web\u202e01\u001b[31m\n::error::x","status":"running","config":{"raw":{"name":"x","description":"\u202e\n::error::x"}}},
{"vmid":2150,"node":"pve1","kind":"qemu","name":"lab-web02","status":"running","tags":["\u202e\n::error::x"],"pool":"\u009bx","config":{"raw":{"name":"lab-web02"}}}]}`)
	check(t, os.MkdirAll("state/lab/proxmox-vm", 0o755))
	writeFile(t, "state/lab/proxmox-vm/tofu.tfstate", "")
	for _, format := range []string{"text", "json", "junit", "github", "markdown"} {
		said(t, 3, "preflight", "--inventory", "inv.json", "--state", "state", "--format", format)
	}
	said(t, 3, "preflight", "--inventory", "inv.json", "--state", "state", "--verbose")
	said(t, 3, "import-blocks", "--inventory", "inv.json", "--state", "state")
	said(t, 3, "guard", "lab/proxmox-vm", "--inventory", "inv.json", "--state", "state", "--", "apply")
	said(t, 0, "snapshot", "--inventory", "inv.json", "--format", "text")
	said(t, 0, "snapshot", "--inventory", "inv.json")
	const outputs = `{"version":4,"lineage":"x","resources":[],"outputs":{"meta":{"value":{"web01":META}},"vms":{"value":VMS}}}`
	const text, own = `"a\n::error::x\u001b[31m\u009b\u202e"`, `"web02":{"id":2101,"name":"b","node":"pve1"},"web01":{"id":2100,"name":"a","node":"pve1"`
	for vms, want := range map[string]int{`{` + own + `}}`: 0, `{` + own + `,"ipv4":` + text + `}}`: 1, `{` + text + `:{"id":1}}`: 1, text: 1} {
		writeFile(t, "state/lab/proxmox-vm/tofu.tfstate", strings.NewReplacer("META", `{`+text+`:`+text+`}`, "VMS", vms).Replace(outputs))
		for _, format := range []string{"json", "csv", "ansible", "ssh", "hosts"} {
			said(t, want, "outputs", "--state", "state", "--format", format)
		}
	}
	said(t, 1, "adopt", "x\x1b[31m=1\u202e")
	said(t, 1, "no\x1b[31mcommand")

	writeFile(t, file, spec+"  web02: {}\noutputs: {registration: \"registration/x\\n::error::x\"}\n")
	for _, format := range []string{"text", "json", "sarif", "github"} {
		said(t, 1, "validate", "--format", format)
	}
}

// controls are characters that change how a terminal shows others.
var controls = regexp.MustCompile("[\x00-\x08\x0b-\x1f\x7f\u0080-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069]|(?m:^\\s*::error::)")

// said runs stackgen, and fails if something in its output does harm.
func said(t *testing.T, want int, args ...string) {
	t.Helper()
	var out bytes.Buffer
	code := cmd.Main(append([]string{"stackgen"}, args...), zeros{}, strings.NewReader(""), &out, &out)
	if found := controls.FindString(out.String()); code != want || found != "" {
		t.Errorf("%q: exit %d, want %d; has %q\n%s", args, code, want, found, out.String())
	}
}

func writeFile(t *testing.T, file, body string) {
	t.Helper()
	check(t, os.MkdirAll(filepath.Dir(file), 0o755))
	check(t, os.WriteFile(file, []byte(body), 0o600))
}
