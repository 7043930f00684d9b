//go:build unix

package real

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// lostSpec has VMs whose firmware has volumes of its own.
const lostSpec = `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 300-399
pool: {id: live, create: true}
defaults: {node: pve1, template: 9002, started: false, restart: true, agent: false, bios: ovmf, hotplug: 'disk,network', efi: {datastore: shared}, tpm: {datastore: shared}}
vms: {a: {}, b: {}, c: {}, d: {}}
`

// TestLost: the provider leaves some of what a VM has lost in its state, so that no plan shows it. Each command names it, and
// the printed lines give it back. Of a container without a number of cores, which may use all of its node, it reads one core.
func TestLost(t *testing.T) {
	t.Parallel()
	p, sim := appliedSpec(t, lostSpec+`containers: {e: {template: "`+containerArchive+`"}}`+"\n").copy(t)
	lost := []string{"efidisk0", "tpmstate0", "hotplug", "scsihw"}
	for i, entry := range lost {
		callAPI(t, sim, "PUT", "/nodes/pve1/qemu/30"+string(rune('0'+i))+"/config", url.Values{"delete": {entry}})
	}
	callAPI(t, sim, "PUT", "/nodes/pve1/lxc/304/config", url.Values{"delete": {"cores"}})
	lost = append(lost, "cores")
	t.Log(p.deployed(0, "apply --yes", "nothing to do: live is as its spec says, except that live/a has no efi, live/b has no tpm, live/c has no hotplug, live/d has no scsi_hardware, live/e has no cores"))
	said := p.deployed(2, "drift", "its spec has efi, and it does not", "its spec has scsi_hardware", "its spec has cores")
	t.Log(said)
	said = p.deployed(0, "preflight")
	t.Log(said)
	lines := regexp.MustCompile(`pvesh set (\S+) --(\S+) '?([^'\n]+)'?`).FindAllStringSubmatch(said, -1)
	for _, entry := range lost {
		for _, m := range lines {
			if m[2] == entry {
				callAPI(t, sim, "PUT", m[1], url.Values{entry: {m[3]}})
				break // the first one attaches the volume that it had
			}
		}
	}
	if said := p.deployed(0, "apply --yes", "nothing to do: live is as its spec says"); strings.Contains(said, "except") {
		t.Error(said)
	}
}

// TestLostLeft pastes the ways out for those who want a VM without what it has lost, or without a disk that no state has.
func TestLostLeft(t *testing.T) {
	t.Parallel()
	const efi = ", efi: {datastore: shared}"
	without := strings.Replace(lostSpec, efi, "", 1)
	disks := "{disks: [{interface: scsi0, size: 8, datastore: local-lvm}]}"
	p := newProject(t, map[string]string{"specs/live.yaml": strings.Replace(without, "a: {}, b: {}, c: {}, d: {}", "a: {memory: 2048"+efi+"}, b: "+disks, 1)})
	sim := p.simulate()
	p.render()
	p.deployed(0, "apply --yes")
	callAPI(t, sim, "PUT", "/nodes/pve1/qemu/300/config", url.Values{"delete": {"efidisk0"}})
	callAPI(t, sim, "PUT", "/nodes/pve1/qemu/301/config", url.Values{"scsi3": {"shared:1"}, "protection": {"1"}})
	said := p.deployed(0, "preflight", "remove `efi` from its spec, and import the VM again", "live/b: VM 301")
	p.write("specs/live.yaml", strings.Replace(p.read("specs/live.yaml"), efi, "", 1))
	p.deployed(0, "render")
	p.pasteLine(".", said, "state rm")
	p.deployed(0, "import-blocks")
	p.deployed(0, "apply --yes", "import live: VM a", "except that live/b has scsi3, which neither spec nor state have")
	lines := regexp.MustCompile(`pvesh set (/nodes/pve1/qemu/301/config) --(delete|protection) (\S+)`).FindAllStringSubmatch(said, -1)
	for _, m := range lines {
		callAPI(t, sim, "PUT", m[1], url.Values{m[2]: {m[3]}})
	}
	said = p.deployed(0, "apply --yes", "nothing to do: live is as its spec says")
	if is := config(t, sim, 301); strings.Contains(said, "except") || is["scsi3"] != nil || is["unused0"] == nil || fmt.Sprint(is["protection"]) != "1" {
		t.Errorf("%s\n%v", said, is)
	}
}

