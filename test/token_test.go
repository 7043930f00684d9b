package test

import (
	"bytes"
	"strings"
	"testing"

	"stackgen/cmd"
)

// TestMalformedToken: status names credentials that cannot be right, as the other commands do. Only
// without any it says what the lock knows.
func TestMalformedToken(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"specs/lab.yaml": "apiVersion: stackgen/v1\nkind: Stack\nname: lab\nvmids: 2100-2199\n" +
		"defaults: {node: pve1, template: 9000}\nvms: {web01: {vmid: 2100}}\n"})
	t.Chdir(dir)
	run := func(token string, args ...string) (int, string) {
		t.Setenv("PROXMOX_VE_ENDPOINT", "https://pve.example:8006/")
		t.Setenv("PROXMOX_VE_API_TOKEN", token)
		var out bytes.Buffer
		code := cmd.Main(append([]string{"stackgen"}, args...), zeros{}, strings.NewReader(""), &out, &out)
		return code, out.String()
	}
	for _, args := range [][]string{{"status"}, {"console", "web01"}, {"power", "stop", "--yes", "web01"}, {"reset", "--yes", "web01"}} {
		const want = "stackgen: PROXMOX_VE_API_TOKEN does not have the form USER@REALM!TOKENID=UUID\n"
		if code, out := run("root@pam!ci", args...); code != 1 || out != want {
			t.Errorf("%v: exit %d, %s", args, code, out)
		}
	}
	if code, out := run("", "status"); code != 0 || !strings.Contains(out, "note: no cluster is configured") {
		t.Errorf("without a token: exit %d, %s", code, out)
	}
}
