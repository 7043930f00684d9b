package feasible

import (
	"maps"
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
	iso     bool   // it has a CD-ROM image
}

// uses are the storages that a creation needs, each on the node where it needs it. Of
// a VM that exists, only those that the spec changes count.
func (c *creation) uses() []storageUse {
	if c.restarts {
		return c.keeps()
	}
	var out []storageUse
	var entries map[string]string
	if c.current != nil {
		entries = c.current.Config.Raw
	}
	on := func(field string, index int, id, entry string) {
		if id == "" || c.ignores(field) || pve.ParseDrive(entry, entries[entry]).Storage == id {
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
	if ci := c.get(guest.CloudInit); ci != nil && !ci.Off() {
		on(guest.CloudInit, 0, ci.Get(guest.Datastore).Str(), cloudInitOf(entries))
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

// keeps are the storages of the drives that a VM has when it starts again after an update, and those of the snippets that are
// written to its cloud-init drive. Its disks move before that, if the spec has another storage for them, and its cloud-init drive
// is re-created there.
func (c *creation) keeps() []storageUse {
	var out []storageUse
	ci := c.get(guest.CloudInit)
	creates := ci != nil && !ci.Off() && !c.ignores(guest.CloudInit)
	for _, d := range drivesOf(c.current.Config.Raw) {
		if d.CloudInit() && creates && ci.Get(guest.Datastore).Str() != d.Storage {
			continue
		}
		out = append(out, storageUse{field: guest.Node, id: d.Storage, node: c.on, iso: d.ISO() != ""})
	}
	raw := maps.Clone(c.current.Config.Raw)
	delete(raw, guest.Hookscript) // it needs the file only, and not that the storage is available
	for _, v := range pve.Snippets(raw) {
		out = append(out, storageUse{field: guest.Node, id: v.Storage, node: c.on, snippet: v.Name})
	}
	return out
}

// storagesRead reports whether the definitions of storages were read. A snapshot of an older stackgen has neither them nor
// privileges: it says nothing of storages.
func (c *creation) storagesRead() bool {
	if c.inv.Datastores == nil && c.inv.Access != nil {
		c.addUnknown("whether its storages exist is not known: they could not be read")
	}
	return c.inv.Datastores != nil
}

// storages checks every storage on the node where it is needed.
func (c *creation) storages() {
	if !c.storagesRead() {
		return
	}
	type place struct {
		id, node     string
		snippet, iso bool
	}
	seen := map[place]bool{}
	for _, u := range c.uses() {
		fault := storageFault(c.inv, u)
		if fault == nil {
			continue
		}
		edit, ok := c.otherStorage(u)
		at := place{u.id, u.node, u.snippet != "", u.iso}
		if seen[at] {
			continue
		}
		seen[at] = true
		if fault.hidden {
			c.hiddenStorage(u.id)
			continue
		}
		remedies := fault.remedies()
		if ok {
			if len(remedies) > 0 {
				edit.What = "or " + edit.What
			}
			remedies = append(remedies, edit)
		}
		c.add(fault.reason, otherStorages(c.inv, u), remedies...)
	}
}

// A fault is what is wrong with a storage on a node, and how it is put right.
type fault struct {
	reason  string
	what    string // the command does
	command string // empty if no command puts it right
	hidden  bool   // the token does not see the storage: the rest is empty
}

// remedies are the remedy of the fault, if it has one.
func (f *fault) remedies() []Remedy {
	if f.command == "" {
		return nil
	}
	return []Remedy{{What: f.what, Commands: []string{f.command}}}
}

// hiddenStorage records that the token does not see a storage.
func (c *creation) hiddenStorage(id string) {
	c.addHidden("storage "+id+" exists", "/storage/"+id, cluster.DatastoreAudit)
}

// storageFault is what is wrong with a storage on a node, or nil.
func storageFault(inv *cluster.Inventory, u storageUse) *fault {
	id, node := u.id, u.node
	n := inv.Node(node)
	if n == nil || !n.Online {
		return nil
	}
	s, d := inv.Storage(id, node), inv.Datastore(id)
	const again = ", then run preflight again"
	switch {
	case s == nil && d == nil && !inv.SeesStorage(id):
		return &fault{hidden: true}
	case s == nil && d == nil:
		return &fault{reason: "storage " + id + " does not exist"}
	case d != nil && d.Disabled:
		return &fault{reason: "storage " + id + " is disabled", what: "enable it" + again, command: pve.SetStorage(id, "disable", "0")}
	case d != nil && len(d.Nodes) > 0 && !slices.Contains(d.Nodes, node):
		nodes := append(slices.Clone(d.Nodes), node)
		slices.Sort(nodes)
		return &fault{reason: "storage " + id + " is not available on node " + node,
			what: "if the node has it, permit it there" + again, command: pve.SetStorage(id, "nodes", strings.Join(nodes, ","))}
	case s != nil && !s.Active:
		return &fault{reason: "storage " + id + " is not active on node " + node,
			what: "find out why, and make it available" + again, command: pve.Pvesh("get", "/nodes/"+node+"/storage/"+id+"/status")}
	case s == nil:
		s = &cluster.Storage{Type: d.Type, Content: d.Content}
	}
	switch {
	case u.snippet != "" && !files(s):
		return &fault{reason: "storage " + id + " has no files, and so no snippets"}
	case u.iso && !slices.Contains(pve.List(s.Content), isoContent):
		return &fault{reason: "storage " + id + " does not take CD-ROM images",
			what: "permit them" + again, command: pve.SetStorage(id, "content", with(s.Content, isoContent))}
	case u.snippet == "" && !u.iso && !s.Images():
		return &fault{reason: "storage " + id + " does not take disk images",
			what: "permit them" + again, command: pve.SetStorage(id, "content", with(s.Content, "images"))}
	}
	return nil
}

// with is a list of contents with one more.
func with(contents, more string) string {
	list := append(pve.List(contents), more)
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
	if u.iso {
		return nil
	}
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
