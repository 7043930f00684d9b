//go:build unix

package real

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"stackgen/guest"
	"stackgen/internal/engine"
	"stackgen/internal/pvesim"
	"stackgen/internal/pvesim/clock"
	"stackgen/schema"
)

// An update changes one attribute of a running VM.
type update struct {
	attribute string // its path in the VM resource
	from, to  string // lines of the VM in the spec
	agentOnly bool   // the VM has an agent
	hard      bool   // the provider does not use the agent
}

// updates have every attribute whose change restarts a VM, needs it off, or waits for a
// restart.
var updates = []update{
	{attribute: "bios", from: "bios: seabios", to: "bios: ovmf"},
	{attribute: "machine", from: "machine: pc", to: "machine: q35"},
	{attribute: "scsi_hardware", from: "scsi_hardware: virtio-scsi-pci", to: "scsi_hardware: virtio-scsi-single"},
	{attribute: "boot_order", from: "boot_order: [scsi0]", to: "boot_order: [scsi0, net0]"},
	{attribute: "operating_system.type", from: "os_type: l26", to: "os_type: l24"},
	{attribute: "cpu.cores", from: "cores: 2", to: "cores: 3"},
	{attribute: "cpu.sockets", from: "sockets: 1", to: "sockets: 2"},
	{attribute: "cpu.type", from: "cpu_type: x86-64-v2-AES", to: "cpu_type: host"},
	{attribute: "cpu.flags", from: "cpu_flags: [+aes]", to: "cpu_flags: [-pcid]"},
	{attribute: "cpu.affinity", from: "cpu_affinity: 0-3", to: "cpu_affinity: 0-1"},
	{attribute: "cpu.numa", from: "numa: false", to: "numa: true"},
	{attribute: "cpu.units", from: "cpu_units: 1024", to: "cpu_units: 512"},
	{attribute: "cpu.limit", from: "cpu_limit: 2", to: "cpu_limit: 1"},
	{attribute: "cpu.hotplugged", from: "vcpus: 2", to: "vcpus: 1"},
	{attribute: "memory.dedicated", from: "memory: 2048", to: "memory: 2064"},
	{attribute: "memory.floating", from: "balloon: 0", to: "balloon: 1024"},
	{attribute: "agent.enabled", from: "agent: true", to: "agent: false", agentOnly: true, hard: true},
	{attribute: "agent.timeout", from: "agent: {timeout: 1m}", to: "agent: {timeout: 2m}", agentOnly: true},
	{attribute: "agent.trim", from: "agent: {trim: false}", to: "agent: {trim: true}", agentOnly: true},
	{attribute: "agent.type", from: "agent: {type: virtio}", to: "agent: {type: isa}", agentOnly: true},
	{attribute: "initialization.datastore_id", from: "cloud_init: {datastore: local-lvm}", to: "cloud_init: {datastore: shared}"},
	{attribute: "initialization.interface", from: "cloud_init: {datastore: local-lvm, interface: ide2}", to: "cloud_init: {datastore: local-lvm, interface: ide0}"},
	{attribute: "initialization.user_account.username", from: "cloud_init: {datastore: local-lvm, user: a}", to: "cloud_init: {datastore: local-lvm, user: b}"},
	{attribute: "initialization.user_account.keys", from: "cloud_init: {datastore: local-lvm, ssh_keys: [" + firstKey + "]}", to: "cloud_init: {datastore: local-lvm, ssh_keys: [" + secondKey + "]}"},
	{attribute: "initialization.ip_config.ipv4.address", from: "cloud_init: {datastore: local-lvm, ipv4: 10.9.N.1/24}", to: "cloud_init: {datastore: local-lvm, ipv4: 10.9.N.2/24}"},
	{attribute: "initialization.ip_config.ipv4.gateway", from: "cloud_init: {datastore: local-lvm, ipv4: 10.9.N.3/24, gateway: 10.9.N.254}", to: "cloud_init: {datastore: local-lvm, ipv4: 10.9.N.3/24, gateway: 10.9.N.253}"},
	{attribute: "initialization.ip_config.ipv6.address", from: "cloud_init: {datastore: local-lvm, ipv6: auto}", to: "cloud_init: {datastore: local-lvm, ipv6: dhcp}"},
	{attribute: "initialization.ip_config.ipv6.gateway", from: "cloud_init: {datastore: local-lvm, ipv6: '2001:db8::N/64', gateway6: 'fe80::1'}", to: "cloud_init: {datastore: local-lvm, ipv6: '2001:db8::N/64', gateway6: 'fe80::2'}"},
	{attribute: "initialization.upgrade", from: "cloud_init: {datastore: local-lvm, upgrade: true}", to: "cloud_init: {datastore: local-lvm, upgrade: false}"},
	{attribute: "initialization.dns.servers", from: "cloud_init: {datastore: local-lvm, nameservers: [192.0.2.1]}", to: "cloud_init: {datastore: local-lvm, nameservers: [192.0.2.2]}"},
	{attribute: "initialization.dns.domain", from: "cloud_init: {datastore: local-lvm, search_domain: a.example}", to: "cloud_init: {datastore: local-lvm, search_domain: b.example}"},
	{attribute: "disk.datastore_id", from: "disks: [{interface: scsi0, size: 8}]", to: "disks: [{interface: scsi0, size: 8, datastore: shared}]"},
	{attribute: "disk.aio", from: "disks: [{interface: scsi0, size: 8, aio: io_uring}]", to: "disks: [{interface: scsi0, size: 8, aio: threads}]"},
	{attribute: "disk.ssd", from: "disks: [{interface: scsi0, size: 8, ssd: false}]", to: "disks: [{interface: scsi0, size: 8, ssd: true}]"},
	{attribute: "disk.discard", from: "disks: [{interface: scsi0, size: 8, discard: false}]", to: "disks: [{interface: scsi0, size: 8, discard: true}]"},
	{attribute: "disk.iothread", from: "disks: [{interface: scsi0, size: 8, iothread: false}]", to: "disks: [{interface: scsi0, size: 8, iothread: true}]"},
	{attribute: "disk.cache", from: "disks: [{interface: scsi0, size: 8, cache: none}]", to: "disks: [{interface: scsi0, size: 8, cache: writeback}]"},
	{attribute: "efi_disk.datastore_id", from: "bios: ovmf, efi: {datastore: local-lvm}", to: "bios: ovmf, efi: {datastore: shared}"},
	{attribute: "tpm_state", from: "tablet: true", to: "tablet: true, tpm: {datastore: local-lvm}"},
	{attribute: "tpm_state.datastore_id", from: "tpm: {datastore: local-lvm}", to: "tpm: {datastore: shared}"},
	{attribute: "tablet_device", from: "tablet: true", to: "tablet: false"},
	{attribute: "keyboard_layout", from: "keyboard: de", to: "keyboard: fr"},
	{attribute: "usb.host", from: "usb: [{host: '1234:5678'}]", to: "usb: [{host: '1234:5679'}]"},
	{attribute: "usb.mapping", from: "usb: [{mapping: key1}]", to: "usb: [{mapping: key2}]"},
	{attribute: "usb.usb3", from: "usb: [{host: '1234:5678', usb3: false}]", to: "usb: [{host: '1234:5678', usb3: true}]"},
	{attribute: "serial_device.device", from: "serial: socket", to: "serial: /dev/ttyS0"},
	{attribute: "hostpci.device", from: "hostpci: [{id: '0000:01:00.0'}]", to: "hostpci: [{device: hostpci1, id: '0000:01:00.0'}]"},
	{attribute: "hostpci.id", from: "hostpci: [{id: '0000:01:00.0'}]", to: "hostpci: [{id: '0000:02:00.0'}]"},
	{attribute: "hostpci.mapping", from: "hostpci: [{mapping: key1}]", to: "hostpci: [{mapping: key2}]"},
	{attribute: "hostpci.mdev", from: "hostpci: [{id: '0000:01:00.0', mdev: a-1}]", to: "hostpci: [{id: '0000:01:00.0', mdev: a-2}]"},
	{attribute: "hostpci.pcie", from: "machine: q35, hostpci: [{id: '0000:01:00.0', pcie: false}]", to: "machine: q35, hostpci: [{id: '0000:01:00.0', pcie: true}]"},
	{attribute: "hostpci.rombar", from: "hostpci: [{id: '0000:01:00.0', rombar: true}]", to: "hostpci: [{id: '0000:01:00.0', rombar: false}]"},
	{attribute: "hostpci.rom_file", from: "hostpci: [{id: '0000:01:00.0', rom_file: a.bin}]", to: "hostpci: [{id: '0000:01:00.0', rom_file: b.bin}]"},
	{attribute: "hostpci.xvga", from: "hostpci: [{id: '0000:01:00.0', xvga: false}]", to: "hostpci: [{id: '0000:01:00.0', xvga: true}]"},
	{attribute: "numa.device", from: "numa: true, numa_nodes: [{cpus: 0-1, memory: 2048, host_nodes: 0}]", to: "numa: true, numa_nodes: [{device: numa1, cpus: 0-1, memory: 2048, host_nodes: 0}]"},
	{attribute: "numa.cpus", from: "numa: true, numa_nodes: [{cpus: 0-1, memory: 2048, host_nodes: 0}]", to: "numa: true, numa_nodes: [{cpus: 0, memory: 2048, host_nodes: 0}]"},
	{attribute: "numa.memory", from: "numa: true, numa_nodes: [{cpus: 0, memory: 1024, host_nodes: 0}, {cpus: 1, memory: 1024, host_nodes: 0}]", to: "numa: true, numa_nodes: [{cpus: 0, memory: 512, host_nodes: 0}, {cpus: 1, memory: 1536, host_nodes: 0}]"},
	{attribute: "numa.hostnodes", from: "numa: true, numa_nodes: [{cpus: 0-1, memory: 2048, host_nodes: 0}]", to: "numa: true, numa_nodes: [{cpus: 0-1, memory: 2048, host_nodes: 1}]"},
	{attribute: "numa.policy", from: "numa: true, numa_nodes: [{cpus: 0-1, memory: 2048, host_nodes: 0}]", to: "numa: true, numa_nodes: [{cpus: 0-1, memory: 2048, host_nodes: 0, policy: bind}]"},
	{attribute: "virtiofs.mapping", from: "virtiofs: [{mapping: media}]", to: "virtiofs: [{mapping: home}]"},
	{attribute: "virtiofs.cache", from: "virtiofs: [{mapping: media}]", to: "virtiofs: [{mapping: media, cache: never}]"},
	{attribute: "virtiofs.direct_io", from: "virtiofs: [{mapping: media}]", to: "virtiofs: [{mapping: media, direct_io: true}]"},
	{attribute: "virtiofs.expose_acl", from: "virtiofs: [{mapping: media}]", to: "virtiofs: [{mapping: media, expose_acl: true}]"},
	{attribute: "virtiofs.expose_xattr", from: "virtiofs: [{mapping: media}]", to: "virtiofs: [{mapping: media, expose_xattr: true}]"},
	{attribute: "audio_device.device", from: "audio: AC97", to: "audio: intel-hda"},
	{attribute: "watchdog.enabled", from: "watchdog: false", to: "watchdog: true"},
	{attribute: "watchdog.model", from: "watchdog: true", to: "watchdog: {model: ib700}"},
	{attribute: "watchdog.action", from: "watchdog: true", to: "watchdog: {action: reset}"},
	{attribute: "vga.type", from: "vga: std", to: "vga: qxl"},
	{attribute: "vga.memory", from: "vga: {type: std, memory: 16}", to: "vga: {type: std, memory: 32}"},
	{attribute: "vga.clipboard", from: "vga: {type: std}", to: "vga: {type: std, clipboard: vnc}"},
}

