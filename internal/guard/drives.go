package guard

import (
	"maps"
	"slices"
	"strings"

	"stackgen/internal/cluster"
)

// A volume is a drive in the configuration of a VM.
type volume struct {
	key, storage             string
	cdrom, cloudInit, linked bool
}

// drivesOf are the drives of a VM that have a volume or a device.
func drivesOf(g *cluster.Guest) []volume {
	var out []volume
	if g.Config == nil {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(g.Config.Raw)) {
		switch strings.TrimRight(key, "0123456789") {
		case "ide", "sata", "scsi", "virtio", "efidisk", "tpmstate", "unused":
		default:
			continue
		}
		if key == strings.TrimRight(key, "0123456789") { // such as scsihw
			continue
		}
		file, options, _ := strings.Cut(strings.TrimPrefix(g.Config.Raw[key], "file="), ",")
		storage, name, _ := strings.Cut(file, ":")
		if file != "cdrom" && name == "" {
			continue // none
		}
		if file == "cdrom" {
			storage = ""
		}
		cdrom := strings.Contains(","+options+",", ",media=cdrom,")
		out = append(out, volume{key: key, storage: storage, cdrom: cdrom, cloudInit: strings.Contains(name, "cloudinit"),
			linked: strings.Contains("/"+name, "/base-") && strings.Contains(name, "/vm-")})
	}
	return out
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
		value := g.Config.Raw[key]
		switch strings.TrimRight(key, "0123456789") {
		case "usb":
			if strings.HasPrefix(strings.TrimPrefix(value, "host="), "spice") {
				continue
			}
		case "serial":
			if value == "socket" {
				continue
			}
		case "hostpci", "parallel":
		default:
			continue
		}
		out = append(out, device{key, strings.Contains(value, "mapping=")})
	}
	return out
}
