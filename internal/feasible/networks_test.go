package feasible

import (
	"slices"
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/lock"
	"stackgen/schema"
)

// TestInactiveBridge: no guest can use a bridge that its node has in its configuration only. Where a VM already has the
// bridge, an update does not ask.
func TestInactiveBridge(t *testing.T) {
	const reload = "bridge vmbr9 of node pve1 is configured, but not active > "
	inv := &cluster.Inventory{Nodes: []cluster.Node{{Name: "pve1", Online: true, Networks: []cluster.Network{
		{Name: "vmbr0", Type: "bridge"}, {Name: "vmbr9", Type: "bridge", Inactive: true}}}}}
	inv.Guests = []cluster.Guest{{VMID: 9000, Node: "pve1", Kind: guest.VM, Template: true, Config: &cluster.Config{Raw: map[string]string{}}}}
	entry := &lock.VM{VMID: 100, Node: "pve1", Template: &lock.Template{VMID: 9000, Node: "pve1"}}
	vm := cluster.Guest{VMID: 100, Node: "pve1", Kind: guest.VM, Config: &cluster.Config{Raw: map[string]string{"net0": "virtio,bridge=vmbr0"}}}
	for networks, want := range map[string][2]string{
		"{bridge: vmbr0}":                  {"", ""},
		"{bridge: vmbr9}":                  {reload, reload},
		"{bridge: vmbr0}, {bridge: vmbr9}": {reload, reload},
		"{bridge: vmbr9}, {bridge: vmbr9}": {reload, reload},
	} {
		s := stack(t, "vms: {web: {clone: full, networks: ["+networks+"]}}")
		created, unknown := Creation(inv, s.VMs[0], entry)
		if got := ways(created); got != want[0] || len(unknown) > 0 {
			t.Errorf("%s: the creation: %q, want %q; unknown: %v", networks, got, want[0], unknown)
		}
		if want[0] != "" && strings.Join(created[0].Remedies[0].Commands, "; ") != "pvesh set /nodes/pve1/network" {
			t.Errorf("%s: it says %+v", networks, created[0].Remedies)
		}
		if got := ways(Update(inv, s.VMs[0], entry, &vm, nil)); got != want[1] {
			t.Errorf("%s: the update: %q, want %q", networks, got, want[1])
		}
	}
	vm.Config.Raw["net0"] = "virtio,bridge=vmbr9"
	s := stack(t, "vms: {web: {clone: full, networks: [{bridge: vmbr9}]}}")
	if got := ways(Update(inv, s.VMs[0], entry, &vm, nil)); got != "" {
		t.Errorf("an update of a VM that has the bridge: %q", got)
	}
}

// TestMissingBridge: the line that creates a bridge says what else it applies, and that it may be a network of SDN.
func TestMissingBridge(t *testing.T) {
	inv := &cluster.Inventory{Nodes: []cluster.Node{{Name: "pve1", Online: true, Networks: []cluster.Network{{Name: "vmbr0", Type: "bridge"}}}}}
	inv.Guests = []cluster.Guest{{VMID: 9000, Node: "pve1", Kind: guest.VM, Template: true, Config: &cluster.Config{Raw: map[string]string{}}}}
	entry := &lock.VM{VMID: 100, Node: "pve1", Template: &lock.Template{VMID: 9000, Node: "pve1"}}
	inv.Access = &cluster.Access{Rights: cluster.Rights{cluster.ZonesPath: {cluster.SDNAudit: true, cluster.SDNUse: true}}}
	found, _ := Creation(inv, stack(t, "vms: {web: {clone: full, networks: [{bridge: vmbr7}]}}").VMs[0], entry)
	found = slices.DeleteFunc(found, func(o Obstacle) bool { return o.Check != NetworkCheck })
	if len(found) != 1 {
		t.Fatalf("found %+v", found)
	}
	r := found[0].Remedies[len(found[0].Remedies)-1]
	for _, part := range []string{"SDN", "without a port", "other changes"} {
		if !strings.Contains(r.What, part) || !strings.Contains(strings.Join(r.Commands, ""), "--iface vmbr7") {
			t.Errorf("it does not say %q: %+v", part, r)
		}
	}
}

