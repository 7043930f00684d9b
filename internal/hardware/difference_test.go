package hardware

import (
	"testing"

	"stackgen/internal/cluster"
)

// TestDiffers: a VM whose address ends with that of its spec has another one, and one with
// another gateway has not.
func TestDiffers(t *testing.T) {
	const address = "initialization.ip_config.ipv4.address"
	for entry, want := range map[string]bool{
		"ip=10.0.0.1/24,gw=10.0.0.254":  false,
		"ip=10.0.0.1/24,gw=10.0.0.253":  false,
		"ip=110.0.0.1/24,gw=10.0.0.254": true,
		"ip=dhcp":                       true,
	} {
		v := vm(t, "cloud_init: {ipv4: 10.0.0.1/24, gateway: 10.0.0.254}")
		g := &cluster.Guest{VMID: 100, Node: "pve1", Config: &cluster.Config{Raw: map[string]string{"ide2": "ssd:vm-100-cloudinit,media=cdrom", "ipconfig0": entry, "net0": "virtio=BC:24:11:00:00:01,bridge=vmbr0"}}}
		got := false
		for _, d := range Read(g).Missing(v) {
			got = got || d.Differs(address)
		}
		if got != want {
			t.Errorf("%s: the address differs: %v, want %v", entry, got, want)
		}
	}
}
