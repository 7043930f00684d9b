//go:build unix

package files

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A named pipe must be neither opened, which would block forever, nor replaced.
func TestComparePipe(t *testing.T) {
	root := t.TempDir()
	for _, p := range []string{"a.tf", "root.hcl"} {
		if err := syscall.Mkfifo(filepath.Join(root, p), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	changes := mustCompare(t, root, tree{"a.tf": ours("x")})
	if kinds(changes) != "refused a.tf" || !strings.Contains(changes[0].Reason, "not a regular file") {
		t.Errorf("got %v", changes)
	}
}

// A full disk needs a small file system of its own, which only root may mount.
func TestDiskFull(t *testing.T) {
	root := t.TempDir()
	mountSmall(t, root)
	old := tree{"modules/a.tf": ours(strings.Repeat("old ", 5_000)), "modules/old.tf": ours("stale")}
	writeTree(t, root, old)
	want := tree{"modules/a.tf": ours(strings.Repeat("new ", 50_000)), "modules/new/b.tf": ours("b")}
	err := Apply(root, mustCompare(t, root, want))
	if !errors.Is(err, syscall.ENOSPC) || !strings.HasPrefix(err.Error(), "modules/a.tf: cannot be written: ") ||
		!strings.Contains(err.Error(), "make room") || strings.Contains(err.Error(), tempPrefix) {
		t.Errorf("got %v", err)
	}
	sameTree(t, readTree(t, root), withFolders(old))
}

// unprivileged renders modules/a.tf in a child process without root's privileges, also when the tests run as root, and
// returns its output.
func unprivileged(t *testing.T, files tree, folder string, mode os.FileMode) (root, output string, err error) {
	t.Helper()
	base, err := os.MkdirTemp("", "disk-unprivileged")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	root = filepath.Join(base, "project")
	writeTree(t, root, files)
	program := copyOfTest(t, base)
	for _, p := range []string{base, root} {
		if err := os.Chmod(p, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(root, folder), mode); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(root, folder), 0o755) })
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env = append(os.Environ(), childEnv+"=render", "DISK_ROOT="+root)
	if os.Geteuid() == 0 {
		const nobody = 65534
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	out, err := cmd.Output() // with -cover the runtime complains on stderr
	return root, string(out), err
}

func TestReadOnlyFolder(t *testing.T) {
	old := tree{"modules/a.tf": ours("old")}
	root, out, err := unprivileged(t, old, "modules", 0o555)
	want := "modules/a.tf: cannot be written: permission denied; give yourself access"
	if err == nil || !strings.HasPrefix(out, want) {
		t.Errorf("got %v, %s", err, out)
	}
	sameTree(t, readTree(t, root), withFolders(old))
}

// An error about a whole folder is reported once.
func TestClosedFolder(t *testing.T) {
	old := tree{"modules/a.tf": ours("old"), "modules/b.tf": ours("old")}
	root, out, err := unprivileged(t, old, "modules", 0)
	if err == nil || !strings.HasPrefix(out, "modules: cannot be opened: permission denied; ") || strings.Count(out, "\n") != 1 {
		t.Errorf("got %v, %s", err, out)
	}
	if err := os.Chmod(filepath.Join(root, "modules"), 0o755); err != nil {
		t.Fatal(err)
	}
	sameTree(t, readTree(t, root), withFolders(old))
}

func copyOfTest(t *testing.T, dir string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer closeRead(in)
	name := filepath.Join(dir, "child")
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}
