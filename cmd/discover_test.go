package cmd

import (
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// TestDiscoverReadsOthers: a guest that was not asked for may have the MAC address of one that was. Of a container,
// no entry is written, and adopt refuses it; of a VM, it is said.
func TestDiscoverReadsOthers(t *testing.T) {
	s := simulated(t)
	for _, g := range []*pvesim.Guest{
		{VMID: 400, Config: map[string]string{"name": "vm", "net0": "virtio=BC:24:11:00:04:00,bridge=vmbr0"}},
		{VMID: 401, Config: map[string]string{"name": "copy", "net0": "virtio=BC:24:11:00:04:00,bridge=vmbr0"}},
		{VMID: 402, Type: "lxc", Config: map[string]string{"hostname": "ct", "net0": "name=eth0,bridge=vmbr0,hwaddr=BC:24:11:00:04:02"}},
		{VMID: 403, Config: map[string]string{"name": "twin", "net0": "virtio=BC:24:11:00:04:02,bridge=vmbr0"}},
	} {
		g.Node = "pve1"
		if err := s.Add(g); err != nil {
			t.Fatal(err)
		}
	}
	file(t, "specs/lab.yaml", "apiVersion: stackgen/v1\nkind: Stack\nname: lab\ndefaults: {node: pve1}\nvms: {registry: {name: registry, adopt: {vmid: 123}}}\n")
	code, out, errOut := run(t, "discover", "400", "402", "--dry-run")
	for _, text := range []string{"stackgen/vm has BC:24:11:00:04:00 of VM 401", "402 ct on pve1: VM 403 has its MAC address BC:24:11:00:04:02, too"} {
		if !strings.Contains(out+errOut, text) {
			t.Errorf("exit %d, without %q:\n%s%s", code, text, out, errOut)
		}
	}
	file(t, "specs/lab.yaml", "apiVersion: stackgen/v1\nkind: Stack\nname: lab\nvmids: 300-399\ndefaults: {node: pve1}\ncontainers:\n  ct: {}\n")
	code, out, errOut = run(t, "adopt", "ct=402")
	if !strings.Contains(out+errOut, "VM 403 has its MAC address BC:24:11:00:04:02, too") {
		t.Errorf("exit %d\n%s%s", code, out, errOut)
	}
}
