package effect

import (
	"strings"
	"testing"

	"stackgen/internal/tf"
)

// nicValues are a VM with network devices, each as MAC@BRIDGE.VLAN, and USB devices.
func nicValues(nics, usbs string) tf.Values {
	vm := map[string]any{}
	var list, devices []any
	for _, nic := range strings.Fields(nics) {
		mac, at, _ := strings.Cut(nic, "@")
		bridge, vlan, _ := strings.Cut(at, ".")
		device := map[string]any{"bridge": bridge, "vlan_id": vlan}
		if mac != "" {
			device["mac_address"] = mac
		}
		list = append(list, device)
	}
	for _, usb := range strings.Fields(usbs) {
		devices = append(devices, map[string]any{"mapping": usb})
	}
	vm["network_device"], vm["usb"] = list, devices
	return tf.Flatten(vm)
}

// TestMoves judges plans that give devices other numbers, of a running VM whose spec does
// not permit restarts. Only the changes that move a device are compared.
func TestMoves(t *testing.T) {
	for name, c := range map[string]struct{ before, after, usbBefore, usbAfter, want string }{
		"nothing":                       {before: "A@b.1 B@b.2", after: "A@b.1 B@b.2"},
		"added last":                    {before: "A@b.1", after: "A@b.1 @b.2"},
		"added first":                   {before: "A@b.1", after: "C@b.3 A@b.1", want: "net1 from net0"},
		"added first, MACs not decided": {before: "A@b.1 B@b.2", after: "A@b.3 B@b.1 @b.2", want: "net0.vlan_id from net1, net1.vlan_id from net0"},
		"removed first":                 {before: "A@b.1 B@b.2 C@b.3", after: "B@b.2 C@b.3", want: "net0.mac_address from net1, net1.mac_address from net2"},
		"removed first, not decided":    {before: "A@b.1 B@b.2", after: "A@b.2", want: "net0.vlan_id from net1"},
		"removed first, same network":   {before: "A@b B@b", after: "B@b", want: "net0.mac_address from net1"},
		"removed last":                  {before: "A@b.1 B@b.2", after: "A@b.1"},
		"swapped":                       {before: "A@b.1 B@b.2", after: "B@b.2 A@b.1", want: "net0.mac_address from net1, net1.mac_address from net0"},
		"MACs swapped":                  {before: "A@b B@b", after: "B@b A@b", want: "net0.mac_address from net1, net1.mac_address from net0"},
		"bridges swapped":               {before: "A@a B@b", after: "A@b B@a", want: "net0.bridge from net1, net1.bridge from net0"},
		"another network":               {before: "A@b.1 B@b.2", after: "A@b.3 B@b.2"},
		"the network of another one":    {before: "A@b.1 B@b.2", after: "A@b.2 B@b.2"},
		"other networks":                {before: "A@b.1 B@b.2", after: "A@b.3 B@b.4"},
		"the VLAN of another one":       {before: "A@a.1 B@b.2", after: "A@a.2 B@b.3"},
		"a new one gets the network":    {before: "A@b.1", after: "A@b.2 @b.1", want: "net0.vlan_id from net1"},
		"another MAC":                   {before: "A@b.1 B@b.2", after: "C@b.1 B@b.2"},
		"other case":                    {before: "a@b.1 B@b.2", after: "A@b.1 B@b.2"},
		"USB device added last":         {usbBefore: "x", usbAfter: "x y"},
		"USB device added first":        {usbBefore: "x", usbAfter: "y x", want: "usb.1 from usb0"},
		"USB device removed first":      {usbBefore: "x y", usbAfter: "y", want: "usb.0.mapping from usb1"},
		"USB device replaced":           {usbBefore: "x y", usbAfter: "z y"},
		"one of two equal devices":      {usbBefore: "spice spice", usbAfter: "spice"},
	} {
		before, after := nicValues(c.before, c.usbBefore), nicValues(c.after, c.usbAfter)
		for _, permits := range []bool{false, true} {
			vm := VM{State: before, Running: true, Permits: permits, Answers: true}
			for _, list := range []string{NICs, USBs} {
				vm.MoveDevices(list, Numbered(before, list), Numbered(after, list))
			}
			var got []string
			for _, u := range vm.Updates(tf.OfPlan(before, after)) {
				if u.From == "" {
					if u.Harm != "" {
						t.Errorf("%s: %s", name, u.Harm)
					}
					continue
				}
				got = append(got, strings.TrimPrefix(u.Attribute(), "network_device.")+" from "+u.From)
				if (u.Harm == Moves) == permits {
					t.Errorf("%s: %s, harm %q, permitted %v", name, u, u.Harm, permits)
				}
			}
			if text := strings.Join(got, ", "); text != c.want {
				t.Errorf("%s: got %q, want %q", name, text, c.want)
			}
		}
	}
}

// TestMovesOfUnknownDevice: a change of a device that the list of before does not have, as
// where a state and a configuration differ, moves nothing.
func TestMovesOfUnknownDevice(t *testing.T) {
	vm := VM{Running: true}
	vm.MoveDevices(NICs, []Device{{"A", "b.1"}}, []Device{{"A", "b.2"}, {"", "b.1"}})
	u := vm.Updates([]tf.Change{{Path: NICs + ".bridge", Device: "net1", Was: "b", Is: "c"}})
	if len(u) != 1 || u[0].From != "" || u[0].Harm == Moves {
		t.Errorf("%+v", u)
	}
}
