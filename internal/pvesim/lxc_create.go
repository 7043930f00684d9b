package pvesim

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

// lxcCreate creates a container from an archive.
func lxcCreate(c *call) (any, error) {
	vmid, pool := c.vmid(), c.p["pool"]
	if c.flag("restore") {
		return nil, failf("unable to restore CT %d - backups are not simulated", vmid)
	}
	if err := c.mayCreateContainer(vmid, pool); err != nil {
		return nil, err
	}
	set, mounts, err := c.newContainer(vmid, pool)
	if err != nil {
		return nil, err
	}
	g := c.w.newGuest(vmid, c.node, "create")
	g.Type = "lxc"
	wk := &worker{lock: vmid, wait: lockWait, undo: func() { c.w.dropGuest(g) }}
	wk.steps = []step{func() (pause, error) {
		if err := c.unpack(wk, g, set, mounts); err != nil {
			return pause{}, fmt.Errorf("unable to create CT %d - %w", vmid, err)
		}
		return pause{d: 300 * time.Millisecond, main: true}, nil
	}, func() (pause, error) {
		delete(g.Config, "lock")
		if pool != "" {
			c.w.join(pool, vmid)
		}
		if c.flag("start") {
			c.w.fork(g.Node, "vzstart", itoa(vmid), c.who, c.w.startWorker(g))
		}
		return pause{}, nil
	}}
	return c.w.fork(c.node, "vzcreate", itoa(vmid), c.who, wk), nil
}

// mayCreateContainer checks the VMID, the keys, the pool and the privilege of a new container,
// in the order of the genuine server.
func (c *call) mayCreateContainer(vmid int, pool string) error {
	if err := c.w.checkQuorum(); err != nil {
		return err
	}
	if old, taken := c.w.guests[vmid]; taken {
		return old.taken()
	}
	if keys, ok := c.p["ssh-public-keys"]; ok && !validPublicKeys(keys) {
		return failf("SSH public key validation error")
	}
	if pool != "" && c.w.pool(pool) == nil {
		return denied("pool '%s' does not exist", pool)
	}
	if !c.mayAllocate(vmid, pool) {
		return denied("")
	}
	return nil
}

var sizeOnly = regexp.MustCompile(`^\d+(\.\d+)?$`)

// newContainer returns the options and the mount points of a container that a call creates, if
// the caller may use them.
func (c *call) newContainer(vmid int, pool string) (set, mounts map[string]string, err error) {
	set = c.configOptions("node", "vmid", "ostemplate", "pool", "storage", "password", "ssh-public-keys", "start", "force", "restore",
		"unique", "bwlimit", "ignore-unpack-errors", "unprivileged")
	unprivileged := c.flag("unprivileged") || c.w.seed.Version == "9" && !c.has("unprivileged")
	o := containerOptions{c: c, vmid: vmid, pool: pool, unprivileged: unprivileged}
	if err := o.check(set, nil); err != nil {
		return nil, nil, err
	}
	if c.w.seed.Version == "9" && !unprivileged {
		if err := c.w.require(c.who, "/", "Sys.Modify"); err != nil {
			return nil, nil, err
		}
	}
	if err := c.archiveAccess(c.p["ostemplate"]); err != nil {
		return nil, nil, err
	}
	storage := cmp.Or(c.p["storage"], "local")
	mounts = map[string]string{}
	for k, v := range set {
		switch {
		case isIndexed(k, "unused"):
			delete(set, k)
		case !isDriveKey(k):
		case sizeOnly.MatchString(v):
			mounts[k] = storage + ":" + v
		default:
			mounts[k] = v
		}
	}
	maps.DeleteFunc(set, func(k, _ string) bool { return isDriveKey(k) })
	if len(mounts) > 0 && mounts["rootfs"] == "" {
		return nil, nil, failf("mount points configured, but 'rootfs' not set - aborting")
	}
	if len(mounts) == 0 {
		mounts["rootfs"] = storage + ":4"
	}
	for _, k := range driveKeys(mounts) {
		if err := c.containerStorage(parseDrive(mounts[k]).file); err != nil {
			return nil, nil, err
		}
	}
	if unprivileged {
		set["unprivileged"] = "1"
	}
	return set, mounts, nil
}

