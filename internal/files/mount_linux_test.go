package files

import (
	"syscall"
	"testing"
)

// mountSmall mounts a file system of 128 KiB for the length of a test, or skips the test.
func mountSmall(t *testing.T, dir string) {
	t.Helper()
	if err := syscall.Mount("disk-test", dir, "tmpfs", 0, "size=128k"); err != nil {
		t.Skip("cannot mount a small file system: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
}
