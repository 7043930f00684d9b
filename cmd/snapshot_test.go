package cmd

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackgen/internal/cluster"
	"stackgen/internal/pvesim"
)

// simulated starts a simulator, points the environment at it and makes a
// project with one VM that exists and one that does not.
func simulated(t *testing.T) *pvesim.Server {
	t.Helper()
	s, err := pvesim.New(pvesim.Options{NoAuthDelay: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, pair := range s.Env() {
		name, value, _ := strings.Cut(pair, "=")
		t.Setenv(name, value)
	}
	t.Chdir(t.TempDir())
	file(t, "specs/lab.yaml", "apiVersion: stackgen/v1\nkind: Stack\nname: lab\nvmids: 300-399\ndefaults: {node: pve1, template: 9002}\n"+
		"vms:\n  registry: {name: registry, adopt: {vmid: 123}}\n  web: {name: web, vmid: 300}\n")
	return s
}

func file(t *testing.T, name, body string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
}

// run runs one command line.
func run(t *testing.T, args ...string) (code int, out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	code = Main(append([]string{"stackgen"}, args...), strings.NewReader(""), strings.NewReader(""), io.Writer(&o), &e)
	return code, o.String(), e.String()
}

func TestSnapshot(t *testing.T) {
	s := simulated(t)
	code, out, errOut := run(t, "snapshot")
	inv, err := cluster.Decode("stdout", []byte(out))
	if code != 0 || err != nil {
		t.Fatalf("exit %d, %v\n%s", code, err, errOut)
	}
	if inv.Guest(123).Config == nil || inv.Guest(9002).Config == nil || len(inv.Free) != 1 || inv.Free[0] != 300 {
		t.Errorf("guest %+v, free %v", inv.Guest(123), inv.Free)
	}
	if !strings.Contains(errOut, "requests in") || strings.Contains(out+errOut, "5f3c9a10") {
		t.Errorf("on stderr: %s", errOut)
	}
	if n := s.Counters().Writes; n != 0 {
		t.Errorf("%d writes", n)
	}
}

func TestSnapshotToAFile(t *testing.T) {
	s := simulated(t)
	for range 2 { // the second replaces the first
		if code, out, errOut := run(t, "snapshot", "specs", "--out", "look.json"); code != 0 || out != "" || !strings.Contains(errOut, "wrote look.json") {
			t.Fatalf("exit %d\n%s%s", code, out, errOut)
		}
	}
	info, err := os.Stat("look.json")
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	asked := s.Counters().Requests
	code, out, errOut := run(t, "snapshot", "--inventory", "look.json", "--format", "text")
	if code != 0 || !strings.Contains(out, "Proxmox VE 8.4.21, with quorum") || s.Counters().Requests != asked {
		t.Errorf("exit %d\n%s%s", code, out, errOut)
	}
	if code, _, errOut := run(t, "snapshot", "--out", "specs/lab.yaml"); code != 1 || !strings.Contains(errOut, "is not a snapshot; it was not changed") {
		t.Errorf("over a spec: exit %d, %s", code, errOut)
	}
	entries, err := os.ReadDir(".")
	if err != nil || len(entries) != 2 {
		t.Errorf("left behind: %v %v", entries, err)
	}
}

func TestSnapshotRefuses(t *testing.T) {
	s := simulated(t)
	file(t, "bad.json", "{\n  \"version\": 1,\n  \"guets\": []\n}\n")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--inventory", "bad.json"}, `bad.json:3: unknown key "guets"`},
		{[]string{"--inventory", "none.json"}, "cannot read the inventory none.json"},
		{[]string{"--format", "yaml"}, "--format takes one of json, text"},
		{[]string{"--out", ""}, "--out needs a file"},
		{[]string{"--out", "none/x.json"}, "cannot write none/x.json"},
	} {
		if code, _, errOut := run(t, append([]string{"snapshot"}, c.args...)...); code != 1 || !strings.Contains(errOut, c.want) {
			t.Errorf("%v: exit %d, %s", c.args, code, errOut)
		}
	}
	before := s.Counters().Requests
	file(t, "stackgen.yaml", "apiVersion: stackgen/v1\nkind: Project\nproxmox: {endpoint: \"https://other.example:8006\", insecure: true}\n")
	if code, _, errOut := run(t, "snapshot"); code != 1 || !strings.Contains(errOut, "but PROXMOX_VE_ENDPOINT is https://127.0.0.1") {
		t.Errorf("exit %d, %s", code, errOut)
	}
	file(t, "stackgen.yaml", "apiVersion: stackgen/v1\nkind: Project\nproxmox: {endpoint: \""+s.URL()+"\"}\n")
	if code, _, errOut := run(t, "snapshot"); code != 1 || !strings.Contains(errOut, "proxmox.insecure to false") {
		t.Errorf("exit %d, %s", code, errOut)
	}
	file(t, "stackgen.yaml", "apiVersion: stackgen/v1\nkind: Project\nproxmox: {ca_file: pki/ca.pem}\n")
	t.Setenv("PROXMOX_VE_INSECURE", "")
	if code, _, errOut := run(t, "snapshot"); code != 1 || !strings.Contains(errOut, "cannot read pki/ca.pem") {
		t.Errorf("exit %d, %s", code, errOut)
	}
	if n := s.Counters().Requests; n != before {
		t.Errorf("%d requests in spite of the disagreement", n-before)
	}
}
