package pve

import "testing"

func TestPvesh(t *testing.T) {
	for got, want := range map[string]string{
		Pvesh("get", "/nodes/pve1/qemu/100/config"):                                         "pvesh get /nodes/pve1/qemu/100/config",
		Pvesh("set", "/nodes/a b/qemu/100/config", "--delete agent", "--net0 'virtio=a b'"): "pvesh set '/nodes/a b/qemu/100/config' --delete agent --net0 'virtio=a b'",
	} {
		if got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	}
}
