//go:build unix

package test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"stackgen/cmd"
)

// TestReadsNeverBlock: a pipe, a device, a folder or a huge file where a command reads
// a file of the project ends the command with an error that names the file.
func TestReadsNeverBlock(t *testing.T) {
	const spec = `apiVersion: stackgen/v1
kind: Class
name: lab
vmids: 2100-2199
proxmox: {ca_file: ca.pem}
defaults: {node: pve1, template: 9000, cloud_init: {ssh_keys: [key.pub]}}
students: {roster_file: roster.csv}
outputs: {registration: registration/lab.json}
`
	files := map[string]string{"specs/lab.yaml": spec, "specs/key.pub": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOGf5oyqYiE6i2O2ljzHFAXlkdO5yHNNRSpk7Fz9vZq4 a@example.org\n",
		"specs/roster.csv": "name\nAda\n", "specs/ca.pem": string(read(t, "script/shared/ca/specs/ca.pem")), "stackgen.yaml": "apiVersion: stackgen/v1\nkind: Project\n",
		"inv.json": `{"version":1,"taken":"2026-01-01T00:00:00Z","endpoint":"https://pve:8006","release":"8.4.21","quorate":true,"nodes":[{"name":"pve1","online":true}],"pools":[],"storages":[],"tasks":[],"free":[],"gaps":[],"records":[],"guests":[]}`}
	fakes := map[string]func(file string) error{
		"pipe":   func(file string) error { return syscall.Mkfifo(file, 0o600) },
		"device": func(file string) error { return os.Symlink("/dev/zero", file) },
		"folder": func(file string) error { return os.Mkdir(file, 0o700) },
		"huge":   huge,
	}
	look := []string{"preflight", "--inventory", "inv.json"}
	for _, c := range []struct {
		file    string
		command []string
		exit    int
	}{
		{"specs/lab.yaml", []string{"render", "specs/lab.yaml"}, 1},
		{"specs/other.yaml", []string{"validate"}, 1},
		{"stackgen.yaml", []string{"render"}, 1},
		{"stackgen.lock.yaml", []string{"render"}, 1},
		{"specs/key.pub", []string{"render"}, 1},
		{"specs/roster.csv", []string{"render"}, 1},
		{"specs/ca.pem", []string{"validate"}, 1},
		{"stacks/lab/stack.hcl", []string{"render"}, 3},
		{"stacks/lab/stack.hcl", look, 1},
		{"stacks/lab/imports/proxmox-vm.tf", look, 1},
		{"inv.json", append(look[:2:2], "inv.json"), 1},
	} {
		for kind, fake := range fakes {
			given := c.file == "inv.json" // a pipe that a person names is read
			if given && kind == "pipe" || c.file == "stackgen.yaml" && kind == "folder" || c.file == "specs/other.yaml" && kind == "folder" || c.file == "stacks/lab/stack.hcl" && kind == "huge" {
				continue
			}
			t.Run(strings.Join(c.command[:1], " ")+" "+c.file+" "+kind, func(t *testing.T) {
				t.Chdir(t.TempDir())
				write(t, ".", files)
				said(t, 0, "render")
				check(t, os.MkdirAll(filepath.Dir(c.file), 0o755))
				if exists(c.file) {
					check(t, os.Remove(c.file))
				}
				check(t, fake(c.file))
				inTime(t, c.exit, filepath.Base(c.file), c.command)
			})
		}
	}
}

// huge makes a file of 2 TiB that takes no space.
func huge(file string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := f.Truncate(2 << 40); err != nil {
		return err
	}
	return f.Close()
}

// inTime runs a command that must end soon, with an exit code and the name of a file.
func inTime(t *testing.T, want int, name string, args []string) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		var out bytes.Buffer
		code := cmd.Main(append([]string{"stackgen"}, args...), zeros{}, strings.NewReader(""), &out, &out)
		if code != want || !strings.Contains(out.String(), name) {
			done <- fmt.Errorf("exit %d, want %d\n%.2000s", code, want, out.String())
			return
		}
		done <- nil
	}()
	select {
	case err := <-done:
		check(t, err)
	case <-time.After(time.Minute):
		t.Fatal("the command does not end")
	}
}

// TestGivenPipes: a person may name a pipe as inventory.
func TestGivenPipes(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, ".", map[string]string{"specs/lab.yaml": "apiVersion: stackgen/v1\nkind: Stack\nname: lab\nvmids: 2100-2199\ndefaults: {node: pve1, template: 9000}\nvms: {web01: {}}\n"})
	said(t, 0, "render")
	check(t, syscall.Mkfifo("pipe", 0o600))
	go func() { _ = os.WriteFile("pipe", []byte("{}"), 0o600) }()
	inTime(t, 1, "version", []string{"preflight", "--inventory", "pipe"})
}
