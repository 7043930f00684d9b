package proxmox

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"stackgen/internal/cluster"
)

// backupWrite makes a backup of guests.
var backupWrite = write{http.MethodPost, regexp.MustCompile(`^/api2/json/nodes/[^/]+/vzdump$`)}

// Backup makes a compressed backup of a VM on a storage. A VM that runs goes on running, and no older
// backup is removed for it. It returns the task that does it.
func (p *Power) Backup(ctx context.Context, g *cluster.Guest, storage string) (RunningTask, error) {
	path := fmt.Sprintf("/nodes/%s/vzdump", url.PathEscape(g.Node))
	body := map[string]string{"vmid": strconv.Itoa(g.VMID), "storage": storage, "mode": "snapshot", "compress": "zstd", "remove": "0"}
	var upid string
	if err := p.api.Post(backupWrite.in(ctx), path, body, &upid); err != nil {
		return RunningTask{}, p.explain("POST "+path, err)
	}
	return RunningTask{UPID: upid, Node: g.Node, VMID: g.VMID}, nil
}

// BackupErrors are the lines of the log of a backup that say why it failed.
func (p *Power) BackupErrors(ctx context.Context, t RunningTask) []string {
	var out []string
	for _, l := range p.log(ctx, t) {
		if text, failed := strings.CutPrefix(l, "ERROR: "); failed {
			out = append(out, text)
		}
	}
	return out
}

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
