package feasible

import (
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/lock"
	"stackgen/schema"
)

// restartInventory is a cluster whose node pve1 has a bridge and a storage, and of which the token sees everything.
func restartInventory() *cluster.Inventory {
	return &cluster.Inventory{
		Nodes: []cluster.Node{{Name: "pve1", Online: true, Networks: []cluster.Network{{Name: "vmbr0", Type: "bridge"}}},
			{Name: "pve2", Online: true, Networks: []cluster.Network{{Name: "vmbr0", Type: "bridge"}}}},
		Storages:   []cluster.Storage{{ID: "local", Node: "pve1", Type: "dir", Content: "images,iso", Active: true}},
		Datastores: []cluster.Datastore{{ID: "local", Type: "dir", Content: "images,iso"}},
		ISOs:       []cluster.Files{{Storage: "local", Node: "pve1", Files: []cluster.File{{Name: "debian.iso"}}}},
		Snippets:   []cluster.Files{{Storage: "local", Node: "pve1", Files: []cluster.File{{Name: "user.yaml"}}}},
		Mappings:   []cluster.Mappings{{Kind: "usb", List: []cluster.Mapping{{Name: "stick", Nodes: []string{"pve1"}}, {Name: "far", Nodes: []string{"pve2"}}}}, {Kind: "dir"}},
		Guests:     []cluster.Guest{{VMID: 9000, Node: "pve1", Kind: guest.VM, Template: true, Config: &cluster.Config{Raw: map[string]string{"name": "t"}}}},
		CPUModels:  []string{},
		Access: &cluster.Access{User: "root@pam", Rights: cluster.Rights{"/": {cluster.MappingUse: true}, "/storage": {cluster.DatastoreAudit: true},
			cluster.ZonesPath: {cluster.SDNUse: true}}},
	}
}

// TestMappings: a resource mapping that does not exist, or not on the node, prevents a start. What the token may not use, or what could not be
// read, is not missing.
func TestMappings(t *testing.T) {
	const (
		usb    = "the cluster has no USB mapping key, so Proxmox VE refuses to start it > usb: [{mapping: NAME}]"
		far    = "USB mapping far has no device on node pve1, so Proxmox VE refuses to start it there > usb: [{mapping: NAME}]"
		shared = "the cluster has no directory mapping media, so Proxmox VE refuses to start it > virtiofs: [{mapping: NAME}]"
	)
	mayNot := func(inv *cluster.Inventory) {
		inv.Access.Rights["/mapping/usb/key"] = map[string]bool{}
	}
	for name, c := range map[string]struct {
		spec            string
		raw             map[string]string // of the VM
		change          func(*cluster.Inventory)
		create, unknown string
		update, restart string
	}{
		"on the node":         {spec: "usb: [{mapping: stick}, {host: spice}]"},
		"missing":             {spec: "usb: [{mapping: stick}, {mapping: key}]", create: usb, update: usb, restart: usb},
		"of another node":     {spec: "usb: [{mapping: far}]", create: far + " > node: NAME", update: far, restart: far},
		"directory":           {spec: "virtiofs: [{mapping: media}]", create: shared, update: shared, restart: shared},
		"not read":            {spec: "hostpci: [{mapping: gpu}]", unknown: "whether the PCI mapping gpu exists is not known: it could not be read"},
		"may not be used":     {spec: "usb: [{mapping: key}]", change: mayNot},
		"the VM has it":       {spec: "usb: [{mapping: key}]", raw: map[string]string{"usb0": "mapping=key"}, create: usb, restart: usb},
		"the spec removes it": {spec: "usb: [{mapping: stick}]", raw: map[string]string{"usb0": "mapping=key"}},
		"it is not started":   {spec: "started: false, usb: [{mapping: key}]", update: usb, restart: usb},
		"older snapshot": {spec: "usb: [{mapping: key}]", change: func(inv *cluster.Inventory) {
			inv.Access, inv.Mappings = nil, nil
		}},
	} {
		inv := restartInventory()
		if c.change != nil {
			c.change(inv)
		}
		raw := map[string]string{"name": "web", "net0": "virtio,bridge=vmbr0"}
		for k, v := range c.raw {
			raw[k] = v
		}
		v := stack(t, "vms: {web: {clone: full, cloud_init: false, "+c.spec+"}}").VMs[0]
		e := &lock.VM{VMID: 100, Node: "pve1", Template: &lock.Template{VMID: 9000, Node: "pve1"}}
		vm := cluster.Guest{VMID: 100, Node: "pve1", Kind: guest.VM, Status: "running", Config: &cluster.Config{Raw: raw}}
		created, unknown := Creation(inv, v, e)
		if got := ways(only(created, MappingCheck)); got != c.create {
			t.Errorf("%s: the creation: %q, want %q", name, got, c.create)
		}
		got := ""
		for _, u := range unknown {
			got += u.Reason
		}
		if got != c.unknown {
			t.Errorf("%s: unknown: %q, want %q", name, got, c.unknown)
		}
		if got := ways(only(Update(inv, v, e, &vm, &schema.Profile{}), MappingCheck)); got != c.update {
			t.Errorf("%s: the update: %q, want %q", name, got, c.update)
		}
		if got := ways(Restart(inv, v, e, &vm, &schema.Profile{})); got != c.restart {
			t.Errorf("%s: the restart: %q, want %q", name, got, c.restart)
		}
		vm.Status = "stopped"
		if got := ways(only(Update(inv, v, e, &vm, &schema.Profile{}), MappingCheck)); got != "" {
			t.Errorf("%s: the update of a VM that is off: %q", name, got)
		}
	}
}

