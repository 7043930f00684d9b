package feasible

import (
	"fmt"
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/lock"
	"stackgen/schema"
)

// stack is a stack with VMs of a spec.
func stack(t *testing.T, vms string) *schema.Stack {
	t.Helper()
	const head = "apiVersion: stackgen/v1\nkind: Stack\nname: lab\nvmids: 100-199\ndefaults: {node: pve1, template: 9000, cloud_init: {ipv4: dhcp}}\n"
	spec, problems := schema.Parse("specs/lab.yaml", []byte(head+vms))
	if spec == nil {
		t.Fatal(problems)
	}
	p, problems := schema.Join(nil, []schema.Input{{Spec: spec, Label: "specs/lab.yaml"}}, schema.Files{}, nil)
	if schema.HasErrors(problems) {
		t.Fatal(problems)
	}
	return p.Stacks[0]
}

// TestConfigurationFeasibility checks what template, VM and cluster must have for the
// configuration of a spec: each way that is printed, too.
func TestConfigurationFeasibility(t *testing.T) {
	template := map[string]string{"boot": "order=scsi0;net0", "scsi0": "local:9000/base-9000-disk-0.qcow2,size=2G", "ide2": "local:9000/vm-9000-cloudinit.qcow2,media=cdrom",
		"ide0": "none,media=cdrom", "efidisk0": "local:9000/base-9000-disk-1.raw,size=128K", "usb1": "spice", "cpu": "custom-old"}
	for _, c := range []struct{ spec, release, chain, create, update string }{
		{spec: "boot_order: [scsi0, net0]"},
		{spec: "boot_order: [ide0, ide2, usb1, net0]"},
		{spec: "boot_order: [scsi5]", create: "its boot order names scsi5, which it does not have > boot_order [scsi0]", update: "same"},
		{spec: "boot_order: [net0, usb0, hostpci0]", create: "its boot order names usb0, hostpci0, which it does not have > boot_order [net0]", update: "same"},
		{spec: "boot_order: [usb0, hostpci3], usb: [{host: spice}], hostpci: [{device: hostpci3, mapping: gpu}]"},
		{spec: "boot_order: [ide2, scsi0], cloud_init: {interface: ide3}", create: "its boot order names ide2, which it does not have > boot_order [scsi0]", update: "same"},
		{spec: "boot_order: [ide3, scsi0], cloud_init: {interface: ide3}"},
		{spec: "boot_order: [ide2, scsi0], cloud_init: false"},
		{spec: "boot_order: [scsi1], disks: [{interface: scsi1, size: 8, datastore: local}]", create: "its boot order names scsi1, which it gets only after the boot order is set > boot_order [scsi0]"},
		{spec: "cloud_init: {interface: scsi0}", create: "its cloud-init drive would replace disk scsi0 > cloud_init ide2", update: "same"},
		{spec: "cloud_init: {interface: ide0}"},
		{spec: "bios: ovmf, efi: {datastore: local, type: 2m}"},
		{spec: "bios: ovmf, efi: {datastore: local}", create: "its template has an EFI disk of type 2m, which a clone keeps > template: VMID"},
		{spec: "disks: [{interface: scsi0, size: 8, datastore: local, format: vmdk}]"},
		{spec: "disks: [{interface: scsi0, size: 8, datastore: thin, format: raw}]"},
		{spec: "disks: [{interface: scsi0, size: 8, datastore: thin, format: qcow2}]", create: "storage thin has no disk images in format qcow2 > disks thin > disks local"},
		{spec: "disks: [{interface: scsi1, size: 8, datastore: thin, format: qcow2}]", create: "storage thin has no disk images in format qcow2 > disks thin > disks local", update: "same"},
		{spec: "disks: [{interface: scsi1, size: 8, datastore: thick, format: qcow2}]", create: "storage thick has no disk images in format qcow2 > disks thick > disks local", update: "same"},
		{spec: "disks: [{interface: scsi1, size: 8, datastore: thick, format: qcow2}]", release: "9.0.3"},
		{spec: "disks: [{interface: scsi1, size: 8, datastore: thick, format: qcow2}]", release: "9.0.3", chain: "1"},
		{spec: "disks: [{interface: scsi1, size: 8, datastore: thick, format: qcow2}]", release: "9.0.3", chain: "0",
			create: "storage thick has no disk images in format qcow2 > disks thick > disks local > ", update: "same"},
		{spec: "disks: [{interface: scsi1, size: 8, datastore: thick, format: vmdk}]", release: "9.0.3", create: "storage thick has no disk images in format vmdk > disks thick > disks local", update: "same"},
		{spec: "cpu_type: custom-lab"},
		{spec: "cpu_type: custom-none", create: "the cluster has no CPU model custom-none > cpu_type x86-64-v2-AES", update: "same"},
		{spec: "cpu_type: custom-old", create: "the cluster has no CPU model custom-old > cpu_type x86-64-v2-AES"},
	} {
		s := stack(t, "vms: {web: {clone: full, "+c.spec+"}}")
		inv := &cluster.Inventory{Release: "8.4.21", CPUModels: []string{"custom-lab"}, Nodes: []cluster.Node{{Name: "pve1", Online: true, Networks: []cluster.Network{{Name: "vmbr0", Type: "bridge"}}}},
			Guests: []cluster.Guest{{VMID: 9000, Node: "pve1", Kind: guest.VM, Template: true, Config: &cluster.Config{Raw: template}}}}
		if c.release != "" {
			inv.Release = c.release
		}
		for _, x := range [][2]string{{"local", "dir"}, {"thin", "lvmthin"}, {"thick", "lvm"}} {
			inv.Storages = append(inv.Storages, cluster.Storage{ID: x[0], Node: "pve1", Type: x[1], Content: "images", Active: true})
			if c.chain != "" {
				inv.Datastores = append(inv.Datastores, cluster.Datastore{ID: x[0], Type: x[1], Content: "images", Chain: c.chain == "1"})
			}
		}
		entry := &lock.VM{VMID: 100, Node: "pve1", Template: &lock.Template{VMID: 9000, Node: "pve1"}}
		created, unknown := Creation(inv, s.VMs[0], entry)
		if got := ways(created); got != c.create || len(unknown) > 0 {
			t.Errorf("%s: the creation: %q, want %q; unknown: %v", c.spec, got, c.create, unknown)
		}
		if c.update == "same" {
			c.update = c.create
		}
		vm := cluster.Guest{VMID: 100, Node: "pve1", Kind: guest.VM, Name: "lab-web", Status: "running"}
		vm.Config = &cluster.Config{Raw: template}
		if got := ways(Update(inv, s.VMs[0], entry, &vm, nil)); got != c.update {
			t.Errorf("%s: the update: %q, want %q", c.spec, got, c.update)
		}
	}
}

