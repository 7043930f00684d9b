package test

import (
	"bufio"
	"crypto/tls"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"stackgen/internal/pvesim"
)

// TestSimCommand starts the simulator as a person would, uses what it prints, and
// ends it: its state is then in the file, and loads again.
func TestSimCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bin := filepath.Join(dir, "stackgen")
	if out, err := exec.Command("go", "build", "-o", bin, "../cmd/stackgen").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	state, log := filepath.Join(dir, "state.yaml"), filepath.Join(dir, "log.jsonl")
	sim := exec.Command(bin, "sim", "--save", state, "--log", log)
	stdout, err := sim.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := sim.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sim.Process.Kill() }) // ended already, unless a check failed
	env := map[string]string{}
	for lines := bufio.NewScanner(stdout); len(env) < 3 && lines.Scan(); {
		name, value, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "export "), "=")
		env[name] = strings.Trim(value, "'")
	}
	secret := env["PROXMOX_VE_API_TOKEN"]
	req, err := http.NewRequest("GET", env["PROXMOX_VE_ENDPOINT"]+"api2/json/nodes/pve1/qemu/9002/config", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "PVEAPIToken="+secret)
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: env["PROXMOX_VE_INSECURE"] == "true"}}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if resp.Body.Close(); err != nil || resp.StatusCode != 200 || !strings.Contains(string(body), "ubuntu-22.04-template") {
		t.Errorf("%d %s %v", resp.StatusCode, body, err)
	}
	client.CloseIdleConnections()
	if err := sim.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := sim.Wait(); err != nil {
		t.Errorf("the simulator ended with %v", err)
	}
	saved, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	if seed, err := pvesim.ParseSeed(saved); err != nil || len(seed.Nodes) != 3 {
		t.Errorf("the saved state does not load: %v", err)
	}
	requests, err := os.ReadFile(log)
	if _, key, _ := strings.Cut(secret, "="); err != nil || !strings.Contains(string(requests), "9002/config") || strings.Contains(string(requests), key) {
		t.Errorf("the log lacks the request or holds the secret: %v\n%s", err, requests)
	}
}