const (
	firstKey  = `"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJqTcdWfrSvBnP2PLm0wU7fjzG1pWPm0eqVbE0LQIVh1 a"`
	secondKey = `"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJqTcdWfrSvBnP2PLm0wU7fjzG1pWPm0eqVbE0LQIVh1 b"`
)

// A restartCase is one VM of the test.
type restartCase struct {
	update
	key            string
	vmid           int
	agent, restart bool
	effect         schema.Effect
}

// atOnce is the number of VMs that an apply creates and changes: more take longer than the
// ticket of the provider is valid, where the machine is busy and the clock of the cluster
// runs faster.
const atOnce = 50

// TestNothingRestartsWithoutPermission changes, on a running VM each, every attribute
// whose change restarts a VM or needs it off, without the guard. Without `restart: true`
// the process of no VM ends: the change waits, or the provider refuses it.
func TestNothingRestartsWithoutPermission(t *testing.T) {
	t.Parallel()
	cases := restartCases(t)
	p := newProject(t, nil)
	sim := p.restartCluster()
	p.write("stackgen.yaml", noGuard)
	n := 0
	for some := range slices.Chunk(cases, atOnce) {
		n++
		p.changeAll(sim, fmt.Sprintf("part%d", n), some)
	}
}

// restartSpec writes a stack with the VMs of cases, before or after their updates.
func (p *project) restartSpec(stack string, cases []restartCase, after bool) {
	p.Helper()
	var vms strings.Builder
	for _, c := range cases {
		lines := c.from
		if after {
			lines = c.to
		}
		template := ", template: 9002"
		if !c.agent {
			template = ", agent: false, template: 9003"
		}
		fmt.Fprintf(&vms, "  %s: {vmid: %d, restart: %t%s, %s}\n", c.key, c.vmid, c.restart, template, strings.NewReplacer("10.9.N.", fmt.Sprintf("10.9.%d.", c.vmid-300), "::N/", fmt.Sprintf("::%d/", c.vmid)).Replace(lines))
	}
	p.write("specs/"+stack+".yaml", "apiVersion: stackgen/v1\nkind: Stack\nname: "+stack+"\nvmids: 300-599\ndefaults: {node: pve1, clone: linked}\nvms:\n"+vms.String())
	p.render()
}

