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
	c, w := j.c, j.c.w
	src, err := c.runnable()
	if err != nil {
		return err
	}
	j.src = src
	if j.pool != "" && w.pool(j.pool) == nil {
		return denied("pool '%s' does not exist", j.pool)
	}
	if j.target != "" && w.node(j.target) == nil {
		return failf("no such cluster node '%s'", j.target)
	}
	if j.storage != "" {
		s, err := w.checkStorage(j.storage, c.node)
		if err != nil {
			return err
		}
		if err := s.checkImages(); err != nil {
			return err
		}
		if j.target != "" {
			if _, err := w.checkStorage(j.storage, j.target); err != nil {
				return err
			}
			if !s.Shared {
				return failf("can't clone to non-shared storage '%s'", j.storage)
			}
		}
	}
	if err := w.checkQuorum(); err != nil {
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

func (j *cloneJob) checkVolumes() error {
	c, w := j.c, j.c.w
	shared := true
	for _, k := range slices.Sorted(maps.Keys(j.conf)) {
		d := parseDrive(j.conf[k])
		if !isDriveKey(k) || d.cdrom() && !d.cloudinit() || !strings.Contains(d.file, ":") {
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
		if j.storage != "" {
			id = j.storage
		}
		if err := w.require(c.who, "/storage/"+id, "Datastore.AllocateSpace"); err != nil {
			return err
		}
	}
	if err := c.checkBridges(j.conf); err != nil {
		return err
	}
	if j.target != "" && !shared {
		return failf("can't clone VM to node '%s' (VM uses local storage)", j.target)
	}
	if old := w.guests[j.newid]; old != nil && old.Node == c.node {
		return failf("unable to create VM %d: config file already exists", j.newid)
	}
	for _, k := range slices.Sorted(maps.Keys(j.conf)) {
		d := parseDrive(j.conf[k])
		if !isDriveKey(k) || d.cdrom() {
			continue
		}
		if s := w.storage(storageOf(d.file)); !j.full && s != nil && !s.feature("clone", d.file) {
			of := ""
			if c.p["snapname"] != "" {
				of = "a snapshot of "
			}
			return failf("Linked clone feature is not supported for %s'%s' (%s)", of, d.file, k)
		}
	}
	return nil
}

func (j *cloneJob) steps() []step {
	steps := []step{j.begin}
	var last string
	for _, k := range slices.Sorted(maps.Keys(j.conf)) {
		d := parseDrive(j.conf[k])
		if !isDriveKey(k) || d.cdrom() && !d.cloudinit() {
			continue
		}
		last = k
	}
	for _, k := range slices.Sorted(maps.Keys(j.conf)) {
		d := parseDrive(j.conf[k])
		if !isDriveKey(k) || d.cdrom() && !d.cloudinit() {
			continue
		}
		steps = append(steps, j.drive(k, d, k == last)...)
	}
	if last == "" {
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
		limit := float64(atoi(j.c.p["bwlimit"])) * float64(kib)
		j.wk.cancel = j.cancelText(d, v)
		return pause{copy: &transfer{storage: storageOf(v.ID), total: float64(v.Size), limit: limit}, main: last}, nil
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
