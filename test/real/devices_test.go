//go:build unix

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
	t.Parallel()
	keys := []string{"vcpus", "hotplug", "watchdog", "hookscript", "hostpci0", "hostpci2", "numa0", "numa1", "virtiofs0", "virtiofs1", "amd-sev", "audio0", "cicustom", "citype", "ciupgrade", "ipconfig1", "ipconfig3"}
	before := []deviceCase{
		{"cpus", "cores: 4, vcpus: 2, hotplug: 'network,disk,cpu'", "vcpus=2 hotplug=network,disk,cpu"},
		{"dog", "watchdog: true", "watchdog=model=i6300esb,action=none"},
		{"hook", "hookscript: 'local:snippets/hook.pl'", "hookscript=local:snippets/hook.pl"},
		{"gpu", "hostpci: [{id: '0000:01:00.0'}, {device: hostpci2, mapping: gpu}]", "hostpci0=host=0000:01:00.0,pcie=0,rombar=1,x-vga=0 hostpci2=mapping=gpu,pcie=0,rombar=1,x-vga=0"},
		{"cloud", "cloud_init: {user_data: 'shared:snippets/user.yaml', meta_data: 'shared:snippets/meta.yaml', type: configdrive2, upgrade: false}", "cicustom=meta=shared:snippets/meta.yaml,user=shared:snippets/user.yaml citype=configdrive2 ciupgrade=0"},
		{"router", "networks: [{}, {}, {}, {}], cloud_init: {ip_configs: [{ipv4: 192.0.2.9/24, gateway: 192.0.2.1}, {device: net3, ipv6: auto}]}", "ipconfig1=gw=192.0.2.1,ip=192.0.2.9/24 ipconfig3=ip6=auto"},
		{"slow", "stop_on_destroy: true, delete_unreferenced_disks: false, timeouts: {shutdown: 60, stop: 30}", ""},
		{"cells", "numa: true, memory: 2048, numa_nodes: [{cpus: 0, memory: 1024, host_nodes: 0}, {cpus: 1, memory: 1024, host_nodes: 0-1, policy: bind}]", "numa0=cpus=0,hostnodes=0,memory=1024,policy=preferred numa1=cpus=1,hostnodes=0-1,memory=1024,policy=bind"},
		{"files", "virtiofs: [{mapping: media, expose_acl: true}, {mapping: home, cache: never, direct_io: true}]", "virtiofs0=dirid=media,cache=auto,direct-io=0,expose-acl=1 virtiofs1=dirid=home,cache=never,direct-io=1,expose-acl=0,expose-xattr=0"},
		{"secret", "bios: ovmf, amd_sev: std", "amd-sev=type=std,allow-smt=0,kernel-hashes=0,no-debug=0,no-key-sharing=0"},
		{"sound", "audio: ich9-intel-hda", "audio0=device=ich9-intel-hda,driver=spice"},
	}
	after := []deviceCase{
		{"cpus", "cores: 4, vcpus: 3, hotplug: 'disk,usb'", "vcpus=3 hotplug=disk,usb"},
		{"dog", "watchdog: {model: ib700, action: reset}", "watchdog=model=ib700,action=reset"},
		{"hook", "hookscript: 'local:snippets/other.pl'", "hookscript=local:snippets/other.pl"},
		{"gpu", "machine: q35, hostpci: [{id: '0000:02:00', pcie: true, xvga: true, rombar: false}]", "hostpci0=host=0000:02:00,pcie=1,rombar=0,x-vga=1"},
		{"cloud", "cloud_init: {user_data: 'shared:snippets/user.yaml', meta_data: 'shared:snippets/meta.yaml', type: configdrive2, upgrade: true}", "cicustom=meta=shared:snippets/meta.yaml,user=shared:snippets/user.yaml citype=configdrive2 ciupgrade=1"},
		{"router", "networks: [{}, {}, {}, {}], cloud_init: {ip_configs: [{ipv4: 192.0.2.10/24, ipv6: dhcp}, {device: net3, ipv6: auto}]}", "ipconfig1=ip=192.0.2.10/24,ip6=dhcp ipconfig3=ip6=auto"},
		{"slow", "stop_on_destroy: false, timeouts: {shutdown: 90, start: 90}", ""},
		{"cells", "numa: true, memory: 2048, numa_nodes: [{device: numa1, cpus: 0-1, memory: 2048, host_nodes: 1, policy: interleave}]", "numa1=cpus=0-1,hostnodes=1,memory=2048,policy=interleave"},
		{"files", "virtiofs: [{mapping: home, expose_xattr: true}]", "virtiofs0=dirid=home,cache=auto,direct-io=0,expose-acl=0,expose-xattr=1"},
		{"secret", "bios: ovmf, amd_sev: std", "amd-sev=type=std,allow-smt=0,kernel-hashes=0,no-debug=0,no-key-sharing=0"}, // a change would replace it
		{"sound", "audio: AC97", "audio0=device=AC97,driver=spice"},
	}
	removed := []deviceCase{
		{"cpus", "cores: 4", "hotplug=disk,usb"}, // the provider keeps what the spec does not say
		{"dog", "", ""},
		{"hook", "", ""},
		{"gpu", "machine: q35", ""},
		{"cloud", "", "cicustom=meta=shared:snippets/meta.yaml,user=shared:snippets/user.yaml citype=configdrive2 ciupgrade=1"},
		{"router", "networks: [{}, {}, {}, {}], cloud_init: {ip_configs: [{ipv4: dhcp}, {device: net3, ipv6: auto}]}", "ipconfig1=ip=dhcp ipconfig3=ip6=auto"}, // the provider never removes addresses
		{"slow", "", ""},
		{"cells", "numa: true, memory: 2048", "numa1=cpus=0-1,hostnodes=1,memory=2048,policy=interleave"},
		{"files", "", ""},
		{"secret", "bios: ovmf, amd_sev: std", "amd-sev=type=std,allow-smt=0,kernel-hashes=0,no-debug=0,no-key-sharing=0"},
		{"sound", "", ""},
	}
	p := newProject(t, map[string]string{"specs/live.yaml": devicesSpec(before)})
	sim := p.simulate()
	sim.Change(snippets)
	p.tools = p.tools.With("PROXMOX_VE_API_TOKEN=", "PROXMOX_VE_USERNAME=root@pam", "PROXMOX_VE_PASSWORD=stackgen") // hookscript is root's
	apply := func(cases []deviceCase) {
		t.Helper()
		p.write("specs/live.yaml", devicesSpec(cases))
		p.render()
		p.succeeds("stacks/live", "terragrunt", "stack", "run", "apply", "--non-interactive")
		p.noDrift()
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
