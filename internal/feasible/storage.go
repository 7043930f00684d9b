package feasible

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/pve"
	"stackgen/schema"
)

// takes reports whether a storage takes what another one is used for.
func takes(s *cluster.Storage, u storageUse) bool {
	if u.snippet != "" {
		return slices.Contains(pve.List(s.Content), "snippets")
	}
	return s.Images()
}

// A storageUse is a property of a spec that names a storage.
type storageUse struct {
	field string
	index int // in disks
	id    string
	node  string

	snippet string // the key in field that names a file of it; "" where it takes disks
}

// uses are the storages that a creation needs, each on the node where it needs it. Of
// a VM that exists, only those that the spec changes count.
func (c *creation) uses() []storageUse {
	var out []storageUse
	var entries map[string]string
	if c.current != nil {
		entries = c.current.Config.Raw
	}
	on := func(field string, index int, id, entry string) {
		if id == "" || pve.ParseDrive(entry, entries[entry]).Storage == id {
			return
		}
		out = append(out, storageUse{field: field, index: index, id: id, node: c.on})
		if cross, _ := c.isCrossNode(); cross && id == c.target() && field == guest.Disks {
			out = append(out, storageUse{field: field, index: index, id: id, node: c.template.Node})
		}
	}
	for i, d := range c.get(guest.Disks).List() {
		on(guest.Disks, i, d.Get(guest.Datastore).Str(), d.Get(guest.Interface).Str())
	}
	if ci := c.get(guest.CloudInit); ci != nil && !ci.Off() && c.current == nil {
		on(guest.CloudInit, 0, ci.Get(guest.Datastore).Str(), "")
	}
	on(guest.EFI, 0, c.get(guest.EFI).Get(guest.Datastore).Str(), "efidisk0")
	on(guest.TPM, 0, c.get(guest.TPM).Get(guest.Datastore).Str(), "tpmstate0")
	if cross, migrates := c.isCrossNode(); cross && migrates && c.target() == "" {
		for _, d := range c.drives() {
			out = append(out, storageUse{field: guest.Node, id: d.Storage, node: c.on})
		}
	}
	return append(out, c.snippets()...)
}

// storages checks every storage on the node where it is needed.
func (c *creation) storages() {
	if c.inv.Datastores == nil {
		return // an older snapshot, or they could not be read
	}
	type place struct {
		id, node string
		snippet  bool
	}
	seen := map[place]bool{}
	for _, u := range c.uses() {
		reason, commands, what := storageFault(c.inv, u)
		if reason == "" {
			continue
		}
		edit, ok := c.otherStorage(u)
		at := place{u.id, u.node, u.snippet != ""}
		if seen[at] {
			continue
		}
		seen[at] = true
		if strings.HasPrefix(reason, "whether") {
			c.unknown = append(c.unknown, reason)
			continue
		}
		var remedies []Remedy
		if len(commands) > 0 {
			remedies = append(remedies, Remedy{What: what, Commands: commands})
		}
		if ok {
			if len(commands) > 0 {
				edit.What = "or " + edit.What
			}
			remedies = append(remedies, edit)
		}
		c.add(reason, otherStorages(c.inv, u), remedies...)
	}
}

// storageFault is what is wrong with a storage on a node, and how it is put right. It
// begins with "whether" if that is not known.
func storageFault(inv *cluster.Inventory, u storageUse) (reason string, commands []string, what string) {
	id, node := u.id, u.node
	n := inv.Node(node)
	if n == nil || !n.Online {
		return "", nil, ""
	}
	s, d := inv.Storage(id, node), inv.Datastore(id)
	const again = ", then run preflight again"
	switch {
	case s == nil && d == nil && !inv.SeesStorage(id):
		return fmt.Sprintf("whether storage %s exists is not known: the token lacks Datastore.Audit on /storage/%s", id, id), nil, ""
	case s == nil && d == nil:
		return "storage " + id + " does not exist", nil, ""
	case d != nil && d.Disabled:
		return "storage " + id + " is disabled", []string{"pvesm set " + id + " --disable 0"}, "enable it" + again
	case d != nil && len(d.Nodes) > 0 && !slices.Contains(d.Nodes, node):
		nodes := append(slices.Clone(d.Nodes), node)
		slices.Sort(nodes)
		return "storage " + id + " is not available on node " + node,
			[]string{"pvesm set " + id + " --nodes " + strings.Join(nodes, ",")},
			"if the node has it, permit it there" + again
	case s != nil && !s.Active:
		return "storage " + id + " is not active on node " + node,
			[]string{pve.Pvesh("get", "/nodes/"+node+"/storage/"+id+"/status")},
			"find out why, and make it available" + again
	case s == nil:
		s = &cluster.Storage{Type: d.Type, Content: d.Content}
	}
	switch {
	case u.snippet != "" && !files(s):
		return "storage " + id + " has no files, and so no snippets", nil, ""
	case u.snippet == "" && !s.Images():
		return "storage " + id + " does not take disk images",
			[]string{"pvesm set " + id + " --content " + withImages(s.Content)},
			"permit them" + again
	}
	return "", nil, ""
}

func withImages(content string) string {
	list := append(pve.List(content), "images")
	slices.Sort(list)
	return strings.Join(list, ",")
}

// storagesFor are the storages of a node that take what another one is used for.
func storagesFor(inv *cluster.Inventory, u storageUse) []string {
	var out []string
	for i := range inv.Storages {
		if s := &inv.Storages[i]; s.Node == u.node && s.Active && takes(s, u) {
			out = append(out, s.ID)
		}
	}
	return out
}

func otherStorages(inv *cluster.Inventory, u storageUse) []string {
	what := "disk images"
	if u.snippet != "" {
		what = "snippets"
	}
	if names := storagesFor(inv, u); len(names) > 0 {
		return []string{"storages for " + what + " on node " + u.node + ": " + strings.Join(names, ", ")}
	}
	return nil
}

// otherStorage is the remedy to use another storage.
func (c *creation) otherStorage(u storageUse) (Remedy, bool) {
	names := slices.DeleteFunc(storagesFor(c.inv, u), func(id string) bool { return id == u.id })
	switch {
	case len(names) == 0 || u.field == guest.Node:
		return Remedy{}, false
	case u.snippet != "":
		return c.otherSnippet(u, names), true
	}
	var preferred string
	for _, d := range c.drives() {
		if !d.CDROM() {
			preferred = d.Storage
		}
	}
	name := scalar(schema.ShapeString, likeliest(names, preferred))
	value := c.get(u.field)
	if u.field == guest.Disks {
		value = replaceItem(value, u.index, set(value.Items[u.index], guest.Datastore, name))
	} else {
		value = set(value, guest.Datastore, name)
	}
	return c.write("write another storage of node "+u.node+" into SPEC, one of "+strings.Join(names, ", "), u.field, value), true
}
