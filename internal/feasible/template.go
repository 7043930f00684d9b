package feasible

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/pve"
	"stackgen/schema"
)

// templates checks that the template exists, is one, and is on the node that the spec
// says: the provider clones there.
func (c *creation) templates() {
	t := c.entry.Template
	if t == nil {
		return
	}
	if gaps := c.inv.GapsForVM(t.VMID); len(gaps) > 0 {
		for _, gap := range gaps {
			var remedies []Remedy
			if gap.Fix != "" {
				remedies = []Remedy{{What: grantWords, Commands: []string{gap.Fix}, Once: true}}
			}
			c.addUnknown(fmt.Sprintf("whether template %d can be cloned is not known: %s", t.VMID, gap.Reason), remedies...)
		}
		return
	}
	g := c.inv.Guest(t.VMID)
	other := Remedy{What: "create the template, or write another one into SPEC", Text: "template: VMID"}
	switch {
	case t.Release != "" && (g == nil || g.Kind == guest.VM && !g.Template):
		c.notApplied(t)
	case g == nil && c.inv.Access != nil && !c.inv.Access.Rights.Has("/vms/"+strconv.Itoa(t.VMID), cluster.VMAudit):
		c.addHidden(fmt.Sprintf("template %d exists", t.VMID), fmt.Sprintf("/vms/%d", t.VMID), cluster.VMAudit)
	case g == nil:
		c.add(fmt.Sprintf("its template %d does not exist", t.VMID), nil, other)
	case g.Kind == guest.VM && !g.Template:
		other.What = "write another one into SPEC"
		c.add(fmt.Sprintf("its template %d is a VM, and not a template yet", t.VMID), []string{g.Brief()}, other, convert(g))
	case g.Kind != guest.VM:
		c.add(fmt.Sprintf("its template %d is not a VM template", t.VMID), []string{g.Brief()}, other)
	case t.Node != "" && g.Node != t.Node:
		value := &schema.Node{Shape: schema.ShapeMap}
		value = set(set(value, guest.VMID, scalar(schema.ShapeInt, strconv.Itoa(t.VMID))), guest.Node, scalar(schema.ShapeString, g.Node))
		if c.vm.Template == nil || c.vm.Template.Node != "" {
			c.add(fmt.Sprintf("its template %d is on another node than the spec says", t.VMID), []string{g.Brief(), "the spec says " + t.Node},
				c.write("write its node into SPEC", guest.Template, value))
			return
		}
		c.add(fmt.Sprintf("its template %d is on another node than the lock says", t.VMID), []string{g.Brief(), "the lock says " + t.Node},
			Remedy{What: "record its node in the lock", Commands: []string{"stackgen resolve", "stackgen render"}, Once: true},
			c.write("or write it into SPEC", guest.Template, value))
	default:
		c.template = g
	}
}

// convert is the remedy that makes a guest a template. The VMID may be a wrong one, and nothing
// makes a template a guest again, so it is never the first remedy. A guest that is on is shut
// down by whoever knows what it is.
func convert(g *cluster.Guest) Remedy {
	if g.Status != "stopped" || g.Lock != "" {
		what := fmt.Sprintf("or, if %d is the right one, complete it and shut it down, then run preflight again", g.VMID)
		return Remedy{What: what, Converts: g.VMID}
	}
	return Remedy{
		What:     fmt.Sprintf("or, if %d is the right one and is complete, make it a template, which cannot be undone", g.VMID),
		Commands: []string{pve.Pvesh("create", g.Path("template"))},
		Once:     true,
		Converts: g.VMID,
	}
}

// drives are the drives of the template with a volume.
func (c *creation) drives() []pve.Drive {
	if c.template == nil || c.template.Config == nil {
		return nil
	}
	return drivesOf(c.template.Config.Raw)
}

// drivesOf are the drives of a configuration with a volume of a storage.
func drivesOf(raw map[string]string) []pve.Drive {
	return slices.DeleteFunc(pve.Drives(raw), func(d pve.Drive) bool { return d.Storage == "" || d.IsUnused() })
}

// isLinked reports whether the clone is linked.
func (c *creation) isLinked() bool { return c.entry.Clone == "linked" }

