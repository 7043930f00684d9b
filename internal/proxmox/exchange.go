package proxmox

import (
	"context"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"stackgen/internal/cluster"
)

// The writes that exchange disks of a VM, and that clone a container.
var (
	cloneWrite    = write{http.MethodPost, regexp.MustCompile(`^/api2/json/nodes/[^/]+/(qemu|lxc)/[0-9]+/clone$`)}
	ctConfigWrite = write{http.MethodPut, regexp.MustCompile(`^/api2/json/nodes/[^/]+/lxc/[0-9]+/config$`)}
	moveWrite     = write{http.MethodPost, regexp.MustCompile(`^/api2/json/nodes/[^/]+/qemu/[0-9]+/move_disk$`)}
	configWrite   = write{http.MethodPost, regexp.MustCompile(`^/api2/json/nodes/[^/]+/qemu/[0-9]+/config$`)}
	resizeWrite   = write{http.MethodPut, regexp.MustCompile(`^/api2/json/nodes/[^/]+/qemu/[0-9]+/resize$`)}
	snapshotWrite = write{http.MethodDelete, regexp.MustCompile(`^/api2/json/nodes/[^/]+/qemu/[0-9]+/snapshot/[^/]+$`)}
	destroyWrite  = write{http.MethodDelete, regexp.MustCompile(`^/api2/json/nodes/[^/]+/qemu/[0-9]+$`)}
)

// Clone clones a guest. body are the parameters of the call.
func (p *Power) Clone(ctx context.Context, from *cluster.Guest, body map[string]string) (RunningTask, error) {
	return p.task(ctx, cloneWrite, from, body, "clone")
}

// GiveDisk gives a disk of a VM to another one of its node, which has it as an unused one then, with a key.
func (p *Power) GiveDisk(ctx context.Context, from *cluster.Guest, disk string, to *cluster.Guest, key string) (RunningTask, error) {
	body := map[string]string{"disk": disk, "target-vmid": strconv.Itoa(to.VMID), "target-disk": key}
	return p.task(ctx, moveWrite, from, body, "move_disk")
}

// Set changes the configuration of a VM, if it has a digest still.
func (p *Power) Set(ctx context.Context, g *cluster.Guest, digest string, body map[string]string) (RunningTask, error) {
	body["digest"] = digest
	return p.task(ctx, configWrite, g, body, "config")
}

// Configure changes the configuration of a container, if it has a digest still. Proxmox VE does it before it answers.
func (p *Power) Configure(ctx context.Context, g *cluster.Guest, digest string, body map[string]string) error {
	body["digest"] = digest
	path := g.Path("config")
	if err := p.api.Put(ctConfigWrite.in(ctx), path, body, nil); err != nil {
		return p.explain("PUT "+path, err)
	}
	return nil
}

// Grow grows a disk of a VM to a size such as 8G.
func (p *Power) Grow(ctx context.Context, g *cluster.Guest, disk, size string) (RunningTask, error) {
	path := g.Path("resize")
	var upid string
	if err := p.api.Put(resizeWrite.in(ctx), path, map[string]string{"disk": disk, "size": size}, &upid); err != nil {
		return RunningTask{}, p.explain("PUT "+path, err)
	}
	return RunningTask{UPID: upid, Node: g.Node, VMID: g.VMID}, nil
}

// DeleteSnapshot deletes a snapshot of a VM.
func (p *Power) DeleteSnapshot(ctx context.Context, g *cluster.Guest, name string) (RunningTask, error) {
	return p.task(ctx, snapshotWrite, g, nil, "snapshot", name)
}

// Destroy destroys a VM with the volumes that its configuration names.
func (p *Power) Destroy(ctx context.Context, g *cluster.Guest) (RunningTask, error) {
	return p.task(ctx, destroyWrite, g, nil)
}

// task sends a call once, and returns the task that does it.
func (p *Power) task(ctx context.Context, w write, g *cluster.Guest, body map[string]string, part ...string) (t RunningTask, err error) {
	path := g.Path(part...)
	t = RunningTask{Node: g.Node, VMID: g.VMID}
	if w.method == http.MethodDelete {
		err = p.api.Delete(w.in(ctx), path, &t.UPID)
	} else {
		err = p.api.Post(w.in(ctx), path, body, &t.UPID)
	}
	if err != nil {
		return t, p.explain(w.method+" "+path, err)
	}
	return t, nil
}

// Entries are the entries of the configuration of a VM as they are in effect, without its password. What waits for a
// restart is not among them.
func (p *Power) Entries(ctx context.Context, g *cluster.Guest) (map[string]string, error) {
	raw, err := p.entries(ctx, configPath(g)+"?current=1")
	delete(raw, passwordKey)
	return raw, err
}

// Lacks are those of some privileges that the credentials do not have on a VM.
func (p *Power) Lacks(ctx context.Context, g *cluster.Guest, privileges ...string) (missing []string, err error) {
	at, own := vmPath(g.VMID), rights{}
	if err := p.get(ctx, "/access/permissions?path="+at, &own); err != nil {
		return nil, err
	}
	for _, privilege := range privileges {
		if _, ok := own[at][privilege]; !ok {
			missing = append(missing, privilege)
		}
	}
	return missing, nil
}

// IsLocked reports whether what Proxmox VE says is that the configuration of a container has a lock.
func IsLocked(reason string) bool { return strings.Contains(reason, "CT is locked") }

// Taken reports whether what Proxmox VE says of a clone is that another guest has the VMID. Of one on another node, it
// says that the file of its configuration exists.
func Taken(reason string) bool {
	return strings.Contains(reason, "already exists") || strings.Contains(reason, "File exists")
}
