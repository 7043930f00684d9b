package hardware

import (
	"stackgen/guest"
	"stackgen/internal/effect"
	"stackgen/schema"
)

// Devices are the network devices or the USB devices of the VM, by number.
func (r *Reading) Devices(list string) []effect.Device {
	for i := range schema.VMFields {
		if f := &schema.VMFields[i]; f.HCL == list {
			return devices(r.values[f.Key], list)
		}
	}
	return nil
}

// Devices are those of a spec. macs are the MAC addresses that the lock has, by number.
func Devices(v *schema.VM, list string, macs []string) []effect.Device {
	var out []effect.Device
	for i := range schema.VMFields {
		if f := &schema.VMFields[i]; f.HCL == list {
			out = devices(rendered(f, v), list)
		}
	}
	for i := range out {
		if list == effect.NICs && i < len(macs) && macs[i] != schema.AutoMAC {
			out[i].ID = macs[i]
		}
	}
	return out
}

func devices(n *schema.Node, list string) []effect.Device {
	var out []effect.Device
	for _, d := range n.List() {
		switch mac := d.Get(guest.MAC).Str(); {
		case list != effect.NICs:
			out = append(out, effect.Device{ID: d.Get(guest.Host).Str() + d.Get(guest.Mapping).Str()})
		case mac == schema.AutoMAC:
			out = append(out, effect.NewNIC("", d.Get(guest.Bridge).Str(), d.Get(guest.VLAN).Str()))
		default:
			out = append(out, effect.NewNIC(mac, d.Get(guest.Bridge).Str(), d.Get(guest.VLAN).Str()))
		}
	}
	return out
}
