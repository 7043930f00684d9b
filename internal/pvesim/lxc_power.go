package pvesim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// lxcTimeout is how long a shutdown of a container waits if the call does not say it.
const lxcTimeout = 60 * time.Second

// runningContainer reports whether the node runs the container of a call.
func (c *call) runningContainer() bool {
	g := c.w.guests[c.vmid()]
	return g != nil && g.Node == c.node && g.container() && g.Running
}

// managedContainer returns the container of a call if the HA manager starts and stops it.
func (c *call) managedContainer() *Guest {
	if g := c.w.guests[c.vmid()]; g != nil && g.container() && c.w.haManaged(g) {
		return g
	}
	return nil
}

func lxcStart(c *call) (any, error) {
	if err := c.rootOnly("skiplock"); err != nil {
		return nil, err
	}
	vmid := c.vmid()
	if c.runningContainer() {
		return nil, failf("CT %d already running", vmid)
	}
	if err := c.w.checkQuorum(); err != nil {
		return nil, err
	}
	if g := c.managedContainer(); g != nil {
		return c.haRequest(g, "hastart", "Requesting HA start for CT "+itoa(vmid), func() { c.w.haRequestState(g, "started") })
	}
	wk := &worker{lock: vmid, wait: lockWait, steps: c.w.startContainer(vmid, c.node, c.flag("skiplock"))}
	return c.w.fork(c.node, "vzstart", itoa(vmid), c.who, wk), nil
}

// containerOn returns the container whose configuration a node has.
func (w *cluster) containerOn(node string, vmid int) (*Guest, error) {
	if g := w.guests[vmid]; g != nil && g.Node == node && g.container() {
		return g, nil
	}
	return nil, failf("Configuration file 'nodes/%s/lxc/%d.conf' does not exist", node, vmid)
}

func (w *cluster) startContainer(vmid int, node string, skipLock bool) []step {
	return []step{func() (pause, error) {
		g, err := w.containerOn(node, vmid)
		if err != nil {
			return pause{}, err
		}
		if g.template() {
			return pause{}, failf("you can't start a CT if it's a template")
		}
		if err := g.locked(); err != nil && !skipLock && g.Config["lock"] != "mounted" {
			return pause{}, err
		}
		if err := w.containerStartable(g); err != nil {
			return pause{}, err
		}
		return pause{d: 500 * time.Millisecond, main: true}, nil
	}, func() (pause, error) {
		if g := w.guests[vmid]; g != nil && !g.Running {
			w.power(g, true)
		}
		return pause{}, nil
	}}
}

// containerStartable checks what a start needs on the node: volumes and bridges.
func (w *cluster) containerStartable(g *Guest) error {
	n := w.node(g.Node)
	for _, k := range slices.Sorted(maps.Keys(g.Config)) {
		d := parseDrive(g.Config[k])
		switch {
		case isDriveKey(k) && strings.Contains(g.Config[k], "quota=1") && g.Config["unprivileged"] == "1":
			return failf("Quotas are not supported by unprivileged containers.")
		case isDriveKey(k) && mountType(d.file) == "volume" && !w.hasStorage(g.Node, d.file):
			_, err := w.checkStorage(storageOf(d.file), g.Node)
			return err
		case isDriveKey(k) && mountType(d.file) == "volume" && w.volumeOn(g.Node, d.file) == nil:
			return w.storage(storageOf(d.file)).noActive(d.file)
		case netKey.MatchString(k) && d.opts["bridge"] != "" && !w.hasBridge(n, d.opts["bridge"]):
			return failf("bridge '%s' does not exist", d.opts["bridge"])
		case netKey.MatchString(k) && d.opts["link_down"] != "1" && w.unpluggable(n, d.opts) != nil:
			return w.unpluggable(n, d.opts)
		}
	}
	return w.hook(g)
}

// hasStorage reports whether a node may use the storage of a volume.
func (w *cluster) hasStorage(node, id string) bool {
	_, err := w.checkStorage(storageOf(id), node)
	return err == nil
}

