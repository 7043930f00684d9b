package pvesim

import (
	"slices"
	"strings"
	"time"
)

// acpiTimeout is the time for which a shutdown waits for a guest without an
// operating system.
const acpiTimeout = 60 * time.Second

// overrule ends the shutdowns of a guest that the caller may end: they hold its lock.
func (c *call) overrule(wk *worker, vmid int) {
	var ended []string
	for _, t := range c.w.nodeTasksNow(wk.task.Node) {
		if t.w != nil && t.Type == c.taskType("shutdown") && t.ID == itoa(vmid) &&
			(t.User == c.who.user || c.w.allowed(c.who, "/nodes/"+t.Node, "Sys.Modify")) {
			t.w.abort()
			ended = append(ended, t.UPID)
		}
	}
	if len(ended) > 0 {
		wk.log("overruled " + c.taskType("shutdown") + " tasks: " + strings.Join(ended, ", "))
	}
}

// hasOS reports whether the guest has an operating system that reacts; an empty
// disk has none. A container is made from an archive with one.
func (g *Guest) hasOS() bool {
	return g.container() || slices.Contains([]string{"present", "silent", "refuses"}, g.Agent.Mode)
}

func qemuShutdown(c *call) (any, error) {
	if err := c.rootOnly("skiplock", "keepActive"); err != nil {
		return nil, err
	}
	vmid, node := c.vmid(), c.node
	g := c.w.guests[vmid]
	paused := g != nil && g.Running && g.Paused
	if paused && !c.flag("forceStop") {
		return nil, failf("VM is paused - cannot shutdown")
	}
	if g != nil && c.w.haManaged(g) {
		return c.haRequest(g, "hastop", "Requesting HA stop for VM "+itoa(vmid), func() { c.w.haRequestState(g, "stopped") })
	}
	wk := c.shutdownWorker(vmid, node, c.flag("forceStop"))
	if paused {
		wk.steps = wk.steps[:1] // stops, as nothing can react
	}
	wk.steps = append(wk.steps, c.powerOff(vmid))
	return c.w.fork(node, "qmshutdown", itoa(vmid), c.who, wk), nil
}

// shutdownTimeout returns how long a shutdown waits.
func (c *call) shutdownTimeout(g *Guest) time.Duration {
	if c.has("timeout") {
		return time.Duration(atoi(c.p["timeout"])) * time.Second
	}
	if down := parseDrive(g.Config["startup"]).opts["down"]; down != "" {
		return time.Duration(atoi(down)) * time.Second
	}
	return acpiTimeout
}

// shutdownWorker asks a guest to stop. It holds the lock of the guest until then.
func (c *call) shutdownWorker(vmid int, node string, force bool) *worker {
	wk := &worker{lock: vmid, wait: lockWait, cancel: "received interrupt"}
	wk.steps = []step{func() (pause, error) {
		g, err := c.runningGuest(vmid, node)
		switch {
		case g == nil || err != nil:
			return pause{main: true}, err
		case g.hasOS() || g.Paused:
			return pause{d: time.Second, main: true}, nil
		}
		return pause{d: c.shutdownTimeout(g), main: true}, nil
	}, func() (pause, error) {
		g := c.w.guests[vmid]
		if g == nil || !g.Running || g.hasOS() {
			return pause{}, nil
		}
		if !force {
			return pause{}, failf("VM quit/powerdown failed - got timeout")
		}
		wk.log("VM still running - terminating now with SIGTERM")
		return pause{}, nil
	}}
	return wk
}

// restartDelay is the time after a reboot's task until the guest is started again.
const restartDelay = 100 * time.Millisecond

// qemuReboot stops a guest. The server then starts it in another task, as root@pam.
func qemuReboot(c *call) (any, error) {
	g, err := c.runnable()
	if err != nil {
		return nil, err
	}
	if g.Running && g.Paused {
		return nil, failf("VM is paused - cannot shutdown")
	}
	if !g.Running {
		return nil, failf("VM %d not running", g.VMID)
	}
	vmid := g.VMID
	wk := c.shutdownWorker(vmid, g.Node, false)
	wk.steps = append(wk.steps, func() (pause, error) {
		if g := c.w.guests[vmid]; g != nil && g.Running {
			c.w.power(g, false)
		}
		c.w.at(restartDelay, func() { // by the cleanup itself, which has released the lock then
			if g := c.w.guests[vmid]; g != nil && !g.Running {
				c.w.fork(g.Node, "qmstart", itoa(vmid), &identity{user: "root@pam"}, c.w.startWorker(g))
			}
		})
		return pause{}, nil
	})
	return c.w.fork(c.node, "qmreboot", itoa(vmid), c.who, wk), nil
}
