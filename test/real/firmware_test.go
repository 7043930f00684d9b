//go:build unix

package real

import (
	"strings"
	"testing"
)

const firmwareSpec = `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
defaults: {node: pve1, template: 9002, agent: false, restart: true, started: false, disks: [{interface: scsi0, size: 8, datastore: local-lvm}]}
vms:
  a: {}
`

// TestFirmwareThatIsThere: the provider does not read the EFI disk and the TPM that a clone has and its spec does not. A spec
// that gets them would give the VM new ones: the old ones have its boot entries, and the keys of its disks.
func TestFirmwareThatIsThere(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"specs/live.yaml": firmwareSpec})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes")
	callAPI(t, sim, "PUT", "/nodes/pve1/qemu/300/config", map[string][]string{
		"bios": {"ovmf"}, "efidisk0": {"local-lvm:1,efitype=4m"}, "tpmstate0": {"local-lvm:1,version=v2.0"}})
	had := config(t, sim, 300)
	for property, c := range map[string]struct{ entry, says string }{
		"efi: {datastore: local-lvm, type: 4m}": {"efidisk0", "would replace the EFI disk by a new one"},
		"tpm: {datastore: local-lvm}":           {"tpmstate0", "would replace the TPM state by a new one"},
	} {
		p.write("specs/live.yaml", strings.Replace(firmwareSpec, "a: {}", "a: {bios: ovmf, "+property+"}", 1))
		p.render()
		p.deployed(3, "apply --yes", c.says, "remove "+property[:3]+" from specs/live.yaml")
		if is := config(t, sim, 300)[c.entry]; is != had[c.entry] {
			t.Errorf("%s was %v, and is %v", c.entry, had[c.entry], is)
		}
	}
	p.write("specs/live.yaml", strings.Replace(firmwareSpec, "a: {}", "a: {bios: ovmf}", 1))
	p.render()
	p.deployed(0, "apply --yes")
}
