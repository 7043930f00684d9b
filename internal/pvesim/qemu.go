package pvesim

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

func qemuHandlers() map[string]handler {
	const vm = "/nodes/{node}/qemu/{vmid}"
	return map[string]handler{
		"GET /nodes/{node}/qemu":                       qemuList,
		"POST /nodes/{node}/qemu":                      qemuCreate,
		"DELETE " + vm:                                 qemuDestroy,
		"GET " + vm + "/status/current":                qemuStatus,
		"GET " + vm + "/config":                        qemuConfig,
		"PUT " + vm + "/config":                        func(c *call) (any, error) { return qemuUpdate(c, true) },
		"POST " + vm + "/config":                       func(c *call) (any, error) { return qemuUpdate(c, false) },
		"GET " + vm + "/pending":                       qemuPending,
		"GET " + vm + "/cloudinit":                     qemuCloudinit,
		"PUT " + vm + "/cloudinit":                     qemuCloudinitRegenerate,
		"GET " + vm + "/cloudinit/dump":                qemuCloudinitDump,
		"GET " + vm + "/feature":                       qemuFeature,
		"POST " + vm + "/clone":                        qemuClone,
		"PUT " + vm + "/resize":                        qemuResize,
		"PUT " + vm + "/unlink":                        qemuUnlink,
		"POST " + vm + "/move_disk":                    qemuMoveDisk,
		"PUT " + vm + "/move_disk":                     qemuMoveDisk,
		"POST " + vm + "/template":                     qemuTemplate,
		"GET " + vm + "/migrate":                       qemuMigrateCheck,
		"POST " + vm + "/migrate":                      qemuMigrate,
		"POST " + vm + "/status/start":                 qemuStart,
		"POST " + vm + "/status/stop":                  qemuStop,
		"POST " + vm + "/status/shutdown":              qemuShutdown,
		"POST " + vm + "/status/reboot":                qemuReboot,
		"POST " + vm + "/status/reset":                 qemuReset,
		"POST " + vm + "/status/suspend":               qemuSuspend,
		"POST " + vm + "/status/resume":                qemuResume,
		"POST " + vm + "/vncproxy":                     qemuVNC,
		"POST " + vm + "/termproxy":                    qemuTerminal,
		"POST " + vm + "/spiceproxy":                   qemuSpice,
		"GET " + vm + "/vncwebsocket":                  consoleSocket,
		"GET " + vm + "/snapshot":                      snapshotList,
		"POST " + vm + "/snapshot":                     snapshotCreate,
		"GET " + vm + "/snapshot/{snapname}":           index("cmd", "rollback", "config"),
		"DELETE " + vm + "/snapshot/{snapname}":        snapshotDelete,
		"GET " + vm + "/snapshot/{snapname}/config":    snapshotConfig,
		"PUT " + vm + "/snapshot/{snapname}/config":    snapshotDescribe,
		"POST " + vm + "/snapshot/{snapname}/rollback": snapshotRollback,
		"POST " + vm + "/agent/ping":                   agentPing,
		"GET " + vm + "/agent/network-get-interfaces":  agentInterfaces,
		"GET " + vm + "/agent/get-osinfo":              agentOSInfo,
		"GET " + vm + "/agent/get-host-name":           agentHostname,
		"GET " + vm + "/agent/info":                    agentInfo,
	}
}

// guest returns the configuration of the guest of a call, as the queried node
// sees it.
func (c *call) guest() (*Guest, error) {
	g := c.w.guests[c.vmid()]
	kind := "qemu"
	if c.container() {
		kind = "lxc"
	}
	if g == nil || g.Node != c.node || g.Type != kind {
		return nil, failf("Configuration file 'nodes/%s/%s/%d.conf' does not exist", c.node, configDir(c.container()), c.vmid())
	}
	return g, nil
}

// container reports whether a call is about a container.
func (c *call) container() bool { return strings.Contains(c.m.Path, "/lxc") }

// taskType returns the type of the task of a call: those of VMs begin with qm, those of
// containers with vz.
func (c *call) taskType(what string) string {
	if c.container() {
		return "vz" + what
	}
	return "qm" + what
}

// configPath returns the path of the configuration that describes the options of a call's
// guest.
func (c *call) configPath() string {
	if c.container() {
		return lxcConfigPath
	}
	return qemuConfigPath
}

// configDir returns the folder of a node with the configurations of VMs or containers.
func configDir(containers bool) string {
	if containers {
		return "lxc"
	}
	return "qemu-server"
}