func lxcStop(c *call) (any, error) {
	if err := c.rootOnly("skiplock"); err != nil {
		return nil, err
	}
	vmid := c.vmid()
	if !c.runningContainer() {
		return nil, failf("CT %d not running", vmid)
	}
	if g := c.managedContainer(); g != nil {
		if c.flag("overrule-shutdown") {
			return nil, badParam("overrule-shutdown", "Not applicable for HA resources.")
		}
		return c.haRequest(g, "hastop", "Requesting HA stop for CT "+itoa(vmid), func() { c.w.haRequestState(g, "stopped") })
	}
	wk := &worker{lock: vmid, wait: lockWait}
	wk.steps = []step{func() (pause, error) {
		g, err := c.containerToStop(vmid, "mounted")
		if g == nil || err != nil {
			return pause{main: true}, err
		}
		return pause{d: 200 * time.Millisecond, main: true}, nil
	}, c.powerOff(vmid)}
	if c.flag("overrule-shutdown") {
		wk.before = func() { c.overrule(wk, vmid) }
	}
	return c.w.fork(c.node, "vzstop", itoa(vmid), c.who, wk), nil
}

// containerToStop returns the container that a task stops. A lock other than the given one
// refuses that.
func (c *call) containerToStop(vmid int, lock string) (*Guest, error) {
	g, err := c.w.containerOn(c.node, vmid)
	if err != nil {
		return nil, err
	}
	if err := g.locked(); err != nil && !c.flag("skiplock") && (lock == "" || g.Config["lock"] != lock) {
		return nil, err
	}
	return g, nil
}

func lxcShutdown(c *call) (any, error) {
	vmid := c.vmid()
	if !c.runningContainer() {
		return nil, failf("CT %d not running", vmid)
	}
	if g := c.managedContainer(); g != nil {
		return c.haRequest(g, "hastop", "Requesting HA stop for CT "+itoa(vmid), func() { c.w.haRequestState(g, "stopped") })
	}
	wk := &worker{lock: vmid, wait: lockWait, cancel: "received interrupt"}
	wk.steps = []step{func() (pause, error) {
		_, err := c.containerToStop(vmid, "")
		return pause{}, err
	}}
	wk.steps = append(wk.steps, c.containerStops(wk, vmid, c.flag("forceStop"))...)
	return c.w.fork(c.node, "vzshutdown", itoa(vmid), c.who, wk), nil
}

// containerStops asks a container to stop. One that does not is killed after the time limit. Without kill,
// it is waited for once more. Source: vm_stop of PVE::LXC.
func (c *call) containerStops(wk *worker, vmid int, kill bool) []step {
	limit := lxcTimeout
	if c.has("timeout") {
		limit = time.Duration(atoi(c.p["timeout"])) * time.Second
	}
	deaf := func() bool { g := c.w.guests[vmid]; return g != nil && g.Running && g.Agent.Mode == "deaf" }
	return []step{func() (pause, error) {
		if deaf() {
			return pause{d: limit, main: true}, nil
		}
		return pause{d: time.Second, main: true}, nil
	}, func() (pause, error) {
		if kill || !deaf() {
			return pause{}, nil
		}
		wk.logf("command 'lxc-stop -n %d --nokill --timeout %d' failed: exit code 1", vmid, int(limit.Seconds()))
		return pause{d: limit, main: true}, nil
	}, func() (pause, error) {
		if kill || !deaf() {
			return pause{}, nil
		}
		return pause{}, failf("container did not stop")
	}, c.powerOff(vmid)}
}

// lxcReboot stops a container, one that does not stop in time by force, and starts it in the same task.
func lxcReboot(c *call) (any, error) {
	vmid, node := c.vmid(), c.node
	if !c.runningContainer() {
		return nil, failf("VM %d not running", vmid)
	}
	wk := &worker{lock: vmid, wait: lockWait, cancel: "received interrupt"}
	wk.steps = append(c.containerStops(wk, vmid, true), c.w.startContainer(vmid, node, true)...)
	return c.w.fork(node, "vzreboot", itoa(vmid), c.who, wk), nil
}

