package generator

import (
	"strings"
	"testing"

	"stackgen/internal/lock"
	"stackgen/schema"
)

// TestOmittedBlocks leaves out a block that the provider reads as absent, and
// only then: what a state has already would otherwise be removed from it.
func TestOmittedBlocks(t *testing.T) {
	for _, c := range []struct{ own, block, want string }{
		{"", "cpu", `{ cores = 2, sockets = 1, type = "x86-64-v2-AES" }`},
		{"cores: 1, cpu_type: qemu64", "cpu", ""},
		{"cores: 1, cpu_type: qemu64, numa: false", "cpu", `{ cores = 1, sockets = 1, type = "qemu64", numa = false }`},
		{"cores: 1, cpu_type: qemu64, cpu_flags: [+aes]", "cpu", `{ cores = 1, sockets = 1, type = "qemu64", flags = ["+aes"] }`},
		{"memory: 512", "memory", "{ dedicated = 512, floating = 512 }"},
		{"memory: 512, balloon: 0", "memory", ""},
		{"os_type: other", "operating_system", ""},
		{"agent: {enabled: false, trim: true}", "agent", ""},
		{"agent: {trim: true}", "agent", "{ enabled = true, trim = true }"},
		{"vga: std", "vga", ""},
		{"vga: {memory: 16}", "vga", `{ type = "std", memory = 16 }`},
		{"tpm: local-lvm", "tpm_state", `{ datastore_id = "local-lvm", version = "v2.0" }`},
		{"cloud_init: false", "initialization", ""},
	} {
		spec, _ := schema.Parse("lab.yaml", []byte("apiVersion: stackgen/v1\nkind: Stack\nname: lab\nvmids: 100-199\ndefaults: {node: pve1, template: 9000}\nvms:\n  a: {"+c.own+"}\n"))
		p, problems := schema.Join(nil, []schema.Input{{Spec: spec, Label: "lab.yaml"}}, nil)
		if schema.HasErrors(problems) {
			t.Fatal(problems)
		}
		got := ""
		for _, pair := range vmShape().literal(withDecisions(p.Stacks[0].VMs[0], &lock.VM{VMID: 100, Node: "pve1"})) {
			if pair.key == c.block {
				got = strings.TrimSpace(string(pair.value.Bytes()))
			}
		}
		if got != c.want {
			t.Errorf("{%s}: %s is %s, want %s", c.own, c.block, got, c.want)
		}
	}
}
