package cluster

import (
	"fmt"
	"slices"
	"strconv"

	"stackgen/guest"
	"stackgen/schema"
)

// rootProperties are the properties that only root@pam may set, whatever their value.
var rootProperties = []string{"cpu_affinity", "amd_sev", "hookscript"}

// rootOnly checks properties that only root@pam may set, and no token.
func (c *creation) rootOnly() {
	a := c.inv.Access
	if a == nil || a.isRoot() {
		return
	}
	for _, key := range rootProperties {
		n := c.vm.Values.Get(key)
		text := strconv.Quote(n.Str())
		if sev := n.Get(guest.Type); sev != nil {
			text = "{type: " + sev.Str() + "}"
		}
		if n.Str() != "" || n.Get(guest.Type) != nil {
			c.add("only root@pam may set "+key+", and no token", nil,
				Remedy{What: "no token can set it: remove it from SPEC", Field: key, Text: key + ": " + text})
		}
	}
	for _, block := range []string{"usb", "hostpci", "serial_device"} {
		if slices.ContainsFunc(devicesOf(c.vm, block), ofNode) {
			name := schema.ResourceAttribute(guest.VMResource, block).Key + " with a device of the node"
			c.add("only root@pam may set "+name+", and no token", nil, c.withoutDevice([]string{block})...)
		}
	}
}

// withoutDevice are the remedies that do without devices of the node in these blocks, which
// help unless the VM has one already. others are remedies before them.
func (c *creation) withoutDevice(blocks []string, others ...Remedy) []Remedy {
	out := others
	add := func(r Remedy) {
		if len(others) > 0 {
			r.What = "or " + r.What
		}
		out = append(out, r)
	}
	if slices.Contains(blocks, "usb") && !c.hasDevice("usb") {
		add(Remedy{What: "use a resource mapping of the cluster: write into SPEC", Text: "usb: [{mapping: NAME}]"})
	}
	if slices.Contains(blocks, "hostpci") && !c.hasDevice("hostpci") {
		add(Remedy{What: "use a resource mapping of the cluster: write into SPEC", Text: "hostpci: [{mapping: NAME}]"})
	}
	if slices.Contains(blocks, "serial_device") && !c.hasDevice("serial_device") {
		list := c.get(guest.Serial)
		for i, d := range list.List() {
			if ofNode(d.Get(guest.Device).Str()) {
				list = replaceItem(list, i, set(d, guest.Device, scalar(schema.ShapeString, "socket")))
			}
		}
		add(c.write("use a socket: write into SPEC", guest.Serial, list))
	}
	return out
}

// hasDevice reports whether the VM has a device of the node in a block.
func (c *creation) hasDevice(block string) bool {
	if c.current == nil {
		return false
	}
	for i := range maxDevices {
		if ofNode(c.current.Config.Raw[fmt.Sprintf("%s%d", deviceEntries[block], i)]) {
			return true
		}
	}
	return false
}