// changeAll creates the VMs of some cases in a stack of their own, changes them in one
// apply, and compares what happened to each with the effect of its attribute.
func (p *project) changeAll(sim *pvesim.Server, stack string, cases []restartCase) {
	p.Helper()
	apply := func() engine.Result {
		return p.runWithin(6*time.Minute, "stacks/"+stack, "terragrunt", "stack", "run", "apply", "--non-interactive")
	}
	p.restartSpec(stack, cases, false)
	if r := apply(); r.Code != 0 {
		p.Fatalf("creating: exit %d\n%s", r.Code, r.Text())
	}
	before := map[int]time.Time{}
	for _, g := range guestsOf(sim) {
		before[g.VMID] = g.Started
	}
	first := len(sim.Requests())
	p.restartSpec(stack, cases, true)
	text := apply().Text()
	power := map[int][]string{}
	for _, e := range sim.Requests()[first:] {
		if e.Method == http.MethodPost && strings.Contains(e.Path, "/status/") {
			power[e.VMID] = append(power[e.VMID], filepath.Base(e.Path))
		}
	}
	after := map[int]*pvesim.Guest{}
	for _, g := range guestsOf(sim) {
		after[g.VMID] = g
	}
	for _, c := range cases {
		g := after[c.vmid]
		c.compare(p.T, g, !g.Running || !g.Started.Equal(before[c.vmid]), strings.Join(power[c.vmid], " "), text)
	}
}