// checkpoint is the task of a suspend or a resume, which needs a program that Proxmox VE does not
// have.
func (c *call) checkpoint(kind, action string) (any, error) {
	vmid := c.vmid()
	wk := &worker{lock: vmid, wait: lockWait}
	wk.steps = []step{func() (pause, error) {
		g, err := c.w.containerOn(c.node, vmid)
		if err != nil {
			return pause{}, err
		}
		if err := g.locked(); err != nil && kind == "vzsuspend" {
			return pause{}, err
		}
		wk.logf("lxc-checkpoint: %d: ../src/lxc/criu.c: criu_version_ok: 767 No such file or directory - "+
			"execing criu failed, is it installed?", vmid)
		wk.logf("lxc-checkpoint: %d: ../src/lxc/tools/lxc_checkpoint.c: checkpoint: 182 Checkpointing %d failed", vmid, vmid)
		return pause{}, fmt.Errorf("command 'lxc-checkpoint -n %d %s -D /var/lib/vz/dump' failed: exit code 1", vmid, action)
	}}
	return c.w.fork(c.node, kind, itoa(vmid), c.who, wk), nil
}

func lxcSuspend(c *call) (any, error) {
	if !c.runningContainer() {
		return nil, failf("CT %d not running", c.vmid())
	}
	return c.checkpoint("vzsuspend", "-s")
}

func lxcResume(c *call) (any, error) {
	if c.runningContainer() {
		return nil, failf("CT %d already running", c.vmid())
	}
	return c.checkpoint("vzresume", "-r --foreground")
}

// lxcDestroy removes a container with its volumes. One that runs is stopped first, with force.
func lxcDestroy(c *call) (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	vmid, node, purge := g.VMID, g.Node, c.flag("purge")
	if err := c.mayDestroyContainer(g); err != nil {
		return nil, err
	}
	wk := &worker{lock: vmid, wait: lockWait}
	wk.steps = []step{func() (pause, error) {
		g, err := c.w.containerOn(node, vmid)
		if err != nil {
			return pause{}, err
		}
		if err := c.mayDestroyContainer(g); err != nil {
			return pause{}, err
		}
		if g.Running {
			wk.logf("forced to stop CT %d before destroying!", vmid)
			c.w.power(g, false)
		}
		return pause{d: 150 * time.Millisecond, main: true}, c.w.basesFree(g)
	}, func() (pause, error) {
		if g := c.w.guests[vmid]; g != nil {
			c.w.destroyDisks(wk, g)
			if c.flag("destroy-unreferenced-disks") {
				c.w.destroyOthers(wk, g)
			}
		}
		return pause{}, nil
	}}
	wk.last = func() error {
		if g := c.w.guests[vmid]; g != nil {
			return c.w.destroyConfig(wk, g, purge)
		}
		return nil
	}
	return c.w.fork(node, "vzdestroy", itoa(vmid), c.who, wk), nil
}

func (c *call) mayDestroyContainer(g *Guest) error {
	if err := g.protected("can't remove CT " + itoa(g.VMID)); err != nil {
		return err
	}
	if err := g.locked(); err != nil {
		return err
	}
	if c.w.haEntry(g) != nil && !c.flag("purge") {
		return failf("unable to remove CT %d - used in HA resources and purge parameter not set.", g.VMID)
	}
	if g.Running && !c.flag("force") {
		return failf("unable to destroy CT %d - container is running", g.VMID)
	}
	return nil
}

// destroyOthers adds a step for each volume of a guest that its configuration does not have.
func (w *cluster) destroyOthers(wk *worker, g *Guest) {
	for _, v := range w.seed.Volumes {
		if v.Content == "images" && v.VMID == g.VMID && (v.Node == "" || v.Node == g.Node) && !attached(g.Config, v.ID) {
			wk.steps = append(wk.steps, w.destroyDisk(wk, g, v.ID, storageLockTries))
		}
	}
}
