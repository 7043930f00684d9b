package feasible

import (
	"slices"
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/lock"
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
