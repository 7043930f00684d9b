package feasible

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/effect"
	"stackgen/internal/lock"
	"stackgen/internal/pve"
	"stackgen/internal/shell"
	"stackgen/schema"
)

// UpdateRights returns what the token may not do of the updates of a VM that exists: the
// privileges that are missing, and what only root@pam may set. v may be nil.
func UpdateRights(inv *cluster.Inventory, v *schema.VM, g *cluster.Guest, updates []effect.Update) []Obstacle {
	if inv.Access == nil || inv.Access.IsRoot() || g.Config == nil || len(updates) == 0 {
		return nil
	}
	if v == nil {
		v = &schema.VM{}
	}
	c := newCreation(inv, v, &lock.VM{VMID: g.VMID, Node: g.Node})
	c.current, c.check = g, RootCheck
	c.rootUpdates(updates)
	c.check = PrivilegesCheck
	if missing := c.lacking(updates); len(missing) > 0 {
		c.add("the token lacks privileges that it needs", evidenceOf(missing), grant(inv.Access, missing))
	}
	return c.found
}

// rootUpdates checks what only root@pam may set or remove.
func (c *creation) rootUpdates(updates []effect.Update) {
	updates = slices.DeleteFunc(slices.Clone(updates), func(u effect.Update) bool { return u.Effect == schema.Replace })
	var names, options, devices []string
	byHand := true
	for _, u := range updates {
		for _, r := range schema.RightsOf(u.Path) {
			if !c.needsRoot(u, r) {
				continue
			}
			name, set := u.Name(), c.rootOption(u)
			if r.Device {
				name, set = u.Key()+" with a device of the node", c.deviceOptions(u.Key())
				devices = append(devices, u.Key())
			}
			if !slices.Contains(names, name) {
				names, options = append(names, name), append(options, set)
				byHand = byHand && set != "" && !u.Present
			}
		}
	}
	if len(names) == 0 {
		return
	}
	var remedies []Remedy
	if byHand {
		remedies = append(remedies, Remedy{
			What:     "set it yourself, as root on any node, then run preflight again",
			Commands: []string{pve.Pvesh("set", guest.VM.Path(c.on, c.current.VMID, "config"), options...)},
		})
	}
	remedies = c.withoutDevice(devices, remedies...)
	var evidence []string
	for _, u := range updates {
		if f := schema.VMField(u.Key()); f != nil && f.Right.Root {
			evidence = append(evidence, fmt.Sprintf("%s: %s -> %s", u.Key(), cmp.Or(u.Was, "none"), cmp.Or(u.Is, "none")))
			remedies = append(remedies, c.keepRoots(u))
		}
	}
	c.add("only root@pam may set "+strings.Join(names, ", ")+", and no token", evidence, remedies...)
}

// needsRoot reports whether only root@pam may make an update to which a right applies.
func (c *creation) needsRoot(u effect.Update, r schema.Right) bool {
	return r.Root || r.Device && c.namesDevice(u.Key())
}

// keepRoots is the remedy that keeps the value of a property that only root@pam may set.
func (c *creation) keepRoots(u effect.Update) Remedy {
	if u.Was == "" {
		return Remedy{What: "or remove it from SPEC", Field: u.Key(), Text: u.Key() + ": " + strconv.Quote(u.Is)}
	}
	return c.write("or keep it as it is: write into SPEC", u.Key(), scalar(schema.ShapeString, u.Was))
}

// maxDevices is the largest number of devices of a property.
const maxDevices = 16

// entryAt is the entry in a configuration of one of the devices of a property.
func entryAt(key string, n int) string {
	return strings.TrimSuffix(schema.VMField(key).PVE, "*") + strconv.Itoa(n)
}

// namesDevice reports whether a device of the node is among those of a property that the VM
// has, or gets: the provider sends all of them, and Proxmox VE checks both.
func (c *creation) namesDevice(key string) bool {
	return c.hasDevice(key) || slices.ContainsFunc(devicesOf(c.vm, key), ofNode)
}