// ways are obstacles with the changes of the spec that remove them, in short.
func ways(list []Obstacle) string {
	var out []string
	for _, o := range list {
		text := o.Reason
		for _, r := range o.Remedies {
			text += " > " + r.Text
			switch {
			case r.Field == "boot_order":
				text += fmt.Sprint(r.Field, " ", r.Value.Strings())
			case r.Field == "disks":
				text += r.Field + " " + r.Value.List()[0].Get("datastore").Str()
			case r.Field == "cloud_init":
				text += r.Field + " " + r.Value.Get("interface").Str()
			case r.Value != nil:
				text += r.Field + " " + r.Value.Str()
			}
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

// TestCPUModelRights checks what a CPU model of the administrator needs: the models are not
// listed without Sys.Audit.
func TestCPUModelRights(t *testing.T) {
	vm := stack(t, "vms: {web: {cpu_type: custom-lab}}").VMs[0]
	entry := &lock.VM{VMID: 100, Node: "pve1", Template: &lock.Template{VMID: 9000, Node: "pve1"}}
	for release, want := range map[string]string{"8.4.21": "Sys.Audit on /nodes", "9.1.2": "Sys.Audit on /nodes", "9.2.0": "Mapping.Use on /mapping/cpu/lab", "10.0": "Mapping.Use on /mapping/cpu/lab"} {
		inv := &cluster.Inventory{Release: release, Nodes: []cluster.Node{{Name: "pve1", Online: true}}, Guests: []cluster.Guest{{VMID: 9000, Node: "pve1", Kind: guest.VM, Template: true}}, Access: &cluster.Access{Rights: cluster.Rights{"/vms": map[string]bool{cluster.VMAudit: true}}}}
		found, unknown := Creation(inv, vm, entry)
		text := fmt.Sprint(found, unknown)
		if !strings.Contains(text, want) || !strings.Contains(text, "whether CPU model custom-lab exists is not known") {
			t.Errorf("%s: %s", release, text)
		}
	}
}

// TestTemplateModelRights: since 9.2, a clone needs the CPU model of its template, too.
func TestTemplateModelRights(t *testing.T) {
	vm := stack(t, "vms: {web: {}}").VMs[0]
	entry := &lock.VM{VMID: 100, Node: "pve1", Template: &lock.Template{VMID: 9000, Node: "pve1"}}
	for release, needs := range map[string]bool{"8.4.21": false, "9.1.2": false, "9.2.0": true, "9.2.1": false} {
		template := cluster.Guest{VMID: 9000, Node: "pve1", Kind: guest.VM, Template: true, Config: &cluster.Config{Raw: map[string]string{"cpu": "cputype=custom-lab,flags=+aes"}}}
		inv := &cluster.Inventory{Release: release, Nodes: []cluster.Node{{Name: "pve1", Online: true}}, Guests: []cluster.Guest{template},
			Access: &cluster.Access{Rights: cluster.Rights{"/vms": map[string]bool{cluster.VMAudit: true}}}}
		if release == "9.2.1" {
			inv.Access.Rights["/mapping"] = map[string]bool{cluster.MappingUse: true}
		}
		found, _ := Creation(inv, vm, entry)
		if text := fmt.Sprint(found); strings.Contains(text, "Mapping.Use on /mapping/cpu/lab") != needs {
			t.Errorf("%s: %s", release, text)
		}
	}
}

// TestCloudInitDriveReplacesCDROM: the provider deletes what is at the interface of the cloud-init drive that a VM gets, also a CD-ROM
// drive that no spec has.
func TestCloudInitDriveReplacesCDROM(t *testing.T) {
	const lost = "its cloud-init drive would replace CD-ROM drive ide2 > cloud_init ide3"
	for name, c := range map[string]struct {
		spec string
		raw  map[string]string
		want string
	}{
		"image":                      {raw: map[string]string{"ide2": "local:iso/debian.iso,media=cdrom"}, want: lost},
		"drive of the node":          {raw: map[string]string{"ide2": "cdrom,media=cdrom"}, want: lost},
		"empty":                      {raw: map[string]string{"ide2": "none,media=cdrom"}},
		"empty, of a protected VM":   {raw: map[string]string{"ide2": "none,media=cdrom", "protection": "1"}, want: lost},
		"image at another interface": {raw: map[string]string{"ide0": "local:iso/debian.iso,media=cdrom"}},
		"other interface":            {spec: "cloud_init: {interface: ide0}", raw: map[string]string{"ide2": "local:iso/debian.iso,media=cdrom"}},
		"it has a cloud-init drive":  {raw: map[string]string{"ide2": "local:iso/debian.iso,media=cdrom", "ide0": "local:100/vm-100-cloudinit.qcow2,media=cdrom"}},
		"the drive moves there": {spec: "cloud_init: {interface: ide2}", raw: map[string]string{"ide2": "local:iso/debian.iso,media=cdrom", "ide3": "local:100/vm-100-cloudinit.qcow2,media=cdrom"},
			want: lost},
		"no cloud-init": {spec: "cloud_init: false", raw: map[string]string{"ide2": "local:iso/debian.iso,media=cdrom"}},
	} {
		v := stack(t, "vms: {web: {clone: full, "+c.spec+"}}").VMs[0]
		vm := cluster.Guest{VMID: 100, Node: "pve1", Kind: guest.VM, Status: "running", Config: &cluster.Config{Raw: c.raw}}
		for ignores, want := range map[string]string{"node_name": c.want, "initialization": ""} {
			p := &schema.Profile{IgnoreChanges: []string{ignores}}
			if got := ways(only(Update(restartInventory(), v, &lock.VM{VMID: 100, Node: "pve1"}, &vm, p), DriveCheck)); got != want {
				t.Errorf("%s, the profile ignores %s: %q, want %q", name, ignores, got, want)
			}
		}
	}
}
