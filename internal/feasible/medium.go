package feasible

import (
	"fmt"

	"stackgen/internal/cluster"
	"stackgen/internal/pve"
)

// isoContent is the content of a storage that has CD-ROM images.
const isoContent = "iso"

// media checks that the images in CD-ROM drives exist: Proxmox VE does not start a VM with one that does not. A clone has those
// of its template.
func (c *creation) media() {
	if c.current == nil && !c.starts() {
		return
	}
	raw := c.configuration()
	for _, d := range pve.Drives(raw) {
		if name := d.ISO(); name == "" || d.Key == c.cloudInitAt(raw) || !c.lacksFile(c.inv.ISO, d.Storage, name) {
			continue
		}
		remedies := []Remedy{{What: fmt.Sprintf("copy the image to storage %s of node %s; then run preflight again", d.Storage, c.on)}}
		if c.current != nil {
			remedies = append(remedies, Remedy{
				What:     "or take it out of the drive; then run preflight again",
				Commands: []string{pve.Pvesh("set", c.current.Path("config"), "--"+d.Key+" none,media=cdrom")},
			})
		} else {
			remedies = append(remedies, Remedy{What: "or write a template without it into SPEC", Text: "template: VMID"})
		}
		c.add(fmt.Sprintf("its CD-ROM image %s does not exist on node %s, so Proxmox VE refuses to start it", d.File, c.on),
			[]string{d.Key + ": " + raw[d.Key]}, remedies...)
	}
}

// A finder is how an inventory finds a file of a storage, as a node sees it.
type finder func(storage, node, name string) (file *cluster.File, read bool)

// lacksFile reports whether the node certainly does not have a file. All nodes have those of a shared storage.
func (c *creation) lacksFile(find finder, storage, name string) bool {
	nodes := []string{c.on}
	if c.template != nil && !c.inv.Local(storage, c.template.Node) {
		nodes = append(nodes, c.template.Node)
	}
	for _, node := range nodes {
		if file, read := find(storage, node, name); read {
			return file == nil
		}
	}
	return false
}
