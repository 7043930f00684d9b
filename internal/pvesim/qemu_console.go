package pvesim

import (
	"strings"
	"time"
)

// consoleWait is the time for which a console waits for a browser to connect.
const consoleWait = 10 * time.Second

// qemuTerminal starts the task of a serial console, which guests without a serial
// port do not have.
func qemuTerminal(c *call) (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	if !g.serial() {
		return nil, failf("unable to find a serial interface")
	}
	return c.console(g)
}

// qemuSpice returns the address of a SPICE console, which has no task.
func qemuSpice(c *call) (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	if !g.Running {
		return nil, failf("VM %d not running", g.VMID)
	}
	if !strings.Contains(g.Config["vga"], "qxl") && !strings.Contains(g.Config["vga"], "virtio") {
		return nil, failf("no spice port")
	}
	return object{"type": "spice", "host": "pvespiceproxy:65900000:" + itoa(g.VMID) + ":" + g.Node + "::simulated", "proxy": "http://" + g.Node + ":3128",
		"title": "VM " + itoa(g.VMID), "tls-port": 61000, "password": "simulated", "delete-this-file": 1, "secure-attention": "Ctrl+Alt+Ins",
		"toggle-fullscreen": "Shift+F11", "release-cursor": "Ctrl+Alt+R"}, nil
}

// qemuVNC starts the task of a noVNC console. It runs as long as the console is
// open; Options.Durations says how long that is. It takes no lock.
func qemuVNC(c *call) (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	if !g.Running {
		return nil, failf("VM %d not running", g.VMID)
	}
	return c.console(g)
}

func (c *call) console(g *Guest) (any, error) {
	wk := &worker{}
	wk.steps = []step{func() (pause, error) {
		return pause{d: consoleWait, main: true}, nil
	}, func() (pause, error) {
		if !wk.hinted {
			return pause{}, failf("connection timed out")
		}
		return pause{}, nil
	}}
	upid := c.w.fork(g.Node, "vncproxy", itoa(g.VMID), c.who, wk)
	return object{"user": c.who.String(), "ticket": "PVEVNC:65900000::simulated", "port": "5900", "upid": upid, "cert": ""}, nil
}
