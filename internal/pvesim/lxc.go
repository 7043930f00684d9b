package pvesim

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"stackgen/internal/pvesim/schema"
)

func lxcHandlers() map[string]handler {
	const ct = "/nodes/{node}/lxc/{vmid}"
	return map[string]handler{
		"GET /nodes/{node}/lxc":           lxcList,
		"POST /nodes/{node}/lxc":          lxcCreate,
		"DELETE " + ct:                    lxcDestroy,
		"GET " + ct + "/config":           lxcConfig,
		"PUT " + ct + "/config":           lxcUpdate,
		"GET " + ct + "/status/current":   lxcStatus,
		"GET " + ct + "/interfaces":       lxcInterfaces,
		"POST " + ct + "/vncproxy":        lxcVNC,
		"POST " + ct + "/termproxy":       qemuTerminal,
		"POST " + ct + "/spiceproxy":      lxcSpice,
		"GET " + ct + "/vncwebsocket":     consoleSocket,
		"POST " + ct + "/status/start":    lxcPower("vzstart", true),
		"POST " + ct + "/status/stop":     lxcPower("vzstop", false),
		"POST " + ct + "/status/shutdown": lxcPower("vzshutdown", false),
	}
}

const lxcConfigPath = "/nodes/{node}/lxc/{vmid}/config"

func lxcList(c *call) (any, error) {
	out := []object{}
	for _, id := range c.w.vmids() {
		g := c.w.guests[id]
		if g.Node == c.node && g.Type == "lxc" && c.w.allowed(c.who, "/vms/"+itoa(id), "VM.Audit") {
			out = append(out, c.w.lxcFigures(g))
		}
	}
	return out, nil
}

func (w *cluster) lxcFigures(g *Guest) object {
	out := w.guestStatus(g)
	swap := int64(512) * mib
	if v, ok := g.Config["swap"]; ok {
		swap = int64(atoi(v)) * mib
	}
	out["type"], out["swap"], out["maxswap"], out["diskread"], out["diskwrite"] = "lxc", 0, swap, 0, 0
	return out
}

func lxcStatus(c *call) (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	out := c.w.lxcFigures(g)
	out["ha"] = c.w.haStatus(g)
	return out, nil
}

func lxcConfig(c *call) (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	out := object{"digest": g.digest()}
	for k, v := range g.Config {
		out[k] = c.s.typed(lxcConfigPath, k, v)
	}
	return out, nil
}

func lxcInterfaces(c *call) (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	if !g.Running {
		return []object{}, nil
	}
	out := []object{{"name": "lo", "hwaddr": "00:00:00:00:00:00", "inet": "127.0.0.1/8", "inet6": "::1/128"}}
	for _, k := range slices.Sorted(maps.Keys(g.Config)) {
		if netKey.MatchString(k) {
			n := parseDrive(g.Config[k]).opts
			o := object{"name": n["name"], "hwaddr": n["hwaddr"]}
			if n["ip"] != "" && n["ip"] != "dhcp" && n["ip"] != "manual" {
				o["inet"] = n["ip"]
			}
			out = append(out, o)
		}
	}
	return out, nil
}

func lxcCreate(c *call) (any, error) {
	vmid, pool := c.vmid(), c.p["pool"]
	if !c.mayAllocate(vmid, pool) {
		return nil, denied("")
	}
	if old, taken := c.w.guests[vmid]; taken {
		return nil, failf("VM %d already exists on node '%s'", vmid, old.Node)
	}
	if err := c.w.checkQuorum(); err != nil {
		return nil, err
	}
	if c.w.volumeOn(c.node, c.p["ostemplate"]) == nil {
		return nil, failf("volume '%s' does not exist", c.p["ostemplate"])
	}
	g := c.w.newGuest(vmid, c.node, "create")
	g.Type = "lxc"
	wk := &worker{undo: func() { c.w.dropGuest(g) }}
	wk.steps = []step{func() (pause, error) {
		return pause{d: 300 * time.Millisecond, main: true}, c.fillContainer(g)
	}, func() (pause, error) {
		delete(g.Config, "lock")
		if pool != "" {
			c.w.join(pool, vmid)
		}
		return pause{}, nil
	}}
	return c.w.fork(c.node, "vzcreate", itoa(vmid), c.who, wk), nil
}

func (c *call) fillContainer(g *Guest) error {
	maps.Copy(g.Config, c.configOptions("node", "vmid", "ostemplate", "pool", "storage", "password", "ssh-public-keys",
		"start", "force", "restore", "unique", "bwlimit", "ignore-unpack-errors"))
	id := cmp.Or(c.p["storage"], "local")
	size := "4"
	if d := parseDrive(c.p["rootfs"]); d.file != "" {
		id, size = storageOf(d.file), d.file[len(storageOf(d.file))+1:]
	}
	s, err := c.w.checkStorage(id, c.node)
	if err != nil {
		return err
	}
	bytes, perr := parseSize(size + "G")
	if perr != nil {
		return failf("unable to parse size '%s'", size)
	}
	v, _, err := c.w.alloc(c.node, s, g.VMID, c.w.freeDiskName(s, c.node, g.VMID), "raw", bytes)
	if err != nil {
		return err
	}
	g.Config["rootfs"] = v.ID + ",size=" + formatSize(bytes)
	for k, def := range map[string]string{"arch": "amd64", "memory": "512", "swap": "512", "ostype": "debian"} {
		if g.Config[k] == "" {
			g.Config[k] = def
		}
	}
	return nil
}

func lxcUpdate(c *call) (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	if err := c.checkDigest(g); err != nil {
		return nil, err
	}
	if err := c.w.write(g.Node, g.VMID, daemonPID); err != nil {
		return nil, err
	}
	maps.Copy(g.Config, c.configOptions("node", "vmid", "digest", "delete", "revert"))
	for _, k := range schema.SplitList(c.p["delete"]) {
		delete(g.Config, k)
	}
	return nil, nil
}

func lxcPower(kind string, on bool) handler {
	return func(c *call) (any, error) {
		g, err := c.guest()
		if err != nil {
			return nil, err
		}
		wk := &worker{steps: []step{func() (pause, error) {
			if g.Running == on {
				return pause{}, failf("CT %d already %s", g.VMID, g.status())
			}
			return pause{d: 200 * time.Millisecond, main: true}, nil
		}, func() (pause, error) {
			c.w.power(g, on)
			return pause{}, nil
		}}}
		return c.w.fork(c.node, kind, itoa(g.VMID), c.who, wk), nil
	}
}

func lxcDestroy(c *call) (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	if err := g.protected("can't remove CT " + itoa(g.VMID)); err != nil {
		return nil, err
	}
	if g.Running {
		return nil, failf("CT %d is running - destroy failed", g.VMID)
	}
	wk := &worker{steps: []step{func() (pause, error) {
		c.w.dropGuest(g)
		for _, p := range c.w.seed.Pools {
			p.remove(g.VMID)
		}
		return pause{d: 150 * time.Millisecond, main: true}, nil
	}}}
	return c.w.fork(c.node, "vzdestroy", itoa(g.VMID), c.who, wk), nil
}
