package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// notHalfMade says in words why a guest cannot be a clone whose apply was killed
// before it was configured: such a guest is stopped and has the hardware of its
// template, with other volumes and MAC addresses.
func notHalfMade(g, template *Guest) []string {
	if g.Status != "stopped" {
		return []string{"it is " + g.Status + ", and an interrupted clone is stopped"}
	}
	if template == nil || !template.Template || template.Config == nil {
		return []string{"the configuration of its template was not read, so that they cannot be compared"}
	}
	is, was := cloned(g.Config.Raw), cloned(template.Config.Raw)
	for key, drive := range was {
		if is[key] == "" && removedFirst(drive) {
			delete(was, key)
			was["boot"] = withoutDrive(was["boot"], key)
		}
	}
	var out []string
	for _, key := range union(is, was) {
		if strings.TrimSpace(is[key]) != strings.TrimSpace(was[key]) { // an empty boot order is a blank
			out = append(out, fmt.Sprintf("%s differs from template %d, as in no interrupted clone", key, template.VMID))
		}
	}
	return out
}

// removedFirst reports whether a drive of the template may be missing between two requests
// of the provider: it removes the cloud-init drive, or the CD-ROM that is there, and adds
// one of its own with all other changes.
func removedFirst(drive string) bool {
	return strings.HasPrefix(drive, "cloud-init ") || strings.Contains(drive, "media=cdrom")
}

// withoutDrive is a boot order such as order=scsi0;ide2;net0 after a drive was removed:
// Proxmox VE removes it from there, too.
func withoutDrive(boot, key string) string {
	order, ok := strings.CutPrefix(boot, "order=")
	if !ok {
		return boot
	}
	left := slices.DeleteFunc(strings.Split(order, ";"), func(k string) bool { return k == key })
	if len(left) == 0 {
		return ""
	}
	return "order=" + strings.Join(left, ";")
}

// notCloned are the entries that a clone does not take from its template: its own
// identity, what the clone request sets, and what belongs to a template only.
var notCloned = []string{"name", "description", "smbios1", "vmgenid", "meta", "template", "lock", "digest", "parent", "snaptime", "vmstate"}

// cloned is a configuration without what differs between a template and its clone.
func cloned(raw map[string]string) map[string]string {
	out := map[string]string{}
	for key, value := range raw {
		bus := strings.TrimRight(key, "0123456789")
		switch {
		case slices.Contains(notCloned, key), bus == "unused":
		case bus == "net":
			out[key] = withoutMAC(value)
		case isDisk(key, bus):
			out[key] = clonedDisk(bus, value)
		default:
			out[key] = value
		}
	}
	return out
}

// diskBuses are the entries of disks, without their number.
var diskBuses = []string{"scsi", "virtio", "sata", "ide", "efidisk", "tpmstate"}

func isDisk(key, bus string) bool { return key != bus && slices.Contains(diskBuses, bus) }

// withoutMAC is a NIC without its MAC address, which a clone gets from Proxmox VE.
func withoutMAC(nic string) string {
	var out []string
	for _, part := range strings.Split(nic, ",") {
		if name, value, ok := strings.Cut(part, "="); ok && strings.Count(value, ":") == 5 {
			part = name // virtio=BC:24:... or macaddr=BC:24:...
		}
		out = append(out, part)
	}
	slices.Sort(out)
	return strings.Join(out, ",")
}

// clonedDisk is a disk without its volume and format, which depend on the storage.
// Proxmox VE sizes cloud-init drives, EFI disks and TPM states itself.
func clonedDisk(bus, disk string) string {
	volume, options, _ := strings.Cut(disk, ",")
	parts := strings.Split(options, ",")
	parts = slices.DeleteFunc(parts, func(p string) bool {
		own := strings.Contains(volume, "cloudinit") || bus == "efidisk" || bus == "tpmstate"
		return p == "" || strings.HasPrefix(p, "format=") || own && strings.HasPrefix(p, "size=")
	})
	slices.Sort(parts)
	kind := "disk"
	switch {
	case strings.Contains(volume, "cloudinit"):
		kind = "cloud-init"
	case volume == "none", slices.Contains(parts, "media=cdrom"):
		kind = volume // a clone keeps it
	}
	return kind + " " + strings.Join(parts, ",")
}

func union(a, b map[string]string) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(all)
	return slices.Compact(all)
}
