package proxmox

import (
	"context"
	"slices"
	"strings"

	"stackgen/internal/cluster"
	"stackgen/internal/pve"
)

// A WantedArchive is what a container is made from, and the nodes on which it may be made.
type WantedArchive struct {
	VMID          int // of the container; 0 if it is not decided
	Storage, Name string
	Nodes         []string
}

// readImages reads the images of the storages to which Templates download.
func (r *reader) readImages(ctx context.Context) {
	r.inv.Images = r.readFiles(ctx, r.wanted.Images, "import")
}

// readArchives reads which archives the storages have from which containers are made that do not exist yet.
// Where a node lacks one, the other nodes that have the storage are asked as well.
func (r *reader) readArchives(ctx context.Context) {
	var first, others []cluster.Files
	for _, a := range r.wanted.Archives {
		for _, node := range a.Nodes {
			if r.guests[a.VMID] == nil {
				first = addFiles(first, a.Storage, node)
			}
		}
	}
	r.inv.Archives = r.readFiles(ctx, first, "vztmpl")
	for _, a := range r.wanted.Archives {
		if r.guests[a.VMID] != nil || !slices.ContainsFunc(a.Nodes, func(node string) bool { return r.lacks(a, node) }) {
			continue
		}
		for i := range r.inv.Storages {
			if s := &r.inv.Storages[i]; s.ID == a.Storage && s.Active {
				others = addFiles(others, s.ID, s.Node)
			}
		}
	}
	others = slices.DeleteFunc(others, func(l cluster.Files) bool { return hasFiles(first, l.Storage, l.Node) })
	r.inv.Archives = append(r.inv.Archives, r.readFiles(ctx, others, "vztmpl")...)
}

// readISOs reads which CD-ROM images the storages have from which candidates have one, on the node of each.
func (r *reader) readISOs(ctx context.Context, candidates []*cluster.Guest) {
	var of []cluster.Files
	for _, g := range candidates {
		if g.Config == nil {
			continue
		}
		for _, d := range pve.Drives(g.Config.Raw) {
			if d.ISO() != "" {
				of = addFiles(of, d.Storage, g.Node)
			}
		}
	}
	r.inv.ISOs = r.readFiles(ctx, of, "iso")
}

// snippetContent is the content of a storage that has snippets.
const snippetContent = "snippets"

// readSnippets reads which snippets the storages have from which candidates have one, on the node of each, and those that are
// wanted. Proxmox VE lists snippets only to those who may allocate all on the storage, and only of a storage with that content;
// other lists are empty.
func (r *reader) readSnippets(ctx context.Context, candidates []*cluster.Guest) {
	var of []cluster.Files
	for _, l := range r.wanted.Snippets {
		of = addFiles(of, l.Storage, l.Node)
	}
	for _, g := range candidates {
		if g.Config == nil {
			continue
		}
		for _, v := range pve.Snippets(g.Config.Raw) {
			of = addFiles(of, v.Storage, g.Node)
		}
	}
	of = slices.DeleteFunc(of, func(l cluster.Files) bool {
		s := r.inv.Storage(l.Storage, l.Node)
		return s == nil || !slices.Contains(pve.List(s.Content), snippetContent) || !r.rights.Has("/storage/"+l.Storage, cluster.AllocateAny)
	})
	r.inv.Snippets = r.readFiles(ctx, of, snippetContent)
}

// lacks reports whether a node certainly does not have an archive.
func (r *reader) lacks(a WantedArchive, node string) bool {
	file, read := r.inv.Archive(a.Storage, node, a.Name)
	return read && file == nil
}

// addFiles adds a storage of a node to those to read, once.
func addFiles(list []cluster.Files, storage, node string) []cluster.Files {
	if hasFiles(list, storage, node) {
		return list
	}
	return append(list, cluster.Files{Storage: storage, Node: node})
}

func hasFiles(list []cluster.Files, storage, node string) bool {
	return slices.ContainsFunc(list, func(l cluster.Files) bool { return l.Storage == storage && l.Node == node })
}

// readFiles reads the files of one content of storages. What cannot be read is not known, which blocks
// nothing: the list of a storage is complete, or Proxmox VE refuses it.
func (r *reader) readFiles(ctx context.Context, of []cluster.Files, content string) []cluster.Files {
	var out []cluster.Files
	concurrently(of, func(at cluster.Files) {
		if n := r.inv.Node(at.Node); n == nil || !n.Online {
			return
		}
		var list []struct {
			Volume string `json:"volid"`
			Size   number `json:"size"`
		}
		if err := r.get(ctx, "/nodes/"+at.Node+"/storage/"+at.Storage+"/content?content="+content, &list); err != nil {
			return
		}
		for _, f := range list {
			if name, is := strings.CutPrefix(f.Volume, at.Storage+":"+content+"/"); is {
				at.Files = append(at.Files, cluster.File{Name: name, Size: int64(f.Size)})
			}
		}
		slices.SortFunc(at.Files, func(a, b cluster.File) int { return strings.Compare(a.Name, b.Name) })
		r.mu.Lock()
		defer r.mu.Unlock()
		out = append(out, at)
	})
	return out
}