// containerStorage checks the storage of a volume of a new container.
func (c *call) containerStorage(file string) error {
	if mountType(file) != "volume" {
		if c.root() {
			return nil
		}
		return failf("Only root can pass arbitrary filesystem paths.")
	}
	if !strings.Contains(file, ":") {
		return failf("unable to parse volume ID '%s'", file)
	}
	s, err := c.w.checkStorage(storageOf(file), c.node)
	if err != nil {
		return err
	}
	if !s.allowsContent("rootdir") {
		return badParam("storage", "storage '%s' does not support container directories", s.ID)
	}
	return c.w.require(c.who, "/storage/"+s.ID, "Datastore.AllocateSpace")
}

// archiveAccess checks that the caller may read an archive.
func (c *call) archiveAccess(volid string) error {
	switch {
	case strings.HasPrefix(volid, "/") && c.root():
		return nil
	case !strings.Contains(volid, ":"):
		return arbitraryPath()
	case c.w.storage(storageOf(volid)) == nil:
		return failf("storage '%s' does not exist", storageOf(volid))
	case !strings.HasPrefix(plain(volid), "vztmpl/"):
		return failf("cannot use volume of type '%s' as '%s'", path.Dir(plain(volid)), "vztmpl")
	}
	return c.mayReadVolume(0, volid)
}

// unpack makes the volumes of a container, and its configuration from that of the call and what
// the archive has.
func (c *call) unpack(wk *worker, g *Guest, set, mounts map[string]string) error {
	w, archive := c.w, c.p["ostemplate"]
	for _, k := range slices.Sorted(maps.Keys(set)) {
		v := set[k]
		if k == "tags" {
			rules := w.tagRules()
			v = rules.uniqueTags(v)
		}
		if v, err := w.containerValue(g, k, v, false); err == nil && v != "" {
			g.Config[k] = v
		}
	}
	for _, k := range mountOrder(mounts) {
		line, log, err := w.makeMountPoint(g, mounts[k])
		if err != nil {
			return err
		}
		wk.logOutput(log...)
		g.Config[k] = line
	}
	if w.volumeOn(g.Node, archive) == nil {
		return w.storage(storageOf(archive)).noVolume(archive)
	}
	s := w.storage(storageOf(archive))
	wk.logf("extracting archive '%s/template/cache/%s'", s.imagePath(), path.Base(archive))
	wk.log("Total bytes read: 524288000 (500MiB, 250MiB/s)")
	if g.Config["arch"] == "" {
		g.Config["arch"] = archiveArch(archive)
		wk.logf("Detected container architecture: %s", g.Config["arch"])
	}
	for k, def := range map[string]string{"hostname": "CT" + itoa(g.VMID), "memory": "512", "swap": "512", "ostype": archiveOS(archive)} {
		if _, ok := g.Config[k]; !ok {
			g.Config[k] = def
		}
	}
	return nil
}

// mountOrder returns the mount points in the order in which a server makes them.
func mountOrder(mounts map[string]string) []string {
	keys := driveKeys(mounts)
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Compare(atoi(strings.TrimPrefix(a, "mp")), atoi(strings.TrimPrefix(b, "mp")))
	})
	if i := slices.Index(keys, "rootfs"); i >= 0 {
		keys = slices.Insert(slices.Delete(keys, i, i+1), 0, "rootfs")
	}
	return keys
}

// archiveOS returns the type of the operating system in an archive, by its name.
func archiveOS(volid string) string {
	name, _, _ := strings.Cut(path.Base(volid), "-")
	switch name {
	case "debian", "devuan", "ubuntu", "centos", "fedora", "opensuse", "archlinux", "alpine", "gentoo", "nixos":
		return name
	}
	return "unmanaged"
}

// archiveArch returns the architecture of an archive, by its name.
func archiveArch(volid string) string {
	for _, arch := range []string{"arm64", "armhf", "i386"} {
		if strings.Contains(path.Base(volid), arch) {
			return arch
		}
	}
	return "amd64"
}
