package feasible

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/lock"
	"stackgen/internal/pve"
)

// image checks what the download of an image needs, and that a release has one template only on
// shared storage.
func (c *creation) image() {
	i := c.entry.Image
	n := c.inv.Node(c.on)
	if i == nil || n == nil || !n.Online || !c.storagesRead() {
		return
	}
	s, d := c.inv.Storage(i.Datastore, c.on), c.inv.Datastore(i.Datastore)
	use := storageUse{id: i.Datastore, node: c.on, snippet: "-"} // a storage of files
	fault := storageFault(c.inv, use)
	if s == nil && d != nil {
		s = &cluster.Storage{Type: d.Type, Content: d.Content}
	}
	switch {
	case fault != nil && fault.hidden:
		c.hiddenStorage(i.Datastore)
	case s != nil && !files(s):
		c.add("storage "+i.Datastore+" has no files, so no image can be downloaded to it", importStorages(c.inv, c.on),
			Remedy{What: "write a storage of files into SPEC", Text: "download: STORAGE"})
	case fault != nil:
		c.add(fault.reason, importStorages(c.inv, c.on),
			append(fault.remedies(), Remedy{What: "or write another storage into SPEC", Text: "download: STORAGE"})...)
	case s != nil && !s.Imports():
		content := append(pve.List(s.Content), "import")
		slices.Sort(content)
		c.add("storage "+i.Datastore+" does not take the content import", importStorages(c.inv, c.on),
			Remedy{
				What:     "permit it, then run preflight again",
				Commands: []string{pve.SetStorage(i.Datastore, "content", strings.Join(content, ","))},
				Once:     true,
			},
			Remedy{What: "or write another storage into SPEC", Text: "download: STORAGE"})
	case s != nil && s.Total > 0 && s.Free() < c.imageSize():
		c.add("storage "+i.Datastore+" of node "+c.on+" has no space for the image",
			[]string{fmt.Sprintf("%s of %s are free, and the image has %s", gib(s.Free()), gib(s.Total), gib(c.imageSize()))},
			Remedy{What: "make space, or write another storage into SPEC", Text: "download: STORAGE"})
	}
}

// imageSize is the size of the image in bytes if another node has it, and otherwise 1.
func (c *creation) imageSize() int64 {
	size := int64(1)
	for _, l := range c.inv.Images {
		for _, f := range l.Files {
			if f.Name == c.entry.Image.File {
				size = max(size, f.Size)
			}
		}
	}
	return size
}

// importStorages names the storages of a node that take images.
func importStorages(inv *cluster.Inventory, node string) []string {
	var names []string
	for i := range inv.Storages {
		if s := &inv.Storages[i]; s.Node == node && s.Active && s.Imports() {
			names = append(names, s.ID)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []string{"storages for the content import on node " + node + ": " + strings.Join(names, ", ")}
}

// image needs what a download by the node needs, and an import from it.
func (g *grantCheck) image() {
	a, i := g.inv.Access, g.entry.Image
	g.need("/storage/"+i.Datastore, cluster.AllocateImage, "download the image")
	node := "/nodes/" + g.on
	if !a.Rights.Has(node, cluster.AccessNetwork) && !(a.Rights.Has("/", cluster.SysAudit) && a.Rights.Has("/", cluster.SysModify)) {
		g.addMissing(node, cluster.AccessNetwork, "download the image")
	}
	g.needVM("create the template", cluster.VMAllocate)
	g.needVM("read the template", cluster.VMAudit)
	for _, d := range g.get(guest.Disks).List() {
		g.need("/storage/"+d.Get(guest.Datastore).Str(), cluster.AllocateSpace, "create disks")
	}
}

// notApplied is what a VM lacks whose template is one of a Template that is not applied.
func (c *creation) notApplied(t *lock.Template) {
	c.unmade = true
	c.add(fmt.Sprintf("its template (%s, release %s) is not there yet: the Template is not applied", t.Name, t.Release),
		[]string{fmt.Sprintf("VMID %d on %s", t.VMID, t.Node)},
		Remedy{What: "apply the Template first", Commands: []string{"stackgen apply " + t.Name}, Once: true}) // it downloads the image first
}
