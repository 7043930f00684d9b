package feasible

import (
	"slices"
	"strconv"

	"stackgen/guest"
	"stackgen/schema"
)

// rootOnly checks properties that only root@pam may set, and no token.
func (c *creation) rootOnly() {
	a := c.inv.Access
	if a == nil || a.IsRoot() {
		return
	}
	for i := range schema.VMFields {
		f := &schema.VMFields[i]
		n := c.vm.Values.Get(f.Key)
		text := strconv.Quote(n.Str())
		if sev := n.Get(guest.Type); sev != nil {
			text = "{type: " + sev.Str() + "}"
		}
		if f.Right.Root && (n.Str() != "" || n.Get(guest.Type) != nil) {
			c.add("only root@pam may set "+f.Key+", and no token", nil,
				Remedy{What: "no token can set it: remove it from SPEC", Field: f.Key, Text: f.Key + ": " + text})
		}
	}
	for i := range schema.VMFields {
		if f := &schema.VMFields[i]; f.Right.Device && slices.ContainsFunc(devicesOf(c.vm, f.Key), ofNode) {
			c.add("only root@pam may set "+f.Key+" with a device of the node, and no token", nil, c.withoutDevice([]string{f.Key})...)
		}
	}
}

// withoutDevice are the remedies that do without devices of the node in these properties,
// which help unless the VM has one already. others are remedies before them.
func (c *creation) withoutDevice(of []string, others ...Remedy) []Remedy {
	out := others
	add := func(r Remedy) {
		if len(others) > 0 {
			r.What = "or " + r.What
		}
		out = append(out, r)
	}
	for _, key := range []string{guest.USB, guest.HostPCI} {
		if slices.Contains(of, key) && !c.hasDevice(key) {
			add(Remedy{What: "use a resource mapping of the cluster: write into SPEC", Text: key + ": [{mapping: NAME}]"})
		}
	}
	if slices.Contains(of, guest.Serial) && !c.hasDevice(guest.Serial) {
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

// hasDevice reports whether the VM has a device of the node in a property.
func (c *creation) hasDevice(key string) bool {
	if c.current == nil {
		return false
	}
	for i := range maxDevices {
		if ofNode(c.current.Config.Raw[entryAt(key, i)]) {
			return true
		}
	}
	return false
}
