package proxmox

import (
	"context"
	"fmt"
	"net/url"

	"stackgen/internal/cluster"
)

// LastBackup is when the last backup of a guest was made that a storage of its node has, in
// seconds since 1970; 0 if the storage has none that the credentials see.
func (p *Power) LastBackup(ctx context.Context, g *cluster.Guest, storage string) (last int64, err error) {
	var list []struct {
		VMID    number `json:"vmid"`
		Created number `json:"ctime"`
	}
	path := fmt.Sprintf("/nodes/%s/storage/%s/content?content=backup&vmid=%d", url.PathEscape(g.Node), url.PathEscape(storage), g.VMID)
	if err := p.get(ctx, path, &list); err != nil {
		return 0, err
	}
	for _, b := range list {
		if int(b.VMID) == g.VMID || b.VMID == 0 {
			last = max(last, int64(b.Created))
		}
	}
	return last, nil
}
