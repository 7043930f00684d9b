package proxmox

import "testing"

// TestReason: what a program has written is the reason, and its long command is not.
func TestReason(t *testing.T) {
	const resize = "command '/usr/bin/qemu-img resize -f qcow2 /mnt/a/vm-1-disk-0.qcow2 8589934592' failed: exit code 1"
	for _, c := range []struct {
		exit string
		log  []string
		want string
	}{
		{resize, []string{"qemu-img: Failed to grow the L1 table: No space left on device", "TASK ERROR: " + resize},
			"command '/usr/bin/qemu-img ...' failed: exit code 1: qemu-img: Failed to grow the L1 table: No space left on device"},
		{resize, []string{"", "TASK ERROR: " + resize}, "command '/usr/bin/qemu-img ...' failed: exit code 1"},
		{"start failed: command '/usr/bin/kvm -id 1 -name 'a,b' -m 512' failed: got timeout", nil,
			"start failed: command '/usr/bin/kvm ...' failed: got timeout"},
		{"start failed: QEMU exited with code 1", []string{"kvm: cannot set up guest memory 'pc.ram': Cannot allocate memory"},
			"start failed: QEMU exited with code 1: kvm: cannot set up guest memory 'pc.ram': Cannot allocate memory"},
	} {
		if got := reasonOf(c.exit, c.log); got != c.want {
			t.Errorf("%q:\n got %q\nwant %q", c.exit, got, c.want)
		}
	}
	for exit, asks := range map[string]bool{resize: true, "start failed: QEMU exited with code 1": true, "got timeout": false} {
		if program.MatchString(exit) != asks {
			t.Errorf("%q: the log is asked for: %v", exit, !asks)
		}
	}
}
