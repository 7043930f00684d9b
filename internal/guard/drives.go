package guard

import (
	"maps"
	"slices"
	"strings"

	"stackgen/internal/cluster"
	"stackgen/internal/pve"
)

// drivesOf are the drives of a VM that have a volume, or the CD-ROM drive of the node.
func drivesOf(g *cluster.Guest) []pve.Drive {
	if g.Config == nil {
		return nil
	}
	return slices.DeleteFunc(pve.Drives(g.Config.Raw), func(d pve.Drive) bool { return d.Name == "" && d.File != "cdrom" })
}

// A device is a device of its node that a VM uses.
type device struct {
	key    string
	mapped bool
}

// devicesOf are the devices of its node that a VM uses.
func devicesOf(g *cluster.Guest) []device {
	var out []device
	if g.Config == nil {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(g.Config.Raw)) {
		e := pve.Parse(g.Config.Raw[key])
		switch name, _ := pve.SplitKey(key); name {
		case "usb":
			if strings.EqualFold(e.Default("host"), "spice") {
				continue
			}
		case "serial":
			if e.Default("") == "socket" {
				continue
			}
		case "hostpci", "parallel":
		default:
			continue
		}
		out = append(out, device{key, e.Has("mapping")})
	}
	return out
}
