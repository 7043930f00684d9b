package pvesim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// cloneJob is one clone.
type cloneJob struct {
	c       *call
	src     *Guest
	conf    map[string]string // source configuration, of the guest or a snapshot
	newid   int
	full    bool
	target  string
	storage string
	format  string
	pool    string
	g       *Guest
	wk      *worker
}

// allocTime is the time for which a storage is locked to create one volume.
const allocTime = 30 * time.Millisecond

func qemuClone(c *call) (any, error) {
	j := &cloneJob{c: c, newid: atoi(c.p["newid"]), target: c.p["target"], storage: c.p["storage"], format: c.p["format"], pool: c.p["pool"]}
	if j.target == c.node {
		j.target = ""
	}
	if err := j.check(); err != nil {
		return nil, err
	}
	j.wk = &worker{lock: j.newid, wait: time.Second, steps: j.steps(), copyLines: true}
	j.wk.undo = j.undo
	return c.w.fork(c.node, "qmclone", itoa(j.src.VMID), c.who, j.wk), nil
}

// check returns the errors that a clone finds before its worker starts, in the
// order of the genuine server.
func (j *cloneJob) check() error {
	c := j.c
	src, err := c.runnable()
	if err != nil {
		return err
	}
	j.src = src
	if err := j.checkTarget(); err != nil {
		return err
	}
	if err := c.w.checkQuorum(); err != nil {
		return err
	}
	if err := src.locked(); err != nil {
		return err
	}
	j.conf = src.Config
	if name := c.p["snapname"]; name != "" {
		s := src.snapshot(name)
		if s == nil {
			return failf("snapshot '%s' does not exist", name)
		}
		j.conf = s.section()
	}
	j.full = !src.template()
	if c.has("full") {
		j.full = c.flag("full")
	}
	if j.storage != "" && !j.full {
		return failf("parameter 'storage' not allowed for linked clones")
	}
	if j.format != "" && !j.full {
		return failf("parameter 'format' not allowed for linked clones")
	}
	return j.checkVolumes()
}

// checkTarget checks the pool, the node and the storage of the new guest.
func (j *cloneJob) checkTarget() error {
	w := j.c.w
	if j.pool != "" && w.pool(j.pool) == nil {
		return denied("pool '%s' does not exist", j.pool)
	}
	if j.target != "" && w.node(j.target) == nil {
		return failf("no such cluster node '%s'", j.target)
	}
	if j.storage == "" {
		return nil
	}
	s, err := w.checkStorage(j.storage, j.c.node)
	if err != nil {
		return err
	}
	if err := s.checkImages(); err != nil || j.target == "" {
		return err
	}
	if _, err := w.checkStorage(j.storage, j.target); err != nil {
		return err
	}
	if !s.Shared {
		return failf("can't clone to non-shared storage '%s'", j.storage)
	}
	return nil
}

// clonedDrives returns the keys of the drives whose volumes the clone gets: disks and the
// cloud-init drive.
func (j *cloneJob) clonedDrives() []string {
	return slices.DeleteFunc(driveKeys(j.conf), func(k string) bool {
		d := parseDrive(j.conf[k])
		return d.cdrom() && !d.cloudinit()
	})
}

func (j *cloneJob) checkVolumes() error {
	c, w := j.c, j.c.w
	shared := true
	for _, k := range j.clonedDrives() {
		d := parseDrive(j.conf[k])
		if !strings.Contains(d.file, ":") {
			continue
		}
		id := storageOf(d.file)
		s, err := w.checkStorage(id, c.node)
		if err != nil {
			return err
		}
		shared = shared && s.Shared
		if d.cdrom() {
			continue
		}
		if err := w.require(c.who, "/storage/"+cmp.Or(j.storage, id), "Datastore.AllocateSpace"); err != nil {
			return err
		}
	}
	if err := c.checkBridges(j.conf); err != nil {
		return err
	}
	if name, custom := strings.CutPrefix(cpuModel(j.conf), "custom-"); custom && w.seed.Version == "9" {
		if err := c.useModel(name); err != nil {
			return err
		}
	}
	if j.target != "" && !shared {
		return failf("can't clone VM to node '%s' (VM uses local storage)", j.target)
	}
	if old := w.guests[j.newid]; old != nil && old.Node == c.node {
		return failf("unable to create VM %d: config file already exists", j.newid)
	}
	if j.full {
		return nil
	}
	return j.checkLinks()
}

// checkLinks returns the error of a linked clone if a storage cannot link to a disk.
func (j *cloneJob) checkLinks() error {
	of := ""
	if j.c.p["snapname"] != "" {
		of = "a snapshot of "
	}
	for _, k := range snapshotDisks(j.conf) {
		file := parseDrive(j.conf[k]).file
		if s := j.c.w.storage(storageOf(file)); s != nil && !s.feature("clone", file) {
			return failf("Linked clone feature is not supported for %s'%s' (%s)", of, file, k)
		}
	}
	return nil
}

