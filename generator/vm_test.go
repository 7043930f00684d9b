package generator

import (
	"strings"
	"testing"

	"stackgen/internal/lock"
	"stackgen/schema"
)

// TestDefaultsAreSaid writes every value into the stack file, also those that are the
// provider's defaults: a clone would keep the value of its template. A VM that
// existed already has none of these blocks in its state.
func TestDefaultsAreSaid(t *testing.T) {
	for _, c := range []struct{ own, block, want string }{
		{"", "cpu", `{ cores = 2, sockets = 1, type = "x86-64-v2-AES" }`},
		{"cores: 1, cpu_type: qemu64", "cpu", `{ cores = 1, sockets = 1, type = "qemu64" }`},
		{"cores: 1, cpu_type: qemu64, numa: false", "cpu", `{ cores = 1, sockets = 1, type = "qemu64", numa = false }`},
		{"cores: 1, cpu_type: qemu64, cpu_flags: [+aes]", "cpu", `{ cores = 1, sockets = 1, type = "qemu64", flags = ["+aes"] }`},
		{"memory: 512", "memory", "{ dedicated = 512, floating = 512 }"},
		{"memory: 512, balloon: 0", "memory", "{ dedicated = 512, floating = 0 }"},
		{"os_type: other", "operating_system", `{ type = "other" }`},
		{"agent: {enabled: false, trim: true}", "agent", "{ enabled = false }"},
		{"agent: {timeout: 3s}", "agent", `{ enabled = true, timeout = "3s" }`},
		{"agent: {trim: true}", "agent", "{ enabled = true, trim = true }"},
		{"vga: std", "vga", `{ type = "std" }`},
		{"", "vga", ""},
		{"adopt: {vmid: 100}, cores: 1, cpu_type: qemu64, numa: false", "cpu", ""},
		{"adopt: {vmid: 100}, cores: 1, cpu_type: kvm64", "cpu", `{ cores = 1, sockets = 1, type = "kvm64" }`},
		{"adopt: {vmid: 100}, agent: false", "agent", ""},
		{"adopt: {vmid: 100}, vga: std", "vga", `{ type = "std" }`},
		{"vga: {memory: 16}", "vga", `{ type = "std", memory = 16 }`},
		{"disks: [{interface: scsi0, size: 8, datastore: tank}]", "clone", `{ vm_id = 9000, node_name = "pve1", full = true, datastore_id = "tank" }`},
		{"adopt: {vmid: 100}", "clone", ""},
		{"tpm: local-lvm", "tpm_state", `{ datastore_id = "local-lvm", version = "v2.0" }`},
		{"cloud_init: false", "initialization", ""},
		{"disks: [{interface: virtio0, size: 1}, {interface: scsi10, size: 2}, {interface: scsi2, size: 3}]", "disk",
			`[{ interface = "scsi2", datastore_id = "local-lvm", size = 3 }, { interface = "scsi10", datastore_id = "local-lvm", size = 2 }, { interface = "virtio0", datastore_id = "local-lvm", size = 1 }]`},
	} {
		spec, _ := schema.Parse("lab.yaml", []byte("apiVersion: stackgen/v1\nkind: Stack\nname: lab\nvmids: 100-199\ndefaults: {node: pve1, template: 9000}\nvms:\n  a: {"+c.own+"}\n"))
		p, problems := schema.Join(nil, []schema.Input{{Spec: spec, Label: "lab.yaml"}}, nil, nil)
		if schema.HasErrors(problems) {
			t.Fatal(problems)
		}
		got := ""
		for _, pair := range vmPairs(vmShape(), p.Stacks[0].VMs[0], &lock.VM{VMID: 100, Node: "pve1", Template: &lock.Template{VMID: 9000, Node: "pve1"}}) {
			if pair.key == c.block {
				got = strings.TrimSpace(string(pair.value.Bytes()))
			}
		}
		if got != c.want {
			t.Errorf("{%s}: %s is %s, want %s", c.own, c.block, got, c.want)
		}
	}
}
