package effect

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"stackgen/internal/tf"
)

// Proxmox VE replugs network devices and USB devices of a running VM, and the provider
// knows them by their numbers. Where one is added or removed before others, each of those
// gets another number: it is replugged, or its MAC address is connected to the network of
// another one.

// A Device is a network device or a USB device.
type Device struct {
	ID      string // its MAC address; the device of the node, or its mapping
	Network string // its bridge and VLAN, such as vmbr0.20
}

// Devices are the devices of a list before and after an update, by number.
type Devices struct{ Before, After []Device }

// Lists of devices that Proxmox VE replugs while a VM runs.
const (
	NICs = "network_device"
	USBs = "usb"
)

// NewNIC is a network device. A VLAN is "" or 0 where there is none.
func NewNIC(mac, bridge, vlan string) Device {
	if vlan != "" && vlan != "0" {
		bridge += "." + vlan
	}
	return Device{strings.ToUpper(mac), bridge}
}

// Numbered are the devices of one of these lists, by number.
func Numbered(v tf.Values, list string) []Device {
	var out []Device
	for _, name := range v.Devices(list) {
		at := list + "." + name
		if list == NICs {
			out = append(out, NewNIC(v[at+".mac_address"], v[at+".bridge"], v[at+".vlan_id"]))
		} else {
			out = append(out, Device{ID: v[at+".host"] + v[at+".mapping"]})
		}
	}
	return out
}

// MoveDevices says what the devices are after an update. Where it is not known which one a
// device is, it is the one that has its number.
func (v *VM) MoveDevices(list string, before, after []Device) {
	after = slices.Clone(after)
	for i := range min(len(before), len(after)) {
		if after[i].ID == "" {
			after[i].ID = before[i].ID
		}
	}
	if v.devices == nil {
		v.devices = map[string]Devices{}
	}
	v.devices[list] = Devices{before, after}
}

// numbered is the device with a number, or none.
func numbered(list []Device, n int) Device {
	if n < len(list) {
		return list[n]
	}
	return Device{}
}

// withMoves are changes with the devices that get another number.
func (v *VM) withMoves(changes []tf.Change) []tf.Change {
	out := slices.Clone(changes)
	for i := range out {
		list, part, _ := strings.Cut(out[i].Path, ".")
		number := strings.TrimLeft(out[i].Device, "netusb")
		if n, err := strconv.Atoi(number); err == nil && !out[i].Removes() {
			if k := v.devices[list].from(part, n); k >= 0 {
				out[i].From = cmp.Or(strings.TrimSuffix(out[i].Device, number), list) + strconv.Itoa(k) // a plan has the number alone
			}
		}
	}
	return out
}

// from is the number of the device that moves with a change of a part of a device, or -1.
func (d Devices) from(part string, n int) int {
	was, is := numbered(d.Before, n), numbered(d.After, n)
	switch part {
	case "", "mac_address", "host", "mapping":
		if k := slices.IndexFunc(d.Before, func(other Device) bool { return is.ID != "" && other.ID == is.ID }); was.ID != is.ID {
			return k
		}
	case "bridge", "vlan_id":
		// A network that another device had and has not any more, or that another one gets.
		reconnected := n < len(d.Before) && was.ID == is.ID && was.Network != is.Network
		for k := range max(len(d.Before), len(d.After)) {
			before, after := numbered(d.Before, k).Network, numbered(d.After, k).Network
			if reconnected && k != n && before != after && (before == is.Network || after == was.Network) {
				return k
			}
		}
	}
	return -1
}

// moves is what a change does that moves a device of a running VM, or that connects a MAC
// address to the network of another device; "" for any other one.
func (v *VM) moves(c tf.Change) (string, Harm) {
	list, part, _ := strings.Cut(c.Path, ".")
	reconnects := part == "bridge" || part == "vlan_id"
	if c.From == "" || !reconnects && !(v.Running && v.hotplugs(list, "")) {
		return "", ""
	}
	harm := Moves
	if v.Permits || !v.Running {
		harm = ""
	}
	switch {
	case reconnects:
		n, _ := strconv.Atoi(strings.TrimPrefix(c.Device, "net")) // withMoves read it
		return "connects " + v.devices[NICs].Before[n].ID + " to another network at once, because " + c.From + " is moved", harm
	case list == NICs && !v.Answers:
		return "replugs what was " + c.From + " at once, or after a restart if the guest does not let it go", harm
	}
	return "replugs what was " + c.From + " at once", harm
}