// TestFirmwareNotAdded: a creation fails before it adds the volumes of the firmware. The provider has them in the state all the
// same. The next apply adds them.
func TestFirmwareNotAdded(t *testing.T) {
	t.Parallel()
	spec := strings.Replace(lostSpec, "vms: {a: {}, b: {}, c: {}, d: {}}", "vms: {a: {}}", 1)
	p := newProject(t, map[string]string{"specs/live.yaml": spec})
	sim := p.simulate()
	p.render()
	check(t, sim.AddFault(&pvesim.Fault{Method: "POST", Path: "/nodes/*/qemu/*/clone", Do: pvesim.DoFull, Storage: "shared"}))
	t.Log(p.deployed(1, "apply --yes", "live/a lacks efidisk0, tpmstate0, which an apply that failed did not add"))
	sim.ClearFaults()
	sim.Change(func(s *pvesim.Seed) {
		for _, x := range s.Storages {
			x.Full = false
		}
	})
	t.Log(p.deployed(0, "preflight", "efi (when it starts)", "tpm (at once)"))
	t.Log(p.deployed(2, "drift"))
	t.Log(p.deployed(0, "apply --yes", "live is as its spec says"))
	for _, entry := range []string{"efidisk0", "tpmstate0"} {
		if config(t, sim, 300)[entry] == nil {
			t.Errorf("the VM has no %s", entry)
		}
	}
	p.deployed(0, "apply --yes", "nothing to do")
}

// allHardware is what a VM can have and lose.
const allHardware = `{node: pve1, template: 9002, started: false, restart: true, bios: ovmf, machine: q35, efi: {datastore: shared}, tpm: {datastore: shared},
  description: text, tags: [x], boot_order: [scsi0, net0], os_type: l24, cores: 4, vcpus: 2, sockets: 2, cpu_units: 200, cpu_limit: 3, numa: true,
  numa_nodes: [{cpus: 0, memory: 2048, host_nodes: 0}], balloon: 1024, watchdog: {model: ib700, action: reset}, hookscript: 'local:snippets/hook.pl',
  hostpci: [{id: '0000:01:00.0', pcie: true}], usb: [{host: spice}], virtiofs: [{mapping: media}], audio: AC97, serial: [socket],
  vga: {type: serial0, memory: 32}, hotplug: 'network,disk', keyboard: de, tablet: false, startup: {order: 3, up: 5},
  cloud_init: {user: admin, datastore: shared, user_data: 'shared:snippets/user.yaml', type: configdrive2, upgrade: false, nameservers: [192.0.2.53],
    search_domain: lab.example},
  disks: [{interface: scsi0, size: 8, datastore: shared}, {interface: scsi1, size: 3, datastore: shared}], networks: [{}, {vlan: 20}]}`

// TestEachEntryLost removes each entry of a configuration by hand, of another VM each: drift names every one of them.
func TestEachEntryLost(t *testing.T) {
	t.Parallel()
	const most = 60
	var vms strings.Builder
	for i := range most {
		fmt.Fprintf(&vms, "  e%d: {}\n", i)
	}
	p := newProject(t, map[string]string{"specs/live.yaml": "apiVersion: stackgen/v1\nkind: Stack\nname: live\nvmids: 300-399\ndefaults: " + allHardware + "\nvms:\n" + vms.String()})
	sim := p.simulate()
	sim.Change(snippets)
	p.tools = p.tools.With("PROXMOX_VE_API_TOKEN=", "PROXMOX_VE_USERNAME=root@pam", "PROXMOX_VE_PASSWORD=stackgen") // hookscript is root's
	p.render()
	p.deployed(0, "apply --yes")
	entries := slices.Sorted(maps.Keys(config(t, sim, 300)))
	entries = slices.DeleteFunc(entries, func(entry string) bool {
		return slices.Contains([]string{"digest", "meta", "smbios1", "vmgenid"}, entry)
	})
	if len(entries) > most || len(entries) < 40 {
		t.Fatalf("%d entries: %q", len(entries), entries)
	}
	for i, entry := range entries {
		callAPI(t, sim, "PUT", fmt.Sprintf("/nodes/pve1/qemu/%d/config", 300+i), url.Values{"delete": {entry}})
	}
	_, said := p.stackgen("drift", p.dir)
	for i := range most {
		named := regexp.MustCompile(fmt.Sprintf(`(?m)^(safe|blocked) .* live/e%d .*$`, i)).FindAllString(said, -1)
		named = slices.DeleteFunc(named, func(line string) bool { return strings.Contains(line, "only read") })
		switch lost := i < len(entries); {
		case lost && len(named) == 0:
			t.Errorf("VM e%d has lost %s, and drift does not say it", i, entries[i])
		case !lost && len(named) > 0:
			t.Errorf("VM e%d has lost nothing, and drift says %q", i, named)
		}
	}
}