// compare compares what an apply did to a VM with the effect of its attribute: whether its
// process ended, the power requests, and the output.
func (c *restartCase) compare(t *testing.T, g *pvesim.Guest, ended bool, power, output string) {
	t.Helper()
	what := fmt.Sprintf("%s of VM %d, agent %t, restart: %t", c.attribute, c.vmid, c.agent, c.restart)
	restarts := c.restart && c.effect != schema.Pending
	want := ""
	switch {
	case restarts && c.agent && !c.hard:
		want = "shutdown start"
	case restarts:
		want = "stop start"
	}
	if power != want || ended != restarts {
		t.Errorf("%s: requests %q, want %q; its process ended: %t", what, power, want, ended)
	}
	refused := regexp.MustCompile(`Error: [^\n]*(?:\n[^\n]*){0,6}\["` + c.key + `"\]`).MatchString(output)
	if needsOff := c.effect == schema.PowerOff || c.effect == schema.Move; refused != (needsOff && !c.restart) {
		t.Errorf("%s: refused by the provider: %t", what, refused)
	}
	t.Logf("%s: %s; %s; waits: %v", what, c.effect, cmp.Or(power, "no power request"), slices.Sorted(maps.Keys(g.Pending)))
}

// plainUpdates are the updates that are also made without an agent if this test is not
// named: one of each effect. The provider asks for the agent at one place only.
var plainUpdates = []string{"memory.dedicated", "cpu.units", "tpm_state", "disk.datastore_id", "disk.ssd"}