// TestVLANs: Proxmox VE starts no guest with a NIC whose VLANs its bridge does not take, and connects none to a running one.
func TestVLANs(t *testing.T) {
	const (
		steps  = " >  > networks " // make it VLAN-aware, or write them without
		bridge = "vmbr1 of node pve1 is not VLAN-aware, so Proxmox VE connects no NIC with these VLANs" + steps
		trunks = "vmbr2 of node pve1 is not VLAN-aware, so Proxmox VE connects no NIC with these VLANs" + steps
		vnet   = "office of node pve1 is not VLAN-aware, so Proxmox VE connects no NIC with these VLANs" + steps
	)
	inv := &cluster.Inventory{Nodes: []cluster.Node{{Name: "pve1", Online: true, Networks: []cluster.Network{
		{Name: "vmbr0", Type: "bridge"}, {Name: "vmbr1", Type: "bridge", NoVLAN: true, NoTrunks: true},
		{Name: "vmbr2", Type: "bridge", NoTrunks: true}, {Name: "office", Type: cluster.VNet, NoVLAN: true, NoTrunks: true}}}}}
	inv.Guests = []cluster.Guest{{VMID: 9000, Node: "pve1", Kind: guest.VM, Template: true, Config: &cluster.Config{Raw: map[string]string{}}}}
	entry := &lock.VM{VMID: 100, Node: "pve1", Template: &lock.Template{VMID: 9000, Node: "pve1"}}
	for _, c := range []struct {
		nic, has                  string // in the spec; of the VM
		creation, update, restart string
	}{
		{"bridge: vmbr0, vlan: 20, trunks: [10]", "bridge=vmbr0", "", "", ""},
		{"bridge: vmbr1", "bridge=vmbr1", "", "", ""},
		{"bridge: vmbr1, vlan: 20", "bridge=vmbr1", bridge, bridge, bridge},
		{"bridge: vmbr1, vlan: 20", "bridge=vmbr1,tag=20", bridge, "", bridge}, // it runs with it
		{"bridge: vmbr1", "bridge=vmbr1,tag=20", "", "", ""},                   // the update makes it right
		{"bridge: vmbr2, vlan: 20", "bridge=vmbr0", "", "", ""},
		{"bridge: vmbr2, trunks: [10, 20]", "bridge=vmbr2,trunks=10;20", trunks, "", trunks},
		{"bridge: vmbr2, trunks: [10, 20]", "bridge=vmbr2,trunks=10", trunks, trunks, trunks},
		{"bridge: office, vlan: 20", "bridge=office", vnet, vnet, vnet},
		{"bridge: office", "bridge=office", "", "", ""},
	} {
		v := stack(t, "vms: {web: {clone: full, networks: [{"+c.nic+"}]}}").VMs[0]
		vm := cluster.Guest{VMID: 100, Node: "pve1", Kind: guest.VM, Status: "running",
			Config: &cluster.Config{Raw: map[string]string{"net0": "virtio=BC:24:11:00:00:01," + c.has}}}
		created, _ := Creation(inv, v, entry)
		if got := ways(only(created, NetworkCheck)); got != c.creation {
			t.Errorf("%s: the creation: %q, want %q", c.nic, got, c.creation)
		}
		if got := ways(Update(inv, v, entry, &vm, nil)); got != c.update {
			t.Errorf("%s -> %s: the update: %q, want %q", c.has, c.nic, got, c.update)
		}
		if got := ways(Restart(inv, v, entry, &vm, &schema.Profile{})); got != c.restart {
			t.Errorf("%s -> %s: the restart: %q, want %q", c.has, c.nic, got, c.restart)
		}
		vm.Status = "stopped"
		if got := ways(Update(inv, v, entry, &vm, nil)); got != "" {
			t.Errorf("%s -> %s, stopped: the update: %q", c.has, c.nic, got)
		}
	}
	v := stack(t, "vms: {web: {clone: full, started: false, networks: [{bridge: vmbr1, vlan: 20}]}}").VMs[0]
	if created, _ := Creation(inv, v, entry); len(only(created, NetworkCheck)) > 0 {
		t.Errorf("a VM that is not started: %+v", created)
	}
	for net, want := range map[string]string{
		"name=eth0,bridge=vmbr1,tag=20":             strings.TrimSuffix(bridge, steps) + " > ",
		"name=eth0,bridge=vmbr1,tag=20,link_down=1": "",
		"name=eth0,bridge=vmbr1":                    "",
		"name=eth0,bridge=vmbr0,tag=20":             "",
	} {
		g := cluster.Guest{VMID: 100, Node: "pve1", Kind: guest.Container, Status: "running", Config: &cluster.Config{Raw: map[string]string{"net0": net}}}
		if got := ways(Start(inv, &g)); got != want {
			t.Errorf("container, %s: %q, want %q", net, got, want)
		}
	}
}

// TestLineWithoutVLANs: the printed line keeps the other NICs of a VM, and what else the refused one has.
func TestLineWithoutVLANs(t *testing.T) {
	inv := &cluster.Inventory{Nodes: []cluster.Node{{Name: "pve1", Online: true, Networks: []cluster.Network{
		{Name: "vmbr0", Type: "bridge"}, {Name: "vmbr1", Type: "bridge", NoVLAN: true, NoTrunks: true}}}},
		Guests: []cluster.Guest{{VMID: 9000, Node: "pve1", Kind: guest.VM, Template: true, Config: &cluster.Config{Raw: map[string]string{}}}}}
	v := stack(t, "vms: {web: {clone: full, networks: [{bridge: vmbr0, vlan: 7}, {bridge: vmbr1, model: e1000, vlan: 20, trunks: [10]}]}}").VMs[0]
	found, _ := Creation(inv, v, &lock.VM{VMID: 100, Node: "pve1", Template: &lock.Template{VMID: 9000, Node: "pve1"}})
	found = only(found, NetworkCheck)
	if len(found) != 1 || len(found[0].Remedies) != 2 {
		t.Fatalf("found %+v", found)
	}
	const want = "[{bridge: vmbr0, model: virtio, vlan: 7, firewall: false}, {bridge: vmbr1, model: e1000, firewall: false}]"
	if got := found[0].Remedies[1].Value.Flow(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
