package feasible

import (
	"fmt"
	"strconv"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/pve"
	"stackgen/schema"
)

// source checks what a container is made from.
func (c *creation) source() {
	if c.vm.ClonedFrom != 0 {
		c.containerTemplate()
		return
	}
	c.archive()
}

// containerTemplate checks that the template of a container exists, is one, and can be cloned to what the spec says.
func (c *creation) containerTemplate() {
	id := c.vm.ClonedFrom
	at, g := fmt.Sprintf("/vms/%d", id), c.inv.Guest(id)
	other := Remedy{What: "create the template, or write another one into SPEC", Text: "template: {vmid: VMID}"}
	switch gaps := c.inv.GapsForVM(id); {
	case len(gaps) > 0:
		for _, gap := range gaps {
			c.addUnknown(fmt.Sprintf("whether template %d can be cloned is not known: %s", id, gap.Reason))
		}
	case g == nil && c.inv.Access != nil && !c.inv.Access.Rights.Has(at, cluster.VMAudit):
		c.addHidden(fmt.Sprintf("template %d exists", id), at, cluster.VMAudit)
	case g == nil:
		c.add(fmt.Sprintf("its template %d does not exist", id), nil, other)
	case g.Kind != guest.Container:
		c.add(fmt.Sprintf("its template %d is not a container", id), []string{g.Brief()}, other)
	case !g.Template:
		other.What = "write another one into SPEC"
		c.add(fmt.Sprintf("its template %d is a container, and not a template yet", id), []string{g.Brief()}, other, convert(g))
	case g.Node != c.on:
		evidence := []string{g.Brief(), "the container is for " + c.on}
		c.add(fmt.Sprintf("its template %d is on another node, and a clone is made there", id), evidence,
			Remedy{What: "create it there: write into SPEC", Field: guest.Node, Value: scalar(schema.ShapeString, g.Node)}, other)
	case g.Config == nil || len(g.Config.Raw) == 0:
		c.addUnknown(fmt.Sprintf("whether template %d can be cloned is not known: its configuration could not be read", id))
	default:
		c.clones(g)
	}
}

// copiedMounts are the volumes that a clone gets of its template beside its root file system, on the storage of that.
func (c *creation) copiedMounts() (out []volume) {
	g := c.inv.Guest(c.vm.ClonedFrom)
	if g == nil || g.Config == nil {
		return nil
	}
	for _, d := range pve.Mounts(g.Config.Raw) {
		if d.Key != guest.RootFS {
			out = append(out, volume{c.get(guest.RootFS).Get(guest.Datastore).Str(), c.on, d.Size(), "new volume"})
		}
	}
	return out
}

// clones checks that a full clone of a template is what the spec says.
func (c *creation) clones(g *cluster.Guest) {
	raw := g.Config.Raw
	if has, want := pve.True(raw["unprivileged"]), c.vm.Values.Get(guest.Unprivileged).Bool(); has != want {
		value := scalar(schema.ShapeBool, strconv.FormatBool(has))
		c.add(fmt.Sprintf("its template %d has unprivileged: %t, and no clone changes that", g.VMID, has), nil,
			c.write("write it into SPEC", guest.Unprivileged, value))
	}
	for _, d := range pve.Mounts(raw) {
		if d.Storage == "" {
			c.add(fmt.Sprintf("its template %d has %s, which is no volume of a storage: Proxmox VE does not clone that", g.VMID, d.Key), nil,
				Remedy{What: "remove it from the template, or write another one into SPEC", Text: "template: {vmid: VMID}"})
		}
	}
	const gib = 1 << 30
	root := c.get(guest.RootFS)
	size := (pve.ParseDrive(guest.RootFS, raw[guest.RootFS]).Size() + gib - 1) / gib
	if int64(root.Get(guest.Size).Int()) < size {
		c.add(fmt.Sprintf("its root file system is smaller than that of its template %d, and cannot shrink", g.VMID),
			[]string{fmt.Sprintf("the template has %d GiB, the spec says %s", size, root.Get(guest.Size).Str())},
			c.write("write into SPEC", guest.RootFS, set(root, guest.Size, scalar(schema.ShapeInt, strconv.FormatInt(size, 10)))))
	}
}
