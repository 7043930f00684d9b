package pvesim

import (
	"fmt"
	"time"
)

// lxcMigrate moves a container to another node. One that runs is stopped before, and started
// there after.
func lxcMigrate(c *call) (any, error) {
	target := c.p["target"]
	if target == c.node {
		return nil, badParam("target", "target is local node.")
	}
	if err := c.w.checkQuorum(); err != nil {
		return nil, err
	}
	if c.w.node(target) == nil {
		return nil, failf("no such cluster node '%s'", target)
	}
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	if g.Running && !c.flag("online") && !c.flag("restart") {
		return nil, failf("can't migrate running container without --online or --restart")
	}
	if c.w.haManaged(g) {
		return c.haRequest(g, "hamigrate", fmt.Sprintf("Requesting HA migration for CT %d to node %s", g.VMID, target), func() {
			c.w.at(9*time.Second, func() { c.w.haMove(g, target) })
		})
	}
	m := c.w.containerMigration(g, target)
	m.limit, m.mapTo, m.restart = c.bandwidth(), c.mapStorage, c.flag("restart")
	m.wk = &worker{lock: g.VMID, wait: lockWait, cancel: "migration aborted", undo: m.undo}
	m.wk.steps = m.containerSteps()
	return c.w.fork(c.node, "vzmigrate", itoa(g.VMID), c.who, m.wk), nil
}

func (w *cluster) containerMigration(g *Guest, target string) *migration {
	return &migration{w: w, g: g, target: w.node(target), mapTo: func(s string) string { return s }, copied: map[string]*Volume{}}
}

func (m *migration) containerSteps() []step {
	steps := []step{m.reach, m.beginContainer}
	disks := m.disks()
	for i, d := range disks {
		steps = append(steps, m.copyDisk(d["volid"].(string), i == len(disks)-1)...)
	}
	steps = append(steps, func() (pause, error) { return pause{d: time.Second, main: len(disks) == 0}, nil })
	return append(steps, m.finishContainer)
}

// beginContainer checks what cannot move, and stops a container that runs.
func (m *migration) beginContainer() (pause, error) {
	g := m.g
	if err := g.locked(); err != nil {
		return pause{}, err
	}
	if g.Running && !m.restart {
		return pause{}, m.abort("lxc live migration is currently not implemented")
	}
	for _, k := range driveKeys(g.Config) {
		d := parseDrive(g.Config[k])
		if kind := mountType(d.file); kind != "volume" && d.opts["shared"] != "1" {
			return pause{}, m.abort("cannot migrate local " + kind + " mount point '" + k + "'")
		}
		if kind := mountType(d.file); kind == "volume" {
			if _, err := m.w.checkStorage(m.mapTo(storageOf(d.file)), m.target.Name); err != nil {
				return pause{}, m.abort(err.Error())
			}
		}
	}
	if g.Running {
		m.wasRunning = true
		m.say("shutdown CT %d", g.VMID)
		m.w.power(g, false)
	}
	m.say("starting migration of CT %d to node '%s' (%s)", g.VMID, m.target.Name, m.target.Address)
	g.Config["lock"] = "migrate"
	for _, d := range m.disks() {
		m.say("found local volume '%s' (in current VM config)", d["volid"])
	}
	return pause{}, nil
}

// abort logs why a migration ends, and returns the error of its task.
func (m *migration) abort(why string) error {
	m.say("ERROR: migration aborted (duration %s): %s", m.duration(), why)
	return failf("migration aborted")
}

func (m *migration) finishContainer() (pause, error) {
	w, g := m.w, m.g
	if err := w.write(g.Node, g.VMID, m.wk.task.PID); err != nil {
		return pause{}, err
	}
	m.moveVolumes()
	m.say("start final cleanup")
	g.Node = m.target.Name
	delete(g.Config, "lock")
	if m.wasRunning {
		m.say("start container on target node")
		if err := w.containerStartable(g); err == nil {
			w.power(g, true)
		}
	}
	m.say("migration finished successfully (duration %s)", m.duration())
	m.forgetCopies()
	return pause{}, nil
}
