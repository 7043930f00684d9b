package pve

import "testing"

func TestPvesh(t *testing.T) {
	for got, want := range map[string]string{
		Pvesh("get", "/nodes/pve1/qemu/100/config"):                                         "pvesh get /nodes/pve1/qemu/100/config",
		Pvesh("set", "/nodes/a b/qemu/100/config", "--delete agent", "--net0 'virtio=a b'"): "pvesh set '/nodes/a b/qemu/100/config' --delete agent --net0 'virtio=a b'",
		SetStorage("tank", "content", "images,rootdir"):                                     "pvesm set tank --content images,rootdir",
		SetStorage("a;b", "nodes", "pve1,$(id)"):                                            "pvesm set 'a;b' --nodes 'pve1,$(id)'",
		SetPool("lab", "--vms 100"):                                                         "pvesh set /pools/lab --vms 100",
		// The method for one pool does not know nested ones.
		SetPool("lab/web", "--vms 100", "--delete 1"): "pvesh set /pools --poolid lab/web --vms 100 --delete 1",
	} {
		if got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	}
}
