package hardware

import (
	"slices"
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/schema"
)

// TestEveryPropertyIsRead fails for a property that has no entry of the
// configuration: a comparison would not see that an import changes it.
func TestEveryPropertyIsRead(t *testing.T) {
	elsewhere := []string{"vmid", "node", "agent timeout", "restart", "stop_on_destroy", "delete_unreferenced_disks", "timeouts clone", "timeouts migrate", "timeouts reboot", "timeouts shutdown", "timeouts start", "timeouts stop", "watchdog enabled"} // which VM it is, where it is, the provider's own, and that the entry exists
	var check func(fields []schema.Field, prefix string)
	check = func(fields []schema.Field, prefix string) {
		for _, f := range fields {
			below := f.Fields
			if f.Elem != nil {
				below = f.Elem.Fields
			}
			if f.HCL != "" && f.PVE == "" && len(below) == 0 && !slices.Contains(elsewhere, prefix+f.Key) {
				t.Errorf("no entry for %s", prefix+f.Key)
			}
			check(below, prefix+f.Key+" ")
		}
	}
	check(schema.VMFields, "")
}

// TestRows reads properties of every kind from rows alone, so that a property of
// these kinds needs no code.
func TestRows(t *testing.T) {
	model := schema.Field{Key: "model", Type: schema.String, PVE: "model", Bare: true, Unset: "i6300esb"}
	for _, c := range []struct {
		row             schema.Field
		lines, want     string
		unknown, absent string
	}{
		{row: schema.Field{Key: "kvm", Type: schema.Bool, PVE: "kvm", Unset: "true"}, lines: "kvm: 0", want: "false", absent: "true"},
		{row: schema.Field{Key: "vcpus", Type: schema.Int, PVE: "vcpus", Unset: "0"}, lines: "vcpus: 2", want: "2", absent: "0"},
		{row: schema.Field{Key: "hotplug", Type: schema.List, Elem: &schema.Field{Type: schema.String}, PVE: "hotplug", Sep: ","}, lines: "hotplug: disk,network", want: "[disk, network]", absent: "[]"},
		{row: schema.Field{Key: "user_data", Type: schema.String, PVE: "cicustom/user"}, lines: "cicustom: user=local:snippets/a.yaml,meta=x", want: `"local:snippets/a.yaml"`, absent: `""`},
		{row: schema.Field{Key: "rng", Type: schema.Object, PVE: "rng0", Fields: []schema.Field{{Key: "source", Type: schema.String, PVE: "source"}}}, lines: "rng0: source=/dev/random,period=5",
			want: "{source: /dev/random}", unknown: `a spec has no property for the option "period"`},
		{row: schema.Field{Key: "watchdog", Type: schema.Object, On: "enabled", PVE: "watchdog", Fields: []schema.Field{{Key: "enabled", Type: schema.Bool, Unset: "false"}, model}},
			lines: "watchdog: ib700", want: "{enabled: true, model: ib700}", absent: "{enabled: false, model: i6300esb}"},
		{row: schema.Field{Key: "hostpci", Type: schema.List, PVE: "hostpci*", Elem: &schema.Field{Type: schema.Object, Fields: []schema.Field{
			{Key: "id", Type: schema.String, PVE: "host", Bare: true}, {Key: "pcie", Type: schema.Bool, PVE: "pcie", Unset: "false"}}}},
			lines: "hostpci0: 01:00.0,pcie=1\nhostpci1: host=02:00.0", want: `[{id: "01:00.0", pcie: true}, {id: "02:00.0", pcie: false}]`, absent: "[]"},
	} {
		read := func(lines string) *Reading {
			r := &Reading{raw: newGuest(lines).Config.Raw, values: map[string]*schema.Node{}, shows: map[string][]string{}, skip: map[string]bool{}}
			r.property(&c.row)
			return r
		}
		if got := flow(read("").values[c.row.Key]); got != c.absent {
			t.Errorf("%s absent: got %s, want %s", c.row.Key, got, c.absent)
		}
		r := read(c.lines)
		var unknown string
		for _, d := range r.unsupported {
			unknown += d.Reason
		}
		if got := flow(r.values[c.row.Key]); got != c.want || unknown != c.unknown {
			t.Errorf("%s: got %s and %q, want %s and %q", c.row.Key, got, unknown, c.want, c.unknown)
		}
	}
}