// restartCases are the VMs: of each update one with an agent and one without, with and
// without permission to restart. It fails if an attribute has no update.
func restartCases(t *testing.T) (out []restartCase) {
	t.Helper()
	classes := []schema.Effect{schema.Restart, schema.NeedlessRestart, schema.PowerOff, schema.Move, schema.Pending}
	effects := map[string]schema.Effect{}
	for _, a := range schema.Attributes(guest.VMResource) {
		whole := slices.Contains([]string{"agent", "audio_device", "hostpci", "initialization", "initialization.ip_config", "numa", "serial_device", "usb", "vga", "virtiofs", "watchdog"}, a.HCL) // blocks of the others
		if a.Key != "" && slices.Contains(classes, a.Change) && !whole {
			effects[a.HCL] = a.Change
			if !slices.ContainsFunc(updates, func(u update) bool { return u.attribute == a.HCL }) {
				t.Errorf("no update changes %s", a.HCL)
			}
		}
	}
	vmid, all := 300, strings.Contains(testFilter(), "TestNothingRestarts")
	for i, u := range updates {
		if effects[u.attribute] == "" {
			t.Errorf("a change of %s restarts nothing", u.attribute)
		}
		for _, agent := range []bool{true, false} {
			for _, restart := range []bool{false, true} {
				if !agent && (u.agentOnly || !all && !slices.Contains(plainUpdates, u.attribute)) {
					continue
				}
				out = append(out, restartCase{update: u, key: fmt.Sprintf("u%d-%t-%t", i, agent, restart), vmid: vmid, agent: agent, restart: restart, effect: effects[u.attribute]})
				vmid++
			}
		}
	}
	return out
}

// restartCluster starts a cluster with a template whose guest has no agent, as root: some
// attributes are root's.
func (p *project) restartCluster() *pvesim.Server {
	p.Helper()
	seed, err := pvesim.DefaultSeed()
	check(p.T, err)
	i := slices.IndexFunc(seed.Guests, func(g *pvesim.Guest) bool { return g.VMID == 9002 })
	plain := *seed.Guests[i]
	plain.VMID, plain.Agent = 9003, pvesim.Agent{}
	plain.Config = map[string]string{}
	for k, v := range seed.Guests[i].Config {
		plain.Config[k] = strings.ReplaceAll(v, "9002", "9003")
	}
	delete(plain.Config, "agent")
	seed.Guests = append(seed.Guests, &plain)
	addMappings(seed)
	sim, err := pvesim.New(pvesim.Options{Seed: seed, NoAuthDelay: true, Clock: clock.NewScaled(time.Now(), faultSpeed)})
	check(p.T, err)
	check(p.T, sim.Start("127.0.0.1:0"))
	p.Cleanup(func() { check(p.T, sim.Close()) })
	p.tools = p.tools.With(append(sim.Env(), "PROXMOX_VE_API_TOKEN=", "PROXMOX_VE_USERNAME=root@pam", "PROXMOX_VE_PASSWORD=stackgen")...)
	return sim
}

// addMappings adds resource mappings that the tests name and the default cluster does not have.
func addMappings(s *pvesim.Seed) {
	for kind, names := range map[string][]string{"pci": {"card", "disk", "more", "key1", "key2"}, "usb": {"key", "phone", "more", "key1", "key2"}, "dir": {"music", "more"}} {
		for _, name := range names {
			s.Mappings = append(s.Mappings, &pvesim.Mapping{Type: kind, ID: name, Nodes: []string{"pve1", "pve2", "pve3"}})
		}
	}
}

// guestsOf are the guests of a simulated cluster.
func guestsOf(sim *pvesim.Server) (out []*pvesim.Guest) {
	sim.Change(func(s *pvesim.Seed) { out = s.Guests })
	return out
}
