package pvesim_test

import (
	"fmt"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// TestNewBridge: a bridge that was defined is listed, and is active after the network was reloaded.
func TestNewBridge(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	listed := func() string {
		var out []string
		for _, e := range b.data("GET", "/nodes/pve1/network", "type", "any_bridge").([]any) {
			o := e.(map[string]any)
			out = append(out, fmt.Sprint(o["iface"], " ", o["active"] != nil))
		}
		return strings.Join(out, ", ")
	}
	before := listed()
	b.data("POST", "/nodes/pve1/network", "iface", "vmbr9", "type", "bridge", "autostart", "1")
	if got := listed(); got != before+", vmbr9 false" {
		t.Errorf("after its definition: %s", got)
	}
	if r := b.do("POST", "/nodes/pve1/network", "iface", "vmbr9", "type", "bridge"); r.Status != 400 {
		t.Errorf("a second definition: %+v", r)
	}
	b.data("PUT", "/nodes/pve1/network")
	b.clk.Advance(1e9)
	if got := listed(); got != before+", vmbr9 true" {
		t.Errorf("after a reload: %s", got)
	}
}

// TestVLANs: a NIC whose VLANs its bridge or virtual network does not take is configured. A start fails, and so does a running guest
// that would get it at once.
func TestVLANs(t *testing.T) {
	const (
		noPort   = "no physical interface on bridge 'vmbr1'"
		noTrunks = "vlan aware feature need to be enabled to use trunks"
		noVNet   = "vm vlans are not allowed on vnet office"
		mac      = "BC:24:11:00:00:01,"
	)
	for nic, why := range map[string]string{
		"bridge=vmbr0,tag=20":              "",
		"bridge=vmbr0,trunks=20":           noTrunks,
		"bridge=vmbr1":                     "",
		"bridge=vmbr1,tag=20":              noPort,
		"bridge=vmbr2,tag=20":              "",
		"bridge=vmbr2,tag=20,trunks=10;20": "",
		"bridge=office":                    "",
		"bridge=office,tag=20":             noVNet,
		"bridge=lab,tag=20":                "",
	} {
		t.Run(nic, func(t *testing.T) {
			seed, err := pvesim.DefaultSeed()
			if err != nil {
				t.Fatal(err)
			}
			n := seed.Nodes[0]
			n.Bridges, n.Portless, n.VLANAware = []string{"vmbr0", "vmbr1", "vmbr2"}, []string{"vmbr1", "vmbr2"}, []string{"vmbr2"}
			seed.VNets = []*pvesim.VNet{{ID: "office", Zone: "z"}, {ID: "lab", Zone: "z", VLANAware: true}}
			b := newTestSim(t, pvesim.Options{Seed: seed})
			b.must("POST", "/nodes/pve1/qemu", "vmid", "300", "ostype", "l26", "net0", "virtio="+mac+"bridge=vmbr0")
			b.must("POST", "/nodes/pve1/lxc", "vmid", "700", "ostemplate", archive, "rootfs", "local:2", "net0", "name=eth0,bridge=vmbr0,hwaddr="+mac)
			for path, c := range map[string]struct{ net, start string }{
				"/nodes/pve1/qemu/300": {"virtio=" + mac + nic, "start failed: QEMU exited with code 1"},
				ct:                     {"name=eth0,hwaddr=" + mac + nic, why},
			} {
				b.must("POST", path+"/status/start")
				r := b.do("PUT", path+"/config", "net0", c.net)
				if got := string(r.Body) + r.Reason; (r.Status == 200) != (why == "") || !strings.Contains(got, why) {
					t.Errorf("%s, while it runs: %d %s", path, r.Status, got)
				}
				b.must("POST", path+"/status/stop")
				b.data("PUT", path+"/config", "net0", c.net)
				if why == "" {
					c.start = "OK"
				}
				if end, _ := b.task("POST", path+"/status/start"); end != c.start {
					t.Errorf("%s: the start ended %q, want %q", path, end, c.start)
				}
			}
		})
	}
}

// TestBridgeSettings: the list says which bridges have ports and are VLAN-aware, and which virtual networks.
func TestBridgeSettings(t *testing.T) {
	seed, err := pvesim.DefaultSeed()
	if err != nil {
		t.Fatal(err)
	}
	seed.Nodes[0].Bridges = []string{"vmbr0", "vmbr1"}
	seed.VNets = []*pvesim.VNet{{ID: "office", Zone: "z"}}
	b := newTestSim(t, pvesim.Options{Seed: seed})
	b.data("POST", "/nodes/pve1/network", "iface", "vmbr8", "type", "bridge", "bridge_vlan_aware", "1")
	b.data("POST", "/nodes/pve1/network", "iface", "vmbr9", "type", "bridge", "bridge_ports", "eth3")
	b.data("PUT", "/nodes/pve1/network")
	b.clk.Advance(1e9)
	var got []string
	for _, e := range b.data("GET", "/nodes/pve1/network", "type", "any_bridge").([]any) {
		o := e.(map[string]any)
		got = append(got, fmt.Sprint(o["iface"], " ", o["bridge_ports"], " ", o["bridge_vlan_aware"], " ", o["vlanaware"]))
	}
	if want := "vmbr0 eth0 1 <nil>, vmbr1 eth1 <nil> <nil>, vmbr8  1 <nil>, vmbr9 eth3 <nil> <nil>, office <nil> <nil> 0"; strings.Join(got, ", ") != want {
		t.Errorf("%s, want %s", strings.Join(got, ", "), want)
	}
}