// linked checks that the storages of the template support linked clones.
func (c *creation) linked() {
	if !c.isLinked() {
		return
	}
	for _, d := range c.drives() {
		if s := c.inv.Storage(d.Storage, c.template.Node); !d.CDROM() && s != nil && unfit(s, d) != "" {
			c.add("the storage of its template supports no linked clones", []string{unfit(s, d)},
				c.write("write into SPEC", guest.Clone, scalar(schema.ShapeString, "full")))
			return
		}
	}
}

// target is the storage that a full clone writes to, or empty for those of the
// template.
func (c *creation) target() string {
	if disks := c.get(guest.Disks).List(); !c.isLinked() && len(disks) > 0 {
		return disks[0].Get(guest.Datastore).Str()
	}
	return ""
}

// isCrossNode reports whether the template is on another node than the VM, and whether
// the provider then clones it there and migrates the clone: because a storage of the
// template is not shared.
func (c *creation) isCrossNode() (cross, migrates bool) {
	if c.template == nil || c.template.Node == c.on {
		return false, false
	}
	for _, d := range c.drives() {
		migrates = migrates || c.inv.Local(d.Storage, c.template.Node)
	}
	return true, migrates
}

// crossNode checks a clone to another node than the template's. From shared storage,
// Proxmox VE clones to shared storage only. From local storage, the provider clones on
// the template's node and migrates the clone, which a linked clone cannot do.
func (c *creation) crossNode() {
	cross, migrates := c.isCrossNode()
	to := c.target()
	if !cross {
		return
	}
	at := fmt.Sprintf("template %d is on %s, and the VM on %s", c.template.VMID, c.template.Node, c.on)
	onNode := Remedy{
		What:  "create it on the template's node: write into SPEC",
		Field: guest.Node,
		Value: scalar(schema.ShapeString, c.template.Node),
	}
	switch {
	case migrates && c.isLinked() && c.hasBase():
		c.add("a linked clone of a template on local storage cannot be migrated to another node", []string{at}, onNode,
			Remedy{What: "or make a full clone: write into SPEC", Field: guest.Clone, Value: scalar(schema.ShapeString, "full")})
	case !migrates && to != "" && c.inv.Local(to, c.template.Node):
		var shared []string
		for i := range c.inv.Storages {
			if x := &c.inv.Storages[i]; x.Node == c.on && x.Shared && x.Active && x.Images() {
				shared = append(shared, x.ID)
			}
		}
		remedies := []Remedy{onNode}
		if len(shared) > 0 {
			disks := c.get(guest.Disks)
			value := replaceItem(disks, 0, set(disks.Items[0], guest.Datastore, scalar(schema.ShapeString, shared[0])))
			remedies = append(remedies, Remedy{
				What:  "or use a shared storage, one of " + strings.Join(shared, ", ") + ": write into SPEC",
				Field: guest.Disks,
				Value: value,
			})
		}
		c.add("Proxmox VE clones to another node only to shared storage, and "+to+" is not shared", []string{at}, remedies...)
	}
}

// hasBase reports whether a local disk of a linked clone names its base, which keeps it
// on its node.
func (c *creation) hasBase() bool {
	return slices.ContainsFunc(c.drives(), func(d pve.Drive) bool {
		s := c.inv.Storage(d.Storage, c.template.Node)
		return !d.CDROM() && s != nil && !s.Shared && !cluster.StorageTypeOf(s.Type).BaseFree
	})
}

// disks checks that no disk is smaller than the template's: a disk cannot shrink.
func (c *creation) disks() {
	list := c.get(guest.Disks)
	var evidence []string
	for i, disk := range list.List() {
		for _, d := range c.drives() {
			if d.Key != disk.Get(guest.Interface).Str() || int64(disk.Get(guest.Size).Int())<<20 >= d.Size()>>10 {
				continue
			}
			has := d.Options.Option("size")
			evidence = append(evidence, fmt.Sprintf("%s is %d GiB in the spec, and %s in template %d",
				d.Key, disk.Get(guest.Size).Int(), has, c.template.VMID))
			need := scalar(schema.ShapeInt, fmt.Sprint((d.Size()+1<<30-1)>>30))
			c.values[guest.Disks] = replaceItem(c.get(guest.Disks), i, set(c.get(guest.Disks).Items[i], guest.Size, need))
		}
	}
	if len(evidence) > 0 {
		c.add("a disk is smaller than in its template, and cannot shrink", evidence,
			Remedy{What: "write at least the size of the template into SPEC", Field: guest.Disks, Value: c.values[guest.Disks]})
	}
}