// vm is a VM of a spec, with what it inherits.
func vm(t *testing.T, own string) *schema.VM {
	t.Helper()
	spec, problems := schema.Parse("lab.yaml", []byte("apiVersion: stackgen/v1\nkind: Stack\nname: lab\nvmids: 100-199\ndefaults: {node: pve1, template: 9000}\nvms:\n  a: {"+own+"}\n"))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	p, problems := schema.Join(nil, []schema.Input{{Spec: spec, Label: "lab.yaml"}}, nil, nil)
	if schema.HasErrors(problems) {
		t.Fatal(problems)
	}
	return p.Stacks[0].VMs[0]
}

// usual is the configuration of a VM as the spec `a: {}` makes it.
const usual = `name: lab-a
onboot: 1
scsihw: virtio-scsi-single
ostype: l26
cores: 2
cpu: x86-64-v2-AES
memory: 2048
agent: 1
ide2: local-lvm:vm-100-cloudinit,media=cdrom
ipconfig0: ip=dhcp
net0: virtio=BC:24:11:00:00:01,bridge=vmbr0`

// guest is a VM with the usual configuration and some other lines. A line without
// a value removes an entry.
func newGuest(lines string) *cluster.Guest {
	raw := map[string]string{}
	for line := range strings.Lines(usual + "\n" + lines) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		raw[strings.TrimSuffix(key, ":")] = value
		if value == "" {
			delete(raw, strings.TrimSuffix(key, ":"))
		}
	}
	return &cluster.Guest{VMID: 100, Node: "pve1", Kind: guest.VM, Name: raw["name"], Status: "running", Config: &cluster.Config{Raw: raw}}
}

