package real

import (
	"fmt"
	"strings"
	"testing"
)

// A deviceCase is a VM with a property: lines of the spec, and the entries that its
// configuration then has.
type deviceCase struct{ key, spec, want string }

// devicesSpec is a stack with a VM for each case.
func devicesSpec(cases []deviceCase) string {
	var b strings.Builder
	b.WriteString("apiVersion: stackgen/v1\nkind: Stack\nname: live\nvmids: 300-399\ndefaults: {node: pve1, template: 9002, started: false, restart: true, agent: false}\nvms:\n")
	for _, c := range cases {
		fmt.Fprintf(&b, "  %s: {%s}\n", c.key, c.spec)
	}
	return b.String()
}

// TestDevicesFromCreationToImport creates VMs with devices and options, changes them,
// loses the state and imports the VMs, and removes them from the spec before and after the
// import. Every plan after an apply is empty, and so is the plan after the import.
func TestDevicesFromCreationToImport(t *testing.T) {
	keys := []string{"vcpus", "hotplug", "watchdog", "hookscript", "hostpci0", "hostpci2"}
	before := []deviceCase{
		{"cpus", "cores: 4, vcpus: 2, hotplug: 'network,disk,cpu'", "vcpus=2 hotplug=network,disk,cpu"},
		{"dog", "watchdog: true", "watchdog=model=i6300esb,action=none"},
		{"hook", "hookscript: 'local:snippets/hook.pl'", "hookscript=local:snippets/hook.pl"},
		{"gpu", "hostpci: [{id: '0000:01:00.0'}, {device: hostpci2, mapping: gpu}]", "hostpci0=host=0000:01:00.0,pcie=0,rombar=1,x-vga=0 hostpci2=mapping=gpu,pcie=0,rombar=1,x-vga=0"},
	}
	after := []deviceCase{
		{"cpus", "cores: 4, vcpus: 3, hotplug: 'disk,usb'", "vcpus=3 hotplug=disk,usb"},
		{"dog", "watchdog: {model: ib700, action: reset}", "watchdog=model=ib700,action=reset"},
		{"hook", "hookscript: 'local:snippets/other.pl'", "hookscript=local:snippets/other.pl"},
		{"gpu", "machine: q35, hostpci: [{id: '0000:02:00', pcie: true, xvga: true, rombar: false}]", "hostpci0=host=0000:02:00,pcie=1,rombar=0,x-vga=1"},
	}
	removed := []deviceCase{
		{"cpus", "cores: 4", "hotplug=disk,usb"}, // the provider keeps what the spec does not say
		{"dog", "", ""},
		{"hook", "", ""},
		{"gpu", "machine: q35", ""},
	}
	p := newProject(t, map[string]string{"specs/live.yaml": devicesSpec(before)})
	sim := p.simulateApart()
	p.tools = p.tools.With("PROXMOX_VE_API_TOKEN=", "PROXMOX_VE_USERNAME=root@pam", "PROXMOX_VE_PASSWORD=stackgen") // hookscript is root's
	p.exportEnv()
	apply := func(cases []deviceCase) {
		t.Helper()
		p.write("specs/live.yaml", devicesSpec(cases))
		p.render()
		p.succeeds("stacks/live", "terragrunt", "stack", "run", "apply", "--non-interactive")
		for i, c := range cases {
			if got := entries(config(t, sim, 300+i), keys...); got != c.want {
				t.Errorf("%s: {%s}: got %s, want %s", c.key, c.spec, got, c.want)
			}
		}
		p.contains(p.succeeds("stacks/live", "terragrunt", "stack", "run", "plan", "--non-interactive"), "No changes.")
	}
	apply(before)
	apply(after)
	apply(removed)
	apply(after)
	p.remove(".state")
	p.step(0, "import-blocks --verify")
	apply(after) // the import
	apply(after) // what settles
	apply(removed)
}