// ofNode reports whether the entry of a device names one of the node.
func ofNode(entry string) bool {
	device := pve.Parse(entry).Default("host")
	return device != "" && device != "socket" && !strings.EqualFold(device, "spice")
}

// devicesOf are the devices of a spec as entries of a configuration.
func devicesOf(v *schema.VM, key string) []string {
	var out []string
	switch key {
	case guest.Serial:
		for _, d := range v.Values.Get(guest.Serial).List() {
			out = append(out, d.Get(guest.Device).Str())
		}
	case guest.HostPCI:
		for _, d := range v.Values.Get(guest.HostPCI).List() {
			n, err := strconv.Atoi(strings.TrimPrefix(d.Get(guest.Device).Str(), "hostpci"))
			if err != nil {
				continue
			}
			out = append(out, make([]string, max(0, n+1-len(out)))...)
			out[n] = pciEntry(d)
		}
	case guest.USB:
		for _, d := range v.Values.Get(guest.USB).List() {
			entry := "host=" + d.Get(guest.Host).Str()
			if m := d.Get(guest.Mapping).Str(); m != "" {
				entry = "mapping=" + m
			}
			if d.Get(guest.USB3).Bool() {
				entry += ",usb3=1"
			}
			out = append(out, entry)
		}
	}
	return out
}

// pciEntry is a PCI device of a spec as an entry of a configuration.
func pciEntry(d *schema.Node) string {
	entry := d.Get(guest.ID).Str()
	if m := d.Get(guest.Mapping).Str(); m != "" {
		entry = "mapping=" + m
	}
	rows := schema.VMField(guest.HostPCI).Elem.Fields
	for _, f := range rows {
		if text := d.Get(f.Key).Str(); text != "" && f.Type == schema.String && f.PVE != schema.Slot && !f.Bare && f.Key != guest.Mapping {
			entry += "," + f.PVE + "=" + text
		}
	}
	for _, f := range rows {
		if f.Key != guest.Rombar && f.Type == schema.Bool && d.Get(f.Key).Bool() {
			entry += "," + f.PVE + "=1"
		}
	}
	if rombar := d.Get(guest.Rombar); rombar != nil && !rombar.Bool() {
		entry += ",rombar=0"
	}
	return entry
}

// rootOption is the option with which root sets what an update would, or "" if that is
// not known.
func (c *creation) rootOption(u effect.Update) string {
	entry := rootEntry(u.Path)
	switch {
	case entry == "" || u.Whole && u.Is != "":
		return ""
	case u.Is == "":
		return "--delete " + entry
	}
	return "--" + entry + " " + shell.Word(u.Is)
}

// deviceOptions are the options with which root sets the devices of a property, or "" where
// that would not help: a plan adds devices again of which the state has none.
func (c *creation) deviceOptions(of string) string {
	if c.current.Config.Raw[entryAt(of, 0)] == "" {
		return ""
	}
	var out, remove []string
	devices := devicesOf(c.vm, of)
	for i := range maxDevices {
		key := entryAt(of, i)
		switch {
		case i < len(devices) && devices[i] != "":
			out = append(out, "--"+key+" "+shell.Word(devices[i]))
		case c.current.Config.Raw[key] != "":
			remove = append(remove, key)
		}
	}
	if len(remove) > 0 {
		out = append(out, "--delete "+strings.Join(remove, ","))
	}
	return strings.Join(out, " ")
}

// rootEntry is the entry of a configuration that an attribute sets, or "".
func rootEntry(path string) string {
	for i := range schema.VMFields {
		if f := &schema.VMFields[i]; f.HCL == path {
			return f.PVE
		}
	}
	for _, p := range schema.Unsupported {
		if p.HCL == path {
			return p.PVE
		}
	}
	return ""
}
