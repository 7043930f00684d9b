package hardware

import (
	"strings"
	"testing"
)

// TestUnseen compares a clone with its spec and its template. What the spec or the template
// says is as it should be; the state then decides which of the rest a plan shows.
func TestUnseen(t *testing.T) {
	const template = "scsihw: virtio-scsi-single\nostype: l26\ncores: 2\ncpu: x86-64-v2-AES\nmemory: 2048\nagent: enabled=1\nballoon: 0\n" +
		"scsi0: lvm:base-9000-disk-0,size=8G\nide2: lvm:vm-9000-cloudinit,media=cdrom\nciuser: debian\nserial0: socket\nefidisk0: lvm:base-9000-disk-1,efitype=4m,size=528K\nbios: ovmf\nnet0: virtio=BC:24:11:00:00:01,bridge=vmbr0\n"
	const clone = "scsihw: virtio-scsi-single\nostype: l26\ncores: 2\ncpu: x86-64-v2-AES\nmemory: 2048\nagent: enabled=1\nballoon: 0\n" +
		"scsi0: shared:100/vm-100-disk-0.raw,size=8G\nide2: shared:100/vm-100-cloudinit.qcow2,media=cdrom\nciuser: debian\nipconfig0: ip=dhcp\nserial0: socket\nefidisk0: shared:100/vm-100-disk-1.raw,efitype=4m,size=528K\nbios: ovmf\nnet0: virtio=BC:24:11:00:00:02,bridge=vmbr0\n"
	for name, c := range map[string]struct {
		own, template, clone string // of the spec; what these have in addition
		want                 string // ATTRIBUTE=VALUE[/TEMPLATE] and the command
	}{
		"nothing":                           {},
		"description":                       {clone: "description: mine\n", want: "description=mine --delete description"},
		"description of the template":       {template: "description: golden\n", clone: "description: golden\n"},
		"another one than the template":     {template: "description: golden\n", clone: "description: mine\n", want: "description=mine/golden --description 'golden'"},
		"one that only the template has":    {template: "description: golden\n"},
		"startup order":                     {clone: "startup: order=3\n", want: "startup={order: 3} --delete startup"},
		"tags":                              {clone: "tags: a;b\n", want: "tags=a b --delete tags"},
		"firmware other than both":          {template: "tablet: 0\n", clone: "tablet: 0\n", own: "bios: seabios"},
		"user of cloud-init":                {clone: "ciuser: eve\n", want: "initialization.user_account.username=eve/debian --ciuser 'debian'"},
		"a second serial device":            {clone: "serial1: socket\n", want: "serial_device.serial1=socket --delete serial1"},
		"a USB port":                        {clone: "usb0: spice\n", want: "usb.usb0={host: spice} --delete usb0"},
		"arguments of QEMU":                 {clone: "args: -no-shutdown\n", want: "kvm_arguments=(secret) --delete args"},
		"other arguments than the template": {template: "args: -S\n", clone: "args: -vnc password=hunter2\n", want: "kvm_arguments=(secret)/(secret)"},
		"a TPM, which has keys":             {clone: "tpmstate0: shared:100/vm-100-disk-2.raw,size=4M,version=v2.0\n", want: "tpm_state=shared"},
		"a random number generator":         {template: "rng0: source=/dev/urandom\n", clone: "rng0: source=/dev/urandom\n"},
		"a version of the machine type":     {clone: "machine: pc-i440fx-9.2+pve1\n", want: "machine=pc-i440fx-9.2+pve1 --delete machine"},
		"that of a Windows":                 {own: "os_type: win11", clone: "ostype: win11\nmachine: pc-i440fx-9.2+pve1\n"},
		"another one of a Windows":          {own: "os_type: win11", clone: "ostype: win11\nmachine: pc-q35-9.2+pve1\n", want: "machine=pc-q35-9.2+pve1 --delete machine"},
		"another IOMMU of a Windows": {own: "os_type: win11", template: "machine: q35\n", clone: "ostype: win11\nmachine: pc-q35-9.2+pve1,viommu=intel\n",
			want: "machine=pc-q35-9.2+pve1,viommu=intel/q35 --machine 'q35'"},
		"the IOMMU of its template":            {own: "os_type: win11", template: "machine: q35,viommu=intel\n", clone: "ostype: win11\nmachine: pc-q35-9.2+pve1,viommu=intel\n"},
		"the spec has a machine type":          {own: "os_type: win11, machine: q35", clone: "ostype: win11\nmachine: pc-q35-9.2+pve1\n", want: "machine=pc-q35-9.2+pve1 --delete machine"},
		"that of its template":                 {own: "os_type: win11", template: "machine: q35\n", clone: "ostype: win11\nmachine: pc-q35-9.2+pve1\n"},
		"what Proxmox VE keeps":                {clone: "meta: ctime=1\nvmgenid: x\nsmbios1: uuid=x\nlock: backup\n"},
		"a user in a template without a drive": {template: "ide2: \n", clone: "nameserver: 192.0.2.1\n", want: "initialization.dns.servers=192.0.2.1 --delete nameserver"},
		"a secret":                             {template: "description: a (secret)\n", clone: "description: b\n"},
	} {
		t.Run(name, func(t *testing.T) {
			base := newGuest(template + c.template)
			base.VMID = 9000
			var got []string
			for _, u := range Read(newGuest(clone+c.clone)).Unseen(vm(t, c.own), Read(base), func(string) bool { return false }) {
				text := u.Attribute() + "=" + u.Was
				if u.Template != "" {
					text += "/" + u.Template
				}
				if _, command, ok := strings.Cut(u.Undo, "/config"); ok {
					text += command
				}
				got = append(got, text)
			}
			if text := strings.Join(got, "; "); text != c.want {
				t.Errorf("got %q, want %q", text, c.want)
			}
		})
	}
}

// TestUnseenLines checks that no command is printed that a terminal would change: it indents
// the lines of a value.
func TestUnseenLines(t *testing.T) {
	template := newGuest("")
	template.Config.Raw["description"] = "two\nlines"
	found := Read(newGuest("description: mine\n")).Unseen(vm(t, ""), Read(template), func(attribute string) bool { return attribute != "description" })
	if len(found) != 1 || found[0].Attribute() != "description" || found[0].Undo != "" {
		t.Errorf("got %+v", found)
	}
}

// TestUnseenPassword checks that a password that somebody set is named, and not printed.
func TestUnseenPassword(t *testing.T) {
	g, template := newGuest("name: a\n"), newGuest("name: t\n")
	g.Config.Password = true
	ignores := func(attribute string) bool { return attribute != "" }
	found := Read(g).Unseen(vm(t, ""), Read(template), ignores)
	if len(found) != 1 || found[0].Attribute() != "initialization.user_account.password" || found[0].Was != "(secret)" {
		t.Errorf("got %+v", found)
	}
	template.Config.Password = true
	if found := Read(g).Unseen(vm(t, ""), Read(template), ignores); len(found) != 0 {
		t.Errorf("the template has one, too: %+v", found)
	}
}