func (j *cloneJob) steps() []step {
	steps := []step{j.begin}
	drives := j.clonedDrives()
	for i, k := range drives {
		steps = append(steps, j.drive(k, parseDrive(j.conf[k]), i == len(drives)-1)...)
	}
	if len(drives) == 0 {
		steps = append(steps, func() (pause, error) { return pause{d: allocTime, main: true}, nil })
	}
	return append(steps, j.finish)
}

// begin writes the locked configuration of the target.
func (j *cloneJob) begin() (pause, error) {
	w := j.c.w
	if old := w.guests[j.newid]; old != nil {
		j.wk.undo = nil
		if old.Node == j.c.node {
			return pause{}, failf("unable to create VM %d: config file already exists", j.newid)
		}
		return pause{}, failf("close (rename) atomic file '%s' failed: File exists", configFile(j.c.node, j.newid))
	}
	if w.guests[j.src.VMID] != j.src {
		j.wk.undo = nil
		return pause{}, failf("unable to find configuration file for VM %d on node '%s'", j.src.VMID, j.c.node)
	}
	j.g = w.newGuest(j.newid, j.c.node, "clone")
	j.g.Agent = j.src.Agent
	for _, k := range slices.Sorted(maps.Keys(j.conf)) {
		j.g.copyOption(w, k, j.conf[k])
	}
	j.g.Config["name"] = cmp.Or(j.c.p["name"], "Copy-of-VM-"+cmp.Or(j.conf["name"], itoa(j.src.VMID)))
	if d, ok := j.c.p["description"]; ok {
		j.g.Config["description"] = d
	}
	return pause{}, nil
}

// copyOption copies one option, with new identifiers where a clone needs them.
func (g *Guest) copyOption(w *cluster, k, v string) {
	switch {
	case k == "parent" || k == "snaptime" || k == "vmstate" || k == "snapstate" || k == "runningcpu" || k == "runningmachine",
		k == "template" || k == "lock" || strings.HasPrefix(k, "unused"):
		return
	case isDriveKey(k):
		if d := parseDrive(v); d.cdrom() && !d.cloudinit() {
			g.Config[k] = v
		}
		return
	case netKey.MatchString(k):
		n := parseNet(v)
		n["macaddr"] = w.mac()
		v = printNet(n)
	case k == "smbios1":
		v = "uuid=" + w.uuid()
	case k == "vmgenid":
		v = w.uuid()
	}
	g.Config[k] = v
}

// drive clones one disk: storage lock, new volume, content.
func (j *cloneJob) drive(k string, d drive, last bool) []step {
	full := j.full || d.cloudinit()
	var dst *Volume
	queue := func() (pause, error) { return j.c.w.storageLock(j.dest(d)), nil }
	makeIt := func() (pause, error) {
		what := "linked"
		if full {
			what = "full"
		}
		j.wk.logf("create %s clone of drive %s (%s)", what, k, d.file)
		v, err := j.volume(d, full)
		if err != nil {
			return pause{}, fmt.Errorf("clone failed: %w", err)
		}
		dst = v
		if !full || d.cloudinit() {
			return pause{d: allocTime, main: last}, nil
		}
		j.wk.logf("transferred 0.0 B of %s (0.00%%)", humanSize(int64(v.Size)))
		j.wk.cancel = j.cancelText(d, v)
		return pause{copy: &transfer{storage: storageOf(v.ID), total: float64(v.Size), limit: j.c.bandwidth()}, main: last}, nil
	}
	done := func() (pause, error) {
		if full && !d.cloudinit() {
			size := humanSize(int64(dst.Size))
			j.wk.logf("transferred %s of %s (100.00%%)", size, size)
		}
		out := drive{file: dst.ID, opts: cloneMap(d.opts)}
		out.opts["size"] = formatSize(int64(dst.Size))
		delete(out.opts, "format")
		j.g.Config[k] = out.String()
		return pause{}, nil
	}
	return []step{queue, makeIt, done}
}

func (j *cloneJob) finish() (pause, error) {
	w := j.c.w
	if err := w.write(j.c.node, j.newid, j.wk.task.PID); err != nil {
		return pause{}, err
	}
	delete(j.g.Config, "lock")
	if j.target != "" {
		j.g.Node = j.target
	}
	if j.pool != "" {
		w.join(j.pool, j.newid)
	}
	return pause{}, nil
}

func (j *cloneJob) undo() {
	if j.g != nil {
		j.c.w.dropGuest(j.g)
	}
}