// lockFile returns the file that a change of a guest's configuration locks.
func (w *cluster) lockFile(vmid int) string {
	if g := w.guests[vmid]; g != nil && g.container() {
		return fmt.Sprintf("/run/lock/lxc/pve-config-%d.lock", vmid)
	}
	return fmt.Sprintf("/var/lock/qemu-server/lock-%d.conf", vmid)
}

// unlockedGuest is like guest, with an error if the guest has a lock.
func (c *call) unlockedGuest() (*Guest, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	return g, g.locked()
}

// runnable is like guest, with the message of calls that look for the process
// first.
func (c *call) runnable() (*Guest, error) {
	g, err := c.guest()
	if err != nil {
		return nil, failf("unable to find configuration file for VM %d on node '%s'", c.vmid(), c.node)
	}
	return g, nil
}

// lockWait is the time for which a call waits for the file lock of a
// configuration.
const lockWait = 10 * time.Second

// fileLock waits for a guest's file lock in a call without a task.
func (c *call) fileLock(vmid int) error {
	if c.w.locks[vmid] == nil {
		return nil
	}
	return &waiting{timeout: lockWait, err: failf("can't lock file '%s' - got timeout", c.w.lockFile(vmid))}
}

// write returns an error if a configuration cannot be written because there is
// no quorum.
func (w *cluster) write(node string, vmid, pid int) error {
	if w.quorate() {
		return nil
	}
	g := w.guests[vmid]
	return failf("unable to open file '/etc/pve/nodes/%s/%s/%d.conf.tmp.%d' - Permission denied",
		node, configDir(g != nil && g.container()), vmid, pid)
}

// masked hides the value of a secret key.
func masked(k, v string) string {
	if k == "cipassword" {
		return "**********"
	}
	return v
}

// typed converts a configuration value to the JSON type in the API description.
func (s *Server) typed(path, k, v string) any {
	m := s.api.Paths[path]["PUT"]
	if k == "template" || k == "snaptime" {
		return atoi(v)
	}
	p := m.Param(k)
	if p == nil {
		return v
	}
	switch p.Type {
	case "integer", "boolean":
		if n, err := strconv.Atoi(v); err == nil {
			return n
		}
	}
	return v
}

const qemuConfigPath = "/nodes/{node}/qemu/{vmid}/config"

func qemuConfig(c *call) (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	conf := cloneMap(g.Config)
	if name := c.p["snapshot"]; name != "" {
		s := g.snapshot(name)
		if s == nil {
			return nil, failf("snapshot '%s' does not exist", name)
		}
		conf = s.section()
	} else if !c.flag("current") {
		for k := range g.Deleted {
			delete(conf, k)
		}
		for k, v := range g.Pending {
			conf[k] = v
		}
	}
	out := object{"digest": g.digest()}
	for k, v := range conf {
		out[k] = c.s.typed(c.configPath(), k, masked(k, v))
	}
	return out, nil
}

func qemuPending(c *call) (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	out := []object{{"key": "digest", "value": g.digest()}}
	keys := map[string]bool{}
	for _, m := range []map[string]string{g.Config, g.Pending, g.Deleted} {
		for k := range m {
			keys[k] = true
		}
	}
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		o := object{"key": k}
		if v, ok := g.Config[k]; ok {
			o["value"] = c.s.typed(c.configPath(), k, masked(k, v))
		}
		if v, ok := g.Pending[k]; ok {
			o["pending"] = c.s.typed(c.configPath(), k, masked(k, v))
		}
		if v, ok := g.Deleted[k]; ok {
			o["delete"] = atoi(v)
		}
		out = append(out, o)
	}
	return out, nil
}

func qemuFeature(c *call) (any, error) {
	g, err := c.runnable()
	if err != nil {
		return nil, err
	}
	conf := g.Config
	if name := c.p["snapname"]; name != "" {
		s := g.snapshot(name)
		if s == nil {
			return nil, failf("snapshot '%s' does not exist", name)
		}
		conf = s.Config
	}
	has, shared := true, true
	for k, v := range conf {
		if !isDriveKey(k) || parseDrive(v).cdrom() {
			continue
		}
		s := c.w.storage(storageOf(parseDrive(v).file))
		if s == nil {
			continue
		}
		has = has && s.feature(c.p["feature"], parseDrive(v).file)
		shared = shared && s.Shared
	}
	nodes := []string{g.Node}
	if has && shared {
		nodes = nil
		for _, n := range c.w.nodes {
			nodes = append(nodes, n.Name)
		}
	}
	return object{"hasFeature": flag(has), "nodes": nodes}, nil
}

func configFile(node string, vmid int) string {
	return fmt.Sprintf("/etc/pve/nodes/%s/qemu-server/%d.conf", node, vmid)
}