func TestDifferences(t *testing.T) {
	for _, c := range []struct{ lines, own, want string }{
		{"", "", ""},
		{"balloon: 0\nbios: seabios\nnuma: 0\nprotection: 0\ntablet: 1\nkeyboard: en-us\nacpi: 1\nvga: std\nsockets: 1\ncpulimit: 0", "", ""},
		{"localtime: 1\nmeta: ctime=1\nvmgenid: x\nunused0: local:x\nhotplug: disk\nparent: s1\nshares: 500\nlock: backup\nboot: order=net0", "", ""},
		{"agent: enabled=1,fstrim_cloned_disks=0,type=virtio\ncpu: cputype=x86-64-v2-AES\nvga: type=std,memory=16", "", ""},
		{"net0: model=virtio,macaddr=BC:24:11:00:00:01,bridge=vmbr0,firewall=0", "", ""},
		{"net0: virtio=bc:24:11:00:00:01,bridge=vmbr0", "", ""},
		{"tags: a;b", "", ""},
		{"net0: virtio=BC:24:11:00:00:01", "", "(no line)"},
		{"scsi0: /dev/disk/by-id/x,size=4G", "disks: [{interface: scsi0, size: 4}]", "(no line)"},
		{"scsi0: local-lvm:vm-100-disk-0,size=4G,werror=stop,wwn=0x1\ncpu: x86-64-v2-AES,hidden=1\nwhatever: 1", "disks: [{interface: scsi0, size: 4}]", ""},
		{"scsi0: local-lvm:vm-100-disk-0,size=4G,queues=4", "disks: [{interface: scsi0, size: 4}]", "(no line)"},
		{"hostpci0: 01:00", "", `hostpci: [{device: hostpci0, id: "01:00"}]`},
		{"hostpci0: 0000:01:00,pcie=1,x-vga=1,rombar=0", "machine: q35, hostpci: [{id: '0000:01:00', pcie: true, xvga: true, rombar: false}]", "(no line)"},
		{"machine: q35\nhostpci0: 0000:01:00,pcie=1,x-vga=1,rombar=0", "machine: q35, hostpci: [{id: '0000:01:00', pcie: true, xvga: true, rombar: false}]", ""},
		{"hostpci3: mapping=gpu,mdev=nvidia-63", "hostpci: [{device: hostpci3, mapping: gpu, mdev: nvidia-63}]", ""},
		{"hostpci1: mapping=gpu", "hostpci: [{mapping: gpu}]", "hostpci: [{device: hostpci1, mapping: gpu}]"},
		{"numa: 1\nmemory: 2048\nnuma0: cpus=0-1,hostnodes=0,memory=2048,policy=bind", "numa: true, numa_nodes: [{cpus: 0-1, memory: 2048, host_nodes: 0, policy: bind}]", ""},
		{"numa: 1\nmemory: 2048\nnuma1: cpus=0;1,hostnodes=0-1,memory=2048,policy=preferred", "numa: true, numa_nodes: [{cpus: 0, memory: 2048, host_nodes: 0}]", `numa_nodes: [{device: numa1, cpus: "0;1", memory: 2048, host_nodes: "0-1"}]`},
		{"numa: 1\nmemory: 2048\nnuma0: cpus=0,memory=2048", "numa: true", ""}, // the provider does not read it
		{"numa: 1\nmemory: 2048\nnuma0: cpus=0,memory=1024\nnuma1: cpus=1,hostnodes=0,memory=1024,policy=bind", "numa: true", ""},
		{"numa: 1\nmemory: 2048\nnuma0: cpus=0,hostnodes=0,memory=1024,policy=bind", "numa: true", ""},
		{"memory: 2048\nnuma0: cpus=0,hostnodes=0,memory=2048,policy=bind", "", ""},
		{"numa: 1\nmemory: 2048\nnuma0: cpus=0,hostnodes=0,memory=2048", "numa: true", ""},
		{"virtiofs0: media", "virtiofs: [{mapping: media}]", ""},
		{"virtiofs0: dirid=media,cache=never,expose-acl=1", "", "virtiofs: [{mapping: media, cache: never, expose_acl: true, expose_xattr: true}]"},
		{"virtiofs0: dirid=media,expose-acl=1", "virtiofs: [{mapping: media, expose_acl: true}]", ""},
		{"virtiofs1: media", "", "(no line)"},
		{"", "virtiofs: [{mapping: media}]", "virtiofs: []"},
		{"bios: ovmf\namd-sev: type=es", "bios: ovmf, amd_sev: es", ""},
		{"bios: ovmf\namd-sev: std,no-debug=1", "bios: ovmf", "amd_sev: {no_debug: true}"},
		{"bios: ovmf\namd-sev: std,allow-smt=1", "bios: ovmf", ""}, // the provider does not read its defaults
		{"bios: ovmf\namd-sev: std,allow-smt=1,no-debug=1", "bios: ovmf", "(no line)"},
		{"bios: ovmf\namd-sev: snp", "bios: ovmf", "(no line)"},
		{"bios: ovmf\namd-sev: snp,allow-smt=1", "bios: ovmf, amd_sev: snp", ""},
		{"audio0: device=ich9-intel-hda,driver=spice", "audio: ich9-intel-hda", ""},
		{"audio0: device=AC97,driver=spice", "", "audio: AC97"},
		{"audio0: device=AC97", "audio: AC97", "(no line)"},
		{"audio0: device=AC97,driver=none", "", "(no line)"},
		{"", "audio: AC97", "(no line)"},
		{"tags: b;a", "tags: [A, b]", ""},
		{"tags: b;a", "tags: [b]", "tags: [a, b]"},
		{"scsi0: local-lvm:vm-100-disk-0,size=4300M", "disks: [{interface: scsi0, size: 4}]", ""},
		{"scsi0: local-lvm:vm-100-disk-0,size=4G", "", ""},
		{"scsi0: local-lvm:vm-100-disk-0,size=4G\nscsi1: local:100/vm-100-disk-1.qcow2,size=1T", "disks: [{interface: scsi0, size: 4}]",
			"disks: [{interface: scsi0, datastore: local-lvm, size: 4}, {interface: scsi1, datastore: local, size: 1024, format: qcow2}]"},
		{"scsi1: local-lvm:vm-100-disk-1,size=2G,discard=on\nscsi0: local-lvm:vm-100-disk-0,size=1G,backup=0,discard=ignore", "disks: [{interface: scsi1, size: 2, discard: true}, {interface: scsi0, size: 1, backup: false}]", ""},
		{"memory: 512\nballoon: 512", "memory: 512", ""},
		{"memory: 512", "memory: 512", "balloon: 0"},
		{"memory: 4096\nballoon: 1024", "memory: 4096", "balloon: 1024"},
		{"agent: 0", "agent: false", ""},
		{"agent:", "agent: {enabled: false, type: isa}", ""},
		{"agent: 1", "agent: {timeout: 3s}", ""},
		{"vga: serial0\nserial0: socket", "", "serial: socket"},
		{"vga: serial0", "vga: qxl", "vga: serial0"},
		{"", "vga: std", ""},
		{"tpmstate0: local-lvm:vm-100-disk-1,size=4M,version=v2.0", "", ""},
		{"tpmstate0: local-lvm:vm-100-disk-1,size=4M,version=v1.2", "", "tpm: {datastore: local-lvm, version: v1.2}"},
		{"ide2:\nipconfig0:", "cloud_init: false", ""},
		{"ide2:\nipconfig0:", "", "cloud_init: false"},
		{"ipconfig0: ip=192.0.2.9/24,gw=192.0.2.1", "cloud_init: {ipv4: 192.0.2.9/24, gateway: 192.0.2.1}", ""},
		{"cicustom: user=local:snippets/a.yaml,vendor=local:snippets/b.yaml\ncitype: nocloud\nciupgrade: 0", "", ""}, // the provider keeps it
		{"cicustom: user=local:snippets/a.yaml", "cloud_init: {user_data: 'local:snippets/b.yaml', upgrade: true}", `cloud_init: {datastore: local-lvm, interface: ide2, ipv4: dhcp, user_data: "local:snippets/a.yaml"}`},
		{"ciupgrade: 0\ncitype: opennebula", "cloud_init: {upgrade: false, type: opennebula}", ""},
		{"ipconfig0: ip=dhcp,ip6=2001:db8::9/64,gw6=fe80::1", "cloud_init: {ipv6: '2001:db8::9/64', gateway6: 'fe80::1'}", ""},
		{"ipconfig1: ip=192.0.2.9/24,gw=192.0.2.1\nipconfig3: ip6=auto", "cloud_init: {ip_configs: [{ipv4: 192.0.2.9/24, gateway: 192.0.2.1}, {device: net3, ipv6: auto}]}", ""},
		{"ipconfig2: ip=192.0.2.9/24", "", `cloud_init: {datastore: local-lvm, interface: ide2, ipv4: dhcp, ip_configs: [{device: net2, ipv4: "192.0.2.9/24"}]}`},
		{"ipconfig8: ip=dhcp", "", "(no line)"},
		{"sshkeys: ssh-ed25519%20AAAAC3NzaC1lZDI1NTE5AAAAIOGf5oyqYiE6i2O2ljzHFAXlkdO5yHNNRSpk7Fz9vZq4%20a%2Bb%0A", "cloud_init: {ssh_keys: [ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOGf5oyqYiE6i2O2ljzHFAXlkdO5yHNNRSpk7Fz9vZq4 a+b]}", ""},
		{"cpulimit: 1.50", "cpu_limit: 1.5", ""},
		{"cpuunits: 100", "", ""},
		{"hotplug: disk,network", "hotplug: 'network,disk'", ""},
		{"hotplug: disk,network", "hotplug: 'network,disk,cpu'", `hotplug: "disk,network"`},
		{"hotplug: 1", "hotplug: 0", `hotplug: "1"`},
		{"", "hotplug: 0", "(no line)"},
		{"vcpus: 1", "vcpus: 1", ""},
		{"hookscript: local:snippets/a.pl", "hookscript: local:snippets/a.pl", ""},
		{"hookscript: local:snippets/a.pl", "", `hookscript: "local:snippets/a.pl"`},
		{"", "hookscript: local:snippets/a.pl", "(no line)"},
		{"", "watchdog: false", ""},
		{"", "watchdog: true", "(no line)"},
		{"watchdog: i6300esb", "watchdog: true", ""},
		{"watchdog: model=ib700,action=reset", "watchdog: {model: ib700, action: reset}", ""},
		{"watchdog: model=ib700,action=reset", "watchdog: true", "watchdog: {model: ib700, action: reset}"},
		{"watchdog: i6300esb", "", "watchdog: true"},
		{"vcpus: 1", "", "vcpus: 1"},
		{"vcpus: 0", "", ""},
		{"", "vcpus: 1", "(no line)"},
		{"cpuunits: 100", "cpu_units: 200", "cpu_units: 100"},
		{"net1: e1000=BC:24:11:00:00:02,bridge=vmbr1,rate=1.5,trunks=5;6", "", `networks: [{bridge: vmbr0, mac: "BC:24:11:00:00:01"}, {bridge: vmbr1, model: e1000, mac: "BC:24:11:00:00:02", rate: 1.5, trunks: ["5", "6"]}]`},
		{"description: yes", "", `description: "yes"`},
		{"startup: order=2,down=5", "startup: {order: 2, down: 5}", ""},
		{"startup: order=2,down=5", "startup: {order: 2, up: 3}", "(no line)"},
	} {
		var lines []string
		ds := Read(newGuest(c.lines)).Differences(vm(t, c.own), func(string) bool { return false })
		for _, d := range ds {
			if d.Reason != "" {
				d.Line = "(no line)"
			}
			lines = append(lines, d.Line)
		}
		if got := strings.Join(lines, " | "); got != c.want {
			t.Errorf("%q and {%s}: got %s, want %s\n%+v", c.lines, c.own, got, c.want, ds)
		}
	}
}

