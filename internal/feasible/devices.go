package feasible

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stackgen/guest"
	"stackgen/internal/pve"
	"stackgen/schema"
)

// configuration is that of the VM, or of its template if it does not exist; nil if it is not
// known.
func (c *creation) configuration() map[string]string {
	g := cmp.Or(c.current, c.template)
	if g == nil || g.Config == nil || len(g.Config.Raw) == 0 {
		return nil
	}
	return g.Config.Raw
}

// firmware checks the EFI disk of the template: the provider cannot change its type.
func (c *creation) firmware() {
	has, efi := c.configuration()["efidisk0"], c.get(guest.EFI)
	kind := cmp.Or(pve.Parse(has).Option("efitype"), "2m")
	if has == "" || efi.Get(guest.Type).Str() == "" || efi.Get(guest.Type).Str() == kind {
		return
	}
	c.add("its template has an EFI disk of type "+kind+", which a clone keeps", []string{"the spec says " + efi.Get(guest.Type).Str()},
		Remedy{What: "write a template into SPEC whose EFI disk has the type of the spec, or that has none", Text: "template: VMID"})
}

// cloudInitAt is the interface of the cloud-init drive that the VM gets, by what it has, or
// "" without one.
func (c *creation) cloudInitAt(raw map[string]string) string {
	ci := c.get(guest.CloudInit)
	if ci == nil || ci.Off() {
		return ""
	}
	return cmp.Or(ci.Get(guest.Interface).Str(), cloudInitOf(raw), "ide2")
}

// cloudInitOf is the interface of the cloud-init drive in a configuration.
func cloudInitOf(raw map[string]string) string {
	for _, d := range drivesOf(raw) {
		if d.CDROM() && d.CloudInit() {
			return d.Key
		}
	}
	return ""
}

// cloudInitDrive checks that the cloud-init drive replaces nothing else: the provider deletes
// what is on its interface.
func (c *creation) cloudInitDrive() {
	raw := c.configuration()
	at := c.cloudInitAt(raw)
	if c.current == nil && c.template != nil && at != "" && raw[at] != "" && raw[guest.Protection] == "1" {
		why := "its template %d is protected, so is a clone of it, and the provider cannot replace the cloud-init drive of that"
		c.add(fmt.Sprintf(why, c.template.VMID), []string{c.template.Brief()}, Remedy{
			What:     "remove the protection of the template",
			Commands: []string{pve.Pvesh("set", c.template.Path("config"), "--protection 0")},
			Once:     true,
		})
		return
	}
	what := c.onInterface(raw, at)
	if what == "" {
		return
	}
	var free string
	for _, key := range []string{"ide2", "ide3", "ide0", "ide1", "sata5", "scsi30"} {
		if raw[key] == "" && c.vm.Disk(key) == nil || key == cloudInitOf(raw) {
			free = key
			break
		}
	}
	var remedies []Remedy
	if free != "" {
		value := set(c.get(guest.CloudInit), guest.Interface, scalar(schema.ShapeString, free))
		remedies = append(remedies, c.write("write a free interface into SPEC", guest.CloudInit, value))
	}
	c.add("its cloud-init drive would replace "+what+" "+at, []string{at + ": " + raw[at]}, remedies...)
}

// onInterface is what the cloud-init drive must not replace at its interface: a disk, or a CD-ROM drive of a VM that exists, with
// a medium or with protection, where the provider fails after it has stopped the VM. No spec has a CD-ROM drive, so none asks for
// its removal.
func (c *creation) onInterface(raw map[string]string, at string) string {
	switch d := pve.ParseDrive(at, raw[at]); {
	case !d.CDROM() && d.Storage != "":
		return "disk"
	case d.CDROM() && !d.CloudInit() && c.current != nil && (d.File != "none" || raw[guest.Protection] == "1"):
		return "CD-ROM drive"
	}
	return ""
}

// boot checks that the VM has the devices of its boot order when it is set: after the clone,
// and before disks are added to it.
func (c *creation) boot() {
	raw, list := c.configuration(), c.get(guest.BootOrder)
	if raw == nil || len(list.List()) == 0 || c.current != nil && pve.Parse(raw["boot"]).Option("order") == strings.Join(list.Strings(), ";") {
		return
	}
	keep, missing, late := c.bootable(raw)
	if len(missing)+len(late) == 0 {
		return
	}
	var reasons []string
	what := "write one that it has into SPEC"
	if len(missing) > 0 {
		reasons = append(reasons, "its boot order names "+strings.Join(missing, ", ")+", which it does not have")
	}
	if len(late) > 0 {
		reasons = append(reasons, "its boot order names "+strings.Join(late, ", ")+", which it gets only after the boot order is set")
		what = "create it without that, and write it into SPEC again after the apply"
	}
	remedy := Remedy{
		What:  "remove boot_order from SPEC",
		Field: guest.BootOrder,
		Text:  "boot_order: [" + strings.Join(list.Strings(), ", ") + "]",
	}
	if len(keep.Items) > 0 {
		remedy = c.write(what, guest.BootOrder, keep)
	}
	c.add(strings.Join(reasons, "; "), nil, remedy)
}

// bootable are the devices of the boot order that the VM has when it is set, or else its first
// disk; those that it does not have; and the disks that it gets later.
func (c *creation) bootable(raw map[string]string) (keep *schema.Node, missing, late []string) {
	keep = &schema.Node{Shape: schema.ShapeList}
	for _, d := range c.get(guest.BootOrder).List() {
		inSpec := c.vm.Disk(d.Text) != nil
		switch {
		case c.hasDeviceNow(d.Text, raw) || inSpec && c.current != nil:
			keep.Items = append(keep.Items, d)
		case inSpec:
			late = append(late, d.Text)
		default:
			missing = append(missing, d.Text)
		}
	}
	disk := slices.IndexFunc(drivesOf(raw), func(d pve.Drive) bool {
		return !d.CDROM() && !strings.HasPrefix(d.Key, "efidisk") && !strings.HasPrefix(d.Key, "tpmstate")
	})
	if len(keep.Items) == 0 && disk >= 0 {
		keep.Items = append(keep.Items, scalar(schema.ShapeString, drivesOf(raw)[disk].Key))
	}
	return keep, missing, late
}

// hasDeviceNow reports whether the VM has a device when its boot order is set: from its
// template, or by the same request.
func (c *creation) hasDeviceNow(key string, raw map[string]string) bool {
	bus := strings.TrimRight(key, "0123456789")
	switch bus {
	case "net":
		return true // validate has checked it
	case "usb":
		return raw[key] != "" || number(key) < len(c.get(guest.USB).List())
	case "hostpci":
		return raw[key] != "" ||
			slices.ContainsFunc(c.get(guest.HostPCI).List(), func(d *schema.Node) bool { return d.Get(guest.Device).Str() == key })
	}
	return key == c.cloudInitAt(raw) || raw[key] != "" && (key != cloudInitOf(raw) || c.cloudInitAt(raw) == "")
}

// number is the number of a device such as usb1.
func number(key string) int {
	n, _ := strconv.Atoi(strings.TrimLeft(key, "abcdefghijklmnopqrstuvwxyz")) // the parser checked it
	return n
}
