package proxmox

import "testing"

// TestMeetsLock: what Proxmox VE says of a locked guest is known however OpenTofu breaks the line.
func TestMeetsLock(t *testing.T) {
	for text, want := range map[string]bool{
		"Error: can't lock file '/var/lock/qemu-server/lock-300.conf' - got timeout": true,
		"│ can't lock file\n'/var/lock/qemu-server/lock-300.conf' - got\ntimeout":    true,
		"Error: can't lock file '/run/lock/lxc/pve-config-701.lock' - got timeout":   true,
		"VM is locked (backup)": false,
		"cfs-lock 'storage-local' error: got lock request timeout": false,
	} {
		if MeetsLock(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}
