package pvesim

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

func qemuMigrate(c *call) (any, error) {
	target := c.p["target"]
	if c.w.node(target) == nil {
		return nil, failf("no such cluster node '%s'", target)
	}
	if target == c.node {
		return nil, badParam("target", "target is local node.")
	}
	if err := c.w.checkQuorum(); err != nil {
		return nil, err
	}
	g, err := c.unlockedGuest()
	if err != nil {
		return nil, err
	}
	if g.Running && !c.flag("online") && !c.w.haManaged(g) {
		return nil, failf("can't migrate running VM without --online")
	}
	if targets := c.w.replicatesTo(g.VMID); g.Running && len(targets) > 0 && !slices.Contains(targets, target) && !c.flag("force") {
		return nil, failf("Cannot live-migrate replicated VM to node '%s' - not a replication target. Use 'force' to override.", target)
	}
	for _, id := range g.storages() {
		to := c.mapStorage(id)
		if _, err := c.w.checkStorage(to, target); err != nil {
			return nil, err
		}
	}
	if c.w.haManaged(g) {
		return c.haRequest(g, "hamigrate", fmt.Sprintf("Requesting HA migration for VM %d to node %s", g.VMID, target), func() {
			c.w.at(9*time.Second, func() { c.w.haMove(g, target) })
		})
	}
	m := &migration{w: c.w, g: g, target: c.w.node(target), limit: c.bandwidth(), online: g.Running,
		withDisks: c.flag("with-local-disks") || !g.Running, mapTo: c.mapStorage, copied: map[string]*Volume{}}
	wk := &worker{lock: g.VMID, wait: lockWait, steps: m.steps(), cancel: "migration aborted"}
	wk.undo = m.undo
	m.wk = wk
	return c.w.fork(c.node, "qmigrate", itoa(g.VMID), c.who, wk), nil
}

// migration is one migration of a guest to another node.
type migration struct {
	w         *cluster
	wk        *worker
	g         *Guest
	target    *Node
	limit     float64
	online    bool
	withDisks bool
	mapTo     func(string) string
	began     time.Time
	copied    map[string]*Volume // by the volume that was copied
	half      *Volume
	failed    string
	from      string

	restart    bool // a container that runs is stopped and started
	wasRunning bool
}

func (m *migration) say(format string, args ...any) {
	m.wk.log(m.w.now.UTC().Format("2006-01-02 15:04:05 ") + fmt.Sprintf(format, args...))
}

func (m *migration) steps() []step {
	steps := []step{m.reach, m.begin}
	var disks []string
	for _, d := range m.disks() {
		disks = append(disks, d["volid"].(string))
	}
	for i, id := range disks {
		steps = append(steps, m.copyDisk(id, i == len(disks)-1)...)
	}
	steps = append(steps, func() (pause, error) { return pause{d: time.Second, main: len(disks) == 0}, nil })
	return append(steps, m.finish)
}

// reach connects to the target before it changes anything.
func (m *migration) reach() (pause, error) {
	m.began, m.from = m.w.now, m.g.Node
	if m.target.State == NodeLost {
		ssh := "ssh: connect to host " + m.target.Address + " port 22: No route to host"
		m.failed = "Can't connect to destination address using public key"
		m.replaceSteps(func() error {
			m.say("# %s /bin/true", m.target.ssh())
			m.say("%s", ssh)
			m.say("ERROR: migration aborted (duration %s): %s", m.duration(), m.failed)
			return failf("migration aborted")
		})
		return pause{d: 3 * time.Second, main: true}, nil
	}
	return pause{}, nil
}

// ssh returns the command by which a node runs another one on this node.
func (n *Node) ssh() string {
	return fmt.Sprintf("/usr/bin/ssh -e none -o 'BatchMode=yes' -o 'HostKeyAlias=%s' "+
		"-o 'UserKnownHostsFile=/etc/pve/nodes/%s/ssh_known_hosts' -o 'GlobalKnownHostsFile=none' root@%s",
		n.Name, n.Name, n.Address)
}

// replaceSteps replaces the remaining steps of the job by one step.
func (m *migration) replaceSteps(do func() error) {
	m.wk.steps = []step{m.wk.steps[0], func() (pause, error) { return pause{}, do() }}
}

func (m *migration) duration() string {
	d := int(m.w.now.Sub(m.began).Seconds())
	return fmt.Sprintf("%02d:%02d:%02d", d/3600, d/60%60, d%60)
}

func (m *migration) begin() (pause, error) {
	m.say("starting migration of VM %d to node '%s' (%s)", m.g.VMID, m.target.Name, m.target.Address)
	if err := m.localDevices(); err != nil {
		return pause{}, err
	}
	m.g.Config["lock"] = "migrate"
	disks := m.disks()
	m.statMissing(disks)
	for _, d := range disks {
		kind := "found local disk '%s' (attached)"
		if d["cdrom"] == 1 {
			kind = "found generated disk '%s' (in current VM config)"
		} else if d["is_unused"] == 1 {
			kind = "found local disk '%s' (unused)"
		}
		m.say(kind, d["volid"])
	}
	if m.stays(disks) {
		return pause{}, m.scanFailure("can't migrate VM - check log")
	}
	for _, d := range disks {
		if base := parentOf(d["volid"].(string)); base != "" {
			return pause{}, m.scanFailure("can't migrate '%s' as it's a clone of '%s' at /usr/share/perl5/PVE/QemuMigrate.pm line 540.",
				d["volid"], path.Base(base))
		}
	}
	m.updateSizes()
	if len(disks) > 0 {
		m.say("copying local disk images")
	}
	return pause{}, nil
}