// TestIgnored leaves out what a profile leaves alone.
func TestIgnored(t *testing.T) {
	r := Read(newGuest("serial0: socket\nscsihw:\nmemory: 1024"))
	ds := r.Differences(vm(t, ""), func(a string) bool { return a == "serial_device" || a == "scsi_hardware" })
	if len(ds) != 1 || ds[0].Line != "memory: 1024" {
		t.Errorf("got %+v", ds)
	}
}

// TestSentences names the value that differs, where it is, and what a plan does.
func TestSentences(t *testing.T) {
	const then = ": the first plan after the import "
	for _, c := range []struct{ lines, own, want string }{
		{"scsi0: local-lvm:vm-100-disk-0,size=40G", "disks: [{interface: scsi0, size: 32}]", "scsi0 size is 40 GiB in Proxmox VE and 32 GiB in the spec: the first apply after the import fails, because Proxmox VE cannot shrink a disk"},
		{"scsi0: local-lvm:vm-100-disk-0,size=32G", "disks: [{interface: scsi0, size: 40}]", "scsi0 size is 32 GiB in Proxmox VE and 40 GiB in the spec" + then + "changes it"},
		{"scsi0: local-lvm:vm-100-disk-0,size=4G\nscsi1: local-lvm:vm-100-disk-1,size=4G", "disks: [{interface: scsi0, size: 4}]", "scsi1 is in Proxmox VE and not in the spec" + then + "changes it"},
		{"scsi0: local-lvm:vm-100-disk-0,size=4G,mbps_rd=5", "disks: [{interface: scsi0, size: 4}]", "scsi0 speed read is 5 MB/s in Proxmox VE and not set in the spec" + then + "changes it"},
		{"net0: virtio=BC:24:11:00:00:01,bridge=vmbr0,tag=30", "", "net0 vlan is 30 in Proxmox VE and not set in the spec" + then + "changes it"},
		{"net0:", "", "net0 is in the spec and not in Proxmox VE" + then + "sets it"},
		{"startup: order=2", "", "startup is {order: 2} in Proxmox VE and not set in the spec" + then + "removes it"},
		{"description: " + strings.Repeat("long ", 40) + ".", "", "description is " + strings.Repeat("long ", 24) + "... in Proxmox VE and not set in the spec" + then + "removes it"},
		{"tpmstate0: local-lvm:vm-100-disk-1,size=4M,version=v1.2", "tpm: local-lvm", "tpm version is v1.2 in Proxmox VE and v2.0 in the spec" + then + "destroys the VM and creates another one"},
		{"hugepages: 2", "", "Proxmox VE has hugepages=2: a spec has no property for huge pages; the first plan after the import removes it"},
		{"rng0: source=/dev/urandom\nargs: -device foo\nacpi: 0\nide3: none,media=cdrom\nsmbios1: uuid=x,sku=eA==,base64=1", "", ""},
	} {
		var got []string
		for _, d := range Read(newGuest(c.lines)).Differences(vm(t, c.own), func(string) bool { return false }) {
			got = append(got, d.String())
		}
		if strings.Join(got, " | ") != c.want {
			t.Errorf("%q and {%s}:\n got %s\nwant %s", c.lines, c.own, strings.Join(got, " | "), c.want)
		}
	}
}

// TestRollback: of what a snapshot has otherwise, the next apply repairs what the spec says
// and the profile does not ignore. The description stays, and so does one that was changed by hand.
// What else differs already is left out.
func TestRollback(t *testing.T) {
	v := vm(t, "memory: 3072, cores: 4, description: new, tags: [b]")
	raw := func(memory, cores, description, tags string) map[string]string {
		return map[string]string{"memory": memory, "cores": cores, "description": description, "tags": tags}
	}
	now := &cluster.Guest{VMID: 300, Node: "pve1", Status: "running", Config: &cluster.Config{Raw: raw("3072", "4", "new", "by-hand")}}
	then := &cluster.Config{Raw: raw("2048", "2", "comment", "by-hand")}
	for description, want := range map[string][]string{"new": {"memory"}, "by hand": {"description", "memory"}} {
		now.Config.Raw["description"] = description
		repairs, leaves := Rollback(now, then, v, &schema.Profile{IgnoreChanges: []string{"cpu"}})
		if !slices.Equal(repairs, want) || !slices.Equal(leaves, []string{"cores"}) {
			t.Errorf("%s: repairs %v, leaves %v", description, repairs, leaves)
		}
	}
}
