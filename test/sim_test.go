package test

import (
	"bufio"
	"crypto/tls"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"stackgen/internal/pvesim"
)

// TestSimCommand starts the simulator, uses the environment that it prints, and
// ends it. Its state must then be in the file, and load again.
func TestSimCommand(t *testing.T) {
	dir := t.TempDir()
	state, log := filepath.Join(dir, "state.yaml"), filepath.Join(dir, "log.jsonl")
	sim := process(t, dir, "sim", "--save", state, "--log", log)
	stdout, err := sim.StdoutPipe()
	check(t, err)
	check(t, sim.Start())
	t.Cleanup(func() { _ = sim.Process.Kill() }) // it has ended already, unless a check failed
	env := map[string]string{}
	for lines := bufio.NewScanner(stdout); len(env) < 3 && lines.Scan(); {
		name, value, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "export "), "=")
		env[name] = strings.Trim(value, "'")
	}
	secret := env["PROXMOX_VE_API_TOKEN"]
	req, err := http.NewRequest(http.MethodGet, env["PROXMOX_VE_ENDPOINT"]+"api2/json/nodes/pve1/qemu/9002/config", nil)
	check(t, err)
	req.Header.Set("Authorization", "PVEAPIToken="+secret)
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: env["PROXMOX_VE_INSECURE"] == "true"}}}
	resp, err := client.Do(req)
	check(t, err)
	body, err := io.ReadAll(resp.Body)
	check(t, resp.Body.Close())
	if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(body), "ubuntu-22.04-template") {
		t.Errorf("%d %s %v", resp.StatusCode, body, err)
	}
	client.CloseIdleConnections()
	check(t, sim.Process.Signal(syscall.SIGTERM))
	if err := sim.Wait(); err != nil {
		t.Errorf("the simulator ended with %v", err)
	}
	if seed, err := pvesim.ParseSeed(read(t, state)); err != nil || len(seed.Nodes) != 3 {
		t.Errorf("the saved state does not load: %v", err)
	}
	requests := read(t, log)
	if _, key, _ := strings.Cut(secret, "="); !strings.Contains(string(requests), "9002/config") || strings.Contains(string(requests), key) {
		t.Errorf("the log lacks the request or contains the secret:\n%s", requests)
	}
}