func (m *migration) copyDisk(id string, last bool) []step {
	return []step{func() (pause, error) {
		src := m.w.volumeOn(m.g.Node, id)
		if src == nil {
			why := fmt.Sprintf("storage migration for '%s' to storage '%s' failed - volume '%s' does not exist", id, m.mapTo(storageOf(id)), id)
			m.say("ERROR: %s", why)
			m.say("aborting phase 1 - cleanup resources")
			m.say("ERROR: migration aborted (duration %s): %s", m.duration(), why)
			return pause{}, failf("migration aborted")
		}
		if m.limit > 0 {
			m.say("using a bandwidth limit of %d bytes per second for transferring '%s'", int64(m.limit), id)
		}
		s := m.w.storage(m.mapTo(storageOf(id)))
		dst := &Volume{ID: m.renamed(src, s), Node: m.target.Name, VMID: src.VMID, Size: src.Size, Format: src.Format}
		m.half = m.w.addVolume(dst)
		if l := m.w.allocLine(s, dst, ""); l != "" {
			m.say("%s", strings.Replace(l, `"base-`, `"vm-`, 1)) // LVM renames a base at the end
		}
		m.failed = m.commandFailure(id, s.ID)
		return pause{copy: &transfer{storage: storageOf(id), total: float64(src.Size), limit: m.limit}, main: last}, nil
	}, func() (pause, error) {
		v := m.half
		m.half, m.failed = nil, ""
		m.copied[id] = v
		blocks := (int64(v.Size) + 64*kib - 1) / (64 * kib)
		m.say("%d+0 records in", blocks)
		m.say("%d+0 records out", blocks)
		m.say("%d bytes (%s) copied", int64(v.Size), humanSize(int64(v.Size)))
		if s := m.w.storage(storageOf(v.ID)); !s.fileBased() && strings.HasPrefix(plain(v.ID), "base-") {
			m.say("  Renamed \"%s\" to \"%s\" in volume group \"%s\"", strings.Replace(plain(v.ID), "base-", "vm-", 1), plain(v.ID), s.VG)
		}
		m.say("successfully imported '%s'", v.ID)
		m.say("volume '%s' is '%s' on the target", id, v.ID)
		return pause{}, nil
	}}
}

func (m *migration) finish() (pause, error) {
	w, g := m.w, m.g
	if err := w.write(g.Node, g.VMID, m.wk.task.PID); err != nil {
		return pause{}, err
	}
	if m.online {
		m.say("starting VM %d on remote node '%s'", g.VMID, m.target.Name)
		if err := w.fits(g, m.target); err != nil {
			return pause{}, m.startFailure(err)
		}
		m.say("start remote tunnel")
		m.say("ssh tunnel ver 1")
		m.say("starting online/live migration on unix:/run/qemu-server/%d.migrate", g.VMID)
		m.say("set migration capabilities")
		m.say("migration downtime limit: 100 ms")
		m.say("migration cachesize: %s", humanSize(16*mib))
		m.say("set migration parameters")
		m.say("start migrate command to unix:/run/qemu-server/%d.migrate", g.VMID)
		m.say("average migration speed: %s/s - downtime 3 ms", humanSize(g.maxMemory()))
		m.say("migration completed, transferred %s VM-state", humanSize(g.memory()))
		m.say("migration status: completed")
	}
	m.moveVolumes()
	g.Node = m.target.Name
	delete(g.Config, "lock")
	m.say("migration finished successfully (duration %s)", m.duration())
	m.forgetCopies()
	return pause{}, nil
}

// moveVolumes removes the source volumes and changes the configuration to the
// copies.
func (m *migration) moveVolumes() {
	for _, id := range slices.Sorted(maps.Keys(m.copied)) {
		if v := m.w.volumeOn(m.g.Node, id); v != nil {
			m.w.removeVolume(v)
			m.wk.logOutput(m.w.storage(storageOf(id)).removeLine(v))
		}
	}
	for k, v := range m.g.Config {
		d := parseDrive(v)
		if to := m.copied[d.file]; to != nil && (isDriveKey(k) || strings.HasPrefix(k, "unused")) {
			d.file = to.ID
			m.g.Config[k] = d.String()
		}
	}
}

func (m *migration) forgetCopies() { m.copied, m.half = nil, nil }

// disks returns the drives that the migration copies, by their volumes.
func (m *migration) disks() []object {
	out := m.w.localDisks(m.g)
	slices.SortFunc(out, func(a, b object) int { return strings.Compare(a["volid"].(string), b["volid"].(string)) })
	return out
}

// undo leaves the state of a genuine abort: the unfinished copy stays on the
// target.
func (m *migration) undo() {
	if m.failed != "" && m.half != nil {
		m.half.Size = Size(m.wk.done())
		m.say("ERROR: %s", m.failed)
		m.say("aborting phase 1 - cleanup resources")
		m.say("ERROR: migration aborted (duration %s): %s", m.duration(), m.failed)
	}
	for _, v := range m.copied {
		m.w.removeVolume(v)
	}
	if m.g.Config["lock"] == "migrate" {
		delete(m.g.Config, "lock")
	}
}