// only are the obstacles of one check.
func only(list []Obstacle, check Check) (out []Obstacle) {
	for _, o := range list {
		if o.Check == check {
			out = append(out, o)
		}
	}
	return out
}

// TestMappingOfTarget: a VM is not migrated to a node that its mapping is not on.
func TestMappingOfTarget(t *testing.T) {
	for spec, want := range map[string]string{
		"usb: [{mapping: far}]":   "",
		"usb: [{mapping: stick}]": "USB mapping stick has no device on node pve2, so Proxmox VE refuses to start it there > usb: [{mapping: NAME}]",
	} {
		v := stack(t, "vms: {web: {clone: full, "+spec+"}}").VMs[0]
		vm := cluster.Guest{VMID: 100, Node: "pve1", Kind: guest.VM, Config: &cluster.Config{Raw: map[string]string{"usb0": "mapping=stick"}}}
		if got := ways(only(Migration(restartInventory(), v, &lock.VM{VMID: 100, Node: "pve2"}, &vm), MappingCheck)); got != want {
			t.Errorf("%s: %q, want %q", spec, got, want)
		}
	}
}

// TestRestart: what a VM runs with may be gone when an update stops it: it would stay off. What the update changes counts as it is
// then, and what the profile ignores as it is now.
func TestRestart(t *testing.T) {
	const (
		bridge  = "node pve1 has no bridge or virtual network vmbr9 > "
		storage = "storage fast does not exist"
	)
	for name, c := range map[string]struct {
		spec    string
		raw     map[string]string
		ignores []string
		change  func(*cluster.Inventory)
		want    string
	}{
		"nothing is gone":            {spec: "disks: [{interface: scsi0, size: 8, datastore: local}]", raw: map[string]string{"scsi0": "local:100/vm-100-disk-0.qcow2,size=8G"}},
		"bridge":                     {spec: "networks: [{bridge: vmbr9}]", raw: map[string]string{"net0": "virtio,bridge=vmbr9"}, want: "node pve1 has no bridge or virtual network vmbr9 > networks  > "},
		"bridge, which changes":      {spec: "networks: [{bridge: vmbr0}]", raw: map[string]string{"net0": "virtio,bridge=vmbr9"}},
		"bridge that is ignored":     {spec: "networks: [{bridge: vmbr0}]", raw: map[string]string{"net0": "virtio,bridge=vmbr9"}, ignores: []string{"network_device"}, want: bridge},
		"storage of a disk":          {spec: "disks: [{interface: scsi0, size: 8, datastore: fast}]", raw: map[string]string{"scsi0": "fast:vm-100-disk-0,size=8G"}, want: storage},
		"storage of an unknown disk": {raw: map[string]string{"scsi3": "fast:vm-100-disk-0,size=8G"}, want: storage},
		"storage of an unused disk":  {raw: map[string]string{"unused0": "fast:vm-100-disk-0"}},
		"storage of the cloud-init drive": {spec: "cloud_init: {datastore: fast}", raw: map[string]string{"ide2": "fast:vm-100-cloudinit,media=cdrom"},
			want: storage},
		"storage of a cloud-init drive that is ignored": {spec: "cloud_init: {datastore: local}", raw: map[string]string{"ide2": "fast:vm-100-cloudinit,media=cdrom"},
			ignores: []string{"initialization"}, want: storage},
		"storage of a cloud-init drive, and the spec has none": {spec: "cloud_init: false", raw: map[string]string{"ide2": "fast:vm-100-cloudinit,media=cdrom"},
			want: storage},
		"storage of a cloud-init drive that changes": {spec: "cloud_init: {datastore: local}", raw: map[string]string{"ide2": "fast:vm-100-cloudinit,media=cdrom"}},
		"storage that the token does not see": {raw: map[string]string{"scsi0": "fast:vm-100-disk-0,size=8G"}, change: func(inv *cluster.Inventory) {
			inv.Access.Rights["/storage"] = map[string]bool{}
		}},
		"disabled storage": {raw: map[string]string{"scsi0": "local:100/vm-100-disk-0.qcow2,size=8G"}, change: func(inv *cluster.Inventory) {
			inv.Storages, inv.Datastores[0].Disabled = nil, true
		}, want: "storage local is disabled > "},
		"CD-ROM image": {raw: map[string]string{"ide0": "local:iso/gone.iso,media=cdrom,size=600M"},
			want: "its CD-ROM image local:iso/gone.iso does not exist on node pve1, so Proxmox VE refuses to start it >  > "},
		"CD-ROM image that is there": {raw: map[string]string{"ide0": "local:iso/debian.iso,media=cdrom", "ide1": "none,media=cdrom", "ide3": "cdrom,media=cdrom"}},
		"CD-ROM image, not read": {raw: map[string]string{"ide0": "local:iso/gone.iso,media=cdrom"}, change: func(inv *cluster.Inventory) {
			inv.ISOs = nil
		}},
		"CD-ROM image, which the storage does not take": {raw: map[string]string{"ide0": "local:iso/debian.iso,media=cdrom"}, change: func(inv *cluster.Inventory) {
			inv.Storages[0].Content = "images"
		}, want: "storage local does not take CD-ROM images > "},
		"snippet": {raw: map[string]string{"ide2": "local:100/vm-100-cloudinit.qcow2,media=cdrom", "cicustom": "user=local:snippets/gone.yaml,meta=local:snippets/user.yaml"},
			want: "its snippet local:snippets/gone.yaml does not exist on node pve1, so Proxmox VE refuses to start it > "},
		"snippet that is there":            {raw: map[string]string{"ide2": "local:100/vm-100-cloudinit.qcow2,media=cdrom", "cicustom": "user=local:snippets/user.yaml"}},
		"snippet without cloud-init drive": {raw: map[string]string{"ide2": "none,media=cdrom", "cicustom": "user=local:snippets/gone.yaml"}},
		"snippet, not read": {raw: map[string]string{"ide2": "local:100/vm-100-cloudinit.qcow2,media=cdrom", "cicustom": "user=local:snippets/gone.yaml"}, change: func(inv *cluster.Inventory) {
			inv.Snippets = nil
		}},
		"storage of a snippet": {raw: map[string]string{"ide2": "local:100/vm-100-cloudinit.qcow2,media=cdrom", "cicustom": "user=fast:snippets/user.yaml"}, want: storage},
		"script of hooks": {raw: map[string]string{"hookscript": "local:snippets/gone.pl"}, ignores: []string{"hook_script_file_id"},
			want: "its snippet local:snippets/gone.pl does not exist on node pve1, so Proxmox VE refuses to start it > "},
		"script of hooks, which the spec removes": {spec: "cores: 2", raw: map[string]string{"hookscript": "local:snippets/gone.pl"}},
		"CPU model":                 {spec: "cpu_type: custom-lab", raw: map[string]string{"cpu": "custom-lab"}, want: "the cluster has no CPU model custom-lab > cpu_type x86-64-v2-AES"},
		"CPU model that is ignored": {spec: "cpu_type: custom-lab", raw: map[string]string{"cpu": "host"}, ignores: []string{"cpu"}},
		"mapping that is ignored": {spec: "usb: [{mapping: stick}]", raw: map[string]string{"usb0": "mapping=key"}, ignores: []string{"usb"},
			want: "the cluster has no USB mapping key, so Proxmox VE refuses to start it > usb: [{mapping: NAME}]"},
	} {
		inv := restartInventory()
		if c.change != nil {
			c.change(inv)
		}
		v := stack(t, "vms: {web: {clone: full, "+c.spec+"}}").VMs[0]
		raw := map[string]string{"name": "web"}
		for k, value := range c.raw {
			raw[k] = value
		}
		vm := cluster.Guest{VMID: 100, Node: "pve1", Kind: guest.VM, Status: "running", Config: &cluster.Config{Raw: raw}}
		if c.spec == "" || c.ignores != nil {
			if got := ways(Start(inv, &vm)); got != c.want {
				t.Errorf("%s: the start: %q, want %q", name, got, c.want)
			}
		}
		p := &schema.Profile{IgnoreChanges: append(c.ignores, "node_name")}
		if got := ways(Restart(inv, v, &lock.VM{VMID: 100, Node: "pve2"}, &vm, p)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestCloneWithCDROM: a clone has the CD-ROM image of its template, unless its cloud-init drive replaces it.
func TestCloneWithCDROM(t *testing.T) {
	const gone = "its CD-ROM image local:iso/gone.iso does not exist on node pve1, so Proxmox VE refuses to start it >  > template: VMID"
	for spec, want := range map[string]string{
		"cloud_init: false":                 gone,
		"cloud_init: false, started: false": "",
		"cloud_init: {ipv4: dhcp}":          "",
		"cloud_init: {interface: ide0}":     gone,
	} {
		inv := restartInventory()
		inv.Guests[0].Config.Raw["ide2"] = "local:iso/gone.iso,media=cdrom"
		v := stack(t, "vms: {web: {clone: full, "+spec+"}}").VMs[0]
		created, _ := Creation(inv, v, &lock.VM{VMID: 100, Node: "pve1", Template: &lock.Template{VMID: 9000, Node: "pve1"}})
		if got := ways(only(created, MediumCheck)); got != want {
			t.Errorf("%s: %q, want %q", spec, got, want)
		}
	}
}

// TestCloneWithSnippets: a clone is started with the snippets of its spec, or of its template.
func TestCloneWithSnippets(t *testing.T) {
	gone := func(name string) string {
		return "its snippet local:snippets/" + name + " does not exist on node pve1, so Proxmox VE refuses to start it > "
	}
	for spec, want := range map[string]string{
		"cloud_init: {ipv4: dhcp}":                                       gone("old.yaml"),
		"cloud_init: {ipv4: dhcp}, started: false":                       "",
		"cloud_init: {user_data: 'local:snippets/user.yaml'}":            "",
		"cloud_init: {user_data: 'local:snippets/gone.yaml'}":            gone("gone.yaml"),
		"cloud_init: {vendor_data: 'local:snippets/gone.yaml'}":          gone("gone.yaml"),
		"cloud_init: {ipv4: dhcp}, hookscript: 'local:snippets/gone.pl'": gone("gone.pl") + "; " + gone("old.yaml"),
	} {
		inv := restartInventory()
		raw := inv.Guests[0].Config.Raw
		raw["ide2"], raw["cicustom"], raw["hookscript"] = "local:9000/vm-9000-cloudinit.qcow2,media=cdrom", "user=local:snippets/old.yaml", "local:snippets/old.pl"
		v := stack(t, "vms: {web: {clone: full, "+spec+"}}").VMs[0]
		created, _ := Creation(inv, v, &lock.VM{VMID: 100, Node: "pve1", Template: &lock.Template{VMID: 9000, Node: "pve1"}})
		if got := ways(only(created, SnippetCheck)); got != want {
			t.Errorf("%s: %q, want %q", spec, got, want)
		}
	}
}

// TestContainerRestart: a container whose bridge or storage is gone does not start again.
func TestContainerRestart(t *testing.T) {
	for name, c := range map[string]struct {
		raw  map[string]string
		want string
	}{
		"nothing is gone": {raw: map[string]string{"rootfs": "local:100/vm-100-disk-0.raw,size=4G", "net0": "name=eth0,bridge=vmbr0", "mp0": "/srv/data,mp=/data"}},
		"bridge":          {raw: map[string]string{"net0": "name=eth0,bridge=vmbr9,hwaddr=BC:24:11:00:00:01"}, want: "node pve1 has no bridge or virtual network vmbr9 > "},
		"script of hooks": {raw: map[string]string{"hookscript": "local:snippets/gone.pl"}, want: "its snippet local:snippets/gone.pl does not exist on node pve1, so Proxmox VE refuses to start it > "},
		"storage":         {raw: map[string]string{"rootfs": "fast:vm-100-disk-0,size=4G", "mp1": "fast:vm-100-disk-1,mp=/data"}, want: "storage fast does not exist"},
	} {
		g := cluster.Guest{VMID: 100, Node: "pve1", Kind: guest.Container, Status: "running", Config: &cluster.Config{Raw: c.raw}}
		if got := ways(Start(restartInventory(), &g)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
