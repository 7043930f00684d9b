package pvesim

import (
	"maps"
	"slices"
	"strings"
	"time"
)

func qemuStart(c *call) (any, error) {
	if err := c.rootOnly("stateuri", "skiplock", "migratedfrom", "migration_type", "migration_network", "targetstorage",
		"force-cpu", "nets-host-mtu"); err != nil {
		return nil, err
	}
	if err := c.w.checkQuorum(); err != nil {
		return nil, err
	}
	if g := c.w.guests[c.vmid()]; g != nil && c.w.haManaged(g) {
		return c.haRequest(g, "hastart", "Requesting HA start for VM "+itoa(g.VMID), func() { c.w.haRequestState(g, "started") })
	}
	vmid, node := c.vmid(), c.node
	wk := &worker{lock: vmid, wait: lockWait}
	wk.steps = c.w.startSteps(wk, vmid, node)
	return c.w.fork(node, "qmstart", itoa(vmid), c.who, wk), nil
}

// rootOnly refuses parameters of which only root@pam may use another value than 0,
// and none of its tokens.
func (c *call) rootOnly(names ...string) error {
	for _, n := range names {
		if v := c.p[n]; v != "" && v != "0" && !c.root() {
			return badParam(n, "Only root may use this option.")
		}
	}
	return nil
}

func (w *cluster) startWorker(g *Guest) *worker {
	wk := &worker{lock: g.VMID, wait: lockWait}
	if g.container() {
		wk.steps = w.startContainer(g.VMID, g.Node, false)
	} else {
		wk.steps = w.startSteps(wk, g.VMID, g.Node)
	}
	return wk
}

func (w *cluster) startSteps(wk *worker, vmid int, node string) []step {
	return []step{func() (pause, error) {
		g, err := w.guestOn(node, vmid)
		if err != nil {
			return pause{}, err
		}
		if g.template() {
			return pause{}, failf("you can't start a vm if it's a template")
		}
		if g.Config["lock"] == "backup" && g.Running { // continues a guest that the backup keeps
			g.Paused = false
			return pause{main: true}, nil
		}
		if err := g.locked(); err != nil && !g.hibernated() {
			return pause{}, err
		}
		if g.Running {
			return pause{}, failf("VM %d already running", vmid)
		}
		if err := w.startable(g); err != nil {
			return pause{}, err
		}
		g.logCloudinit(wk)
		return pause{d: 100 * time.Millisecond, main: true}, nil
	}, func() (pause, error) {
		if g := w.guests[vmid]; g != nil && !g.Running {
			w.wake(wk, g)
			w.power(g, true)
		}
		return pause{d: w.seed.Starting}, nil
	}}
}

// guestOn returns the guest whose configuration a node has.
func (w *cluster) guestOn(node string, vmid int) (*Guest, error) {
	if g := w.guests[vmid]; g != nil && g.Node == node {
		return g, nil
	}
	return nil, failf("Configuration file 'nodes/%s/qemu-server/%d.conf' does not exist", node, vmid)
}

// logCloudinit logs that a start writes the cloud-init drive.
func (g *Guest) logCloudinit(wk *worker) {
	if g.cloudinit() {
		wk.log("generating cloud-init ISO")
	}
}

// startable checks what a start needs on the node: CPUs, memory, volumes, mappings
// and bridges.
func (w *cluster) startable(g *Guest) error {
	if err := w.fits(g, w.node(g.Node)); err != nil {
		return err
	}
	if err := g.arguments(); err != nil {
		return err
	}
	if g.Config["bios"] == "ovmf" {
		if err := w.firmware(g.Node, g.Config["efidisk0"], g.Config); err != nil {
			return err
		}
	}
	for _, k := range slices.Sorted(maps.Keys(g.Config)) {
		v := g.Config[k]
		if err := w.noMapping(g.Node, k, v); err != nil {
			return err
		}
		if d := parseDrive(v); isDriveKey(k) && strings.Contains(d.file, ":") {
			if err := w.usable(g.Node, d.file); err != nil {
				return err
			}
		}
	}
	if err := w.cloudFiles(g); err != nil {
		return err
	}
	return w.hook(g)
}

// usable checks that a node can use a volume: that it can activate it, and that its storage takes what it is.
func (w *cluster) usable(node, id string) error {
	s, err := w.checkStorage(storageOf(id), node)
	switch {
	case err != nil:
		return err
	case s.offline(node):
		return failf("storage '%s' is not online", s.ID)
	case w.volumeOn(node, id) == nil:
		return s.noActive(id)
	}
	content := "images"
	if strings.Contains(id, ":iso/") {
		content = "iso"
	}
	if !s.allowsContent(content) {
		return failf("storage '%s' does not support content-type '%s'", s.ID, content)
	}
	return nil
}

