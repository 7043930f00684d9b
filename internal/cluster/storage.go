package cluster

import (
	"slices"

	"stackgen/internal/pve"
)

// Storage is a storage as a node has it, or nil.
func (inv *Inventory) Storage(id, node string) *Storage {
	for i := range inv.Storages {
		if s := &inv.Storages[i]; s.ID == id && s.Node == node {
			return s
		}
	}
	return nil
}

// Free are the bytes that new volumes can have. These are fewer than what is not used: a file
// system has a reserve for root, or a quota. Where that was not read, all that is not used counts.
func (s *Storage) Free() int64 {
	if s.Avail != nil {
		return *s.Avail
	}
	return max(0, s.Total-s.Used)
}

// Datastore is the definition of a storage, or nil.
func (inv *Inventory) Datastore(id string) *Datastore {
	for i := range inv.Datastores {
		if inv.Datastores[i].ID == id {
			return &inv.Datastores[i]
		}
	}
	return nil
}

// Image is a file of the content import of a storage, or nil. read is false if the storage was not
// read.
func (inv *Inventory) Image(storage, node, name string) (file *File, read bool) {
	return fileOf(inv.Images, storage, node, name)
}

// Archive is a file of the content vztmpl of a storage, or nil. read is false if the storage was not
// read.
func (inv *Inventory) Archive(storage, node, name string) (file *File, read bool) {
	return fileOf(inv.Archives, storage, node, name)
}

// ISO is a CD-ROM image of a storage, or nil. read is false if the storage was not read.
func (inv *Inventory) ISO(storage, node, name string) (file *File, read bool) {
	return fileOf(inv.ISOs, storage, node, name)
}

// Snippet is a snippet of a storage, or nil. read is false if the storage was not read.
func (inv *Inventory) Snippet(storage, node, name string) (file *File, read bool) {
	return fileOf(inv.Snippets, storage, node, name)
}

// fileOf is a file of a storage as a node sees it, or nil. read is false if no list has that storage.
func fileOf(lists []Files, storage, node, name string) (file *File, read bool) {
	i := slices.IndexFunc(lists, func(l Files) bool { return l.Storage == storage && l.Node == node })
	if i < 0 {
		return nil, false
	}
	for k := range lists[i].Files {
		if lists[i].Files[k].Name == name {
			return &lists[i].Files[k], true
		}
	}
	return nil, true
}

// Imports reports whether a storage takes files of the content import.
func (s *Storage) Imports() bool { return slices.Contains(pve.List(s.Content), "import") }

// Local reports whether a storage of a node is certainly not shared.
func (inv *Inventory) Local(id, node string) bool {
	if s := inv.Storage(id, node); s != nil {
		return !s.Shared
	}
	d := inv.Datastore(id)
	return d != nil && !d.Shared
}

// Images reports whether a storage takes disk images.
func (s *Storage) Images() bool {
	return slices.Contains(pve.List(s.Content), "images")
}

// SeesStorage reports whether a storage would be listed.
func (inv *Inventory) SeesStorage(id string) bool {
	if inv.Access == nil {
		return false
	}
	r, at := inv.Access.Rights, "/storage/"+id
	return r.Has(at, DatastoreAudit) || r.Has(at, AllocateSpace)
}
