package pvesim

import (
	"cmp"
	"fmt"
	"maps"
	"strings"
	"time"
)

func qemuList(c *call) (any, error) {
	out := []object{}
	for _, id := range c.w.vmids() {
		g := c.w.guests[id]
		if g.Node != c.node || g.Type != "qemu" || !c.w.allowed(c.who, "/vms/"+itoa(id), "VM.Audit") {
			continue
		}
		o := c.w.guestStatus(g)
		if c.flag("full") {
			o["qmpstatus"] = g.qmpStatus()
		}
		out = append(out, o)
	}
	return out, nil
}

// qmpStatus returns the state of a guest's emulator.
func (g *Guest) qmpStatus() string {
	if g.Running && g.Paused {
		if g.prelaunch {
			return "prelaunch"
		}
		return "paused"
	}
	return g.status()
}

// guestStatus returns the status that a node reports for its own guest, without
// lag.
func (w *cluster) guestStatus(g *Guest) object {
	out := object{"vmid": g.VMID, "name": g.name(), "status": g.status(), "cpu": 0, "cpus": w.cpus(g), "disk": 0,
		"maxdisk": w.bootDiskSize(g), "maxmem": g.maxMemory(), "mem": 0, "netin": 0, "netout": 0, "uptime": 0}
	if g.Type == "qemu" && w.seed.Version == "9" {
		out["memhost"] = 0
	}
	for _, k := range []string{"tags", "lock"} {
		if v := g.Config[k]; v != "" {
			out[k] = v
		}
	}
	if g.template() {
		out["template"] = 1
	}
	if g.Type == "qemu" && g.serial() {
		out["serial"] = 1
	}
	if b := atoi(g.Config["balloon"]); b > 0 {
		out["balloon_min"], out["shares"] = int64(b)*mib, 1000
		if s, ok := g.Config["shares"]; ok {
			out["shares"] = atoi(s)
		}
	}
	if g.Running {
		out["pid"], out["mem"], out["cpu"] = g.pid, g.memory(), g.Usage
		out["uptime"] = int64(w.now.Sub(g.Started) / time.Second)
	}
	return out
}

func qemuStatus(c *call) (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	out := c.w.guestStatus(g)
	out["qmpstatus"] = g.qmpStatus()
	if g.agentEnabled() {
		out["agent"] = 1
	}
	if v, ok := g.Config["vga"]; ok {
		vga := parseDrive(v)
		kind := cmp.Or(vga.opts["type"], vga.file)
		if strings.HasPrefix(kind, "qxl") || strings.HasPrefix(kind, "virtio") {
			out["spice"] = 1
		}
		out["clipboard"] = nil
		if b := vga.opts["clipboard"]; b != "" {
			out["clipboard"] = b
		}
	}
	if nics := c.w.nicStatus(g); len(nics) > 0 {
		out["nics"] = nics
	}
	maps.Copy(out, c.w.emulatorStatus(g))
	out["ha"] = c.w.haStatus(g)
	return out, nil
}

// nicStatus returns the traffic of a running guest by host device. Without
// bridges a guest has no such devices.
func (w *cluster) nicStatus(g *Guest) object {
	out := object{}
	if n := w.node(g.Node); !g.Running || n == nil || len(n.Bridges) == 0 {
		return out
	}
	for k := range g.Config {
		if netKey.MatchString(k) {
			out[fmt.Sprintf("tap%di%s", g.VMID, strings.TrimPrefix(k, "net"))] = object{"netin": 0, "netout": 0}
		}
	}
	return out
}