// fits checks what a start needs of a node, which may be the target of a migration.
func (w *cluster) fits(g *Guest, n *Node) error {
	if g.vcpus() > n.CPUs {
		return failf("MAX %d vcpus allowed per VM on this node", n.CPUs)
	}
	if err := n.runs(g); err != nil {
		return err
	}
	if g.maxMemory() > int64(n.Memory) {
		return failf("start failed: QEMU exited with code 1") // cannot set up guest memory 'pc.ram': Cannot allocate memory
	}
	for _, k := range slices.Sorted(maps.Keys(g.Config)) {
		if !netKey.MatchString(k) {
			continue
		}
		nic := parseNet(g.Config[k])
		if b := nic["bridge"]; b != "" && !w.hasBridge(n, b) {
			return failf("bridge '%s' does not exist", b)
		}
		if w.unpluggable(n, nic) != nil {
			return qemuExits() // network script /usr/libexec/qemu-server/pve-bridge failed with status 6400
		}
	}
	return nil
}

// power starts or stops a guest. Both apply its pending changes, and a start
// generates its cloud-init drive.
func (w *cluster) power(g *Guest, on bool) {
	_ = w.coldplug(g) // what cannot be applied stays pending
	g.Running, g.Paused, g.prelaunch, g.pid, g.Started = on, false, false, 0, time.Time{}
	g.leases = nil
	if on {
		g.Started, g.pid, g.CloudInit = w.now, w.pid(), nil
	}
}

// runningGuest returns the guest that a task stops, or nil if it is stopped already.
func (c *call) runningGuest(vmid int, node string) (*Guest, error) {
	g := c.w.guests[vmid]
	if g == nil || g.Node != node {
		return nil, failf("unable to find configuration file for VM %d on node '%s'", vmid, node)
	}
	if !g.Running {
		return nil, nil
	}
	if err := g.locked(); err != nil && !c.flag("skiplock") {
		return nil, err
	}
	return g, nil
}

// powerOff is the step that stops a guest if it is still running.
func (c *call) powerOff(vmid int) step {
	return func() (pause, error) {
		if g := c.w.guests[vmid]; g != nil && g.Running {
			c.w.power(g, false)
			c.w.ended(g)
		}
		return pause{}, nil
	}
}

func qemuStop(c *call) (any, error) {
	if err := c.rootOnly("skiplock", "keepActive", "migratedfrom"); err != nil {
		return nil, err
	}
	vmid, node := c.vmid(), c.node
	if g := c.w.guests[vmid]; g != nil && c.w.haManaged(g) {
		if c.flag("overrule-shutdown") {
			return nil, badParam("overrule-shutdown", "Not applicable for HA resources.")
		}
		return c.haRequest(g, "hastop", "Requesting HA stop for VM "+itoa(vmid), func() { c.w.haRequestState(g, "stopped") })
	}
	wk := &worker{lock: vmid, wait: lockWait}
	wk.steps = []step{func() (pause, error) {
		g, err := c.runningGuest(vmid, node)
		if g == nil || err != nil {
			return pause{main: true}, err
		}
		return pause{d: 200 * time.Millisecond, main: true}, nil
	}, c.powerOff(vmid)}
	if c.flag("overrule-shutdown") {
		wk.before = func() { c.overrule(wk, vmid) }
	}
	return c.w.fork(node, "qmstop", itoa(vmid), c.who, wk), nil
}

// simplePower is a worker that changes a running guest in one step.
func (c *call) simplePower(kind string, do func(*Guest)) (any, error) {
	if err := c.rootOnly("skiplock", "nocheck"); err != nil {
		return nil, err
	}
	g, err := c.runnable()
	if err != nil {
		return nil, err
	}
	vmid := g.VMID
	if !g.Running {
		return nil, failf("VM %d not running", vmid)
	}
	wk := &worker{lock: vmid, wait: lockWait}
	wk.steps = []step{func() (pause, error) {
		backup := g.Config["lock"] == "backup" && kind != "qmreset" // which pauses and resumes guests itself
		done := kind == "qmresume" && !g.Paused
		if err := g.locked(); err != nil && !backup && !done && !c.flag("skiplock") {
			return pause{}, err
		}
		do(g)
		return pause{d: 100 * time.Millisecond, main: true}, nil
	}}
	return c.w.fork(c.node, kind, itoa(vmid), c.who, wk), nil
}

func qemuReset(c *call) (any, error) {
	return c.simplePower("qmreset", func(g *Guest) { g.prelaunch = g.Paused })
}
