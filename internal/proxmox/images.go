package proxmox

import (
	"context"
	"slices"
	"strings"

	"stackgen/internal/cluster"
)

// readImages reads the files of the content import of a storage. What cannot be read is not known,
// which blocks nothing: Proxmox VE refuses what would overwrite a file.
func (r *reader) readImages(ctx context.Context, at cluster.Images) {
	if !slices.ContainsFunc(r.inv.Nodes, func(n cluster.Node) bool { return n.Name == at.Node && n.Online }) {
		return
	}
	var list []struct {
		Volume string `json:"volid"`
		Size   number `json:"size"`
	}
	if err := r.get(ctx, "/nodes/"+at.Node+"/storage/"+at.Storage+"/content?content=import", &list); err != nil {
		return
	}
	for _, f := range list {
		if name, is := strings.CutPrefix(f.Volume, at.Storage+":import/"); is {
			at.Files = append(at.Files, cluster.ImageFile{Name: name, Size: int64(f.Size)})
		}
	}
	slices.SortFunc(at.Files, func(a, b cluster.ImageFile) int { return strings.Compare(a.Name, b.Name) })
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inv.Images = append(r.inv.Images, at)
}
