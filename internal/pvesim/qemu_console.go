package pvesim

import (
	"encoding/pem"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// consoleWait is the time for which a console waits for a browser to connect.
const consoleWait = 10 * time.Second

// noConsoleDelay is the time for which the server waits for the port of a console.
const noConsoleDelay = 5 * time.Second

// The first port of a console, and for how many seconds a port stays reserved.
const (
	firstConsolePort  = 5900
	consolePortExpiry = 5
)

// console is an open console.
type console struct {
	port int
	at   int64 // when its port was reserved
	wk   *worker
}

// qemuTerminal starts the task of a terminal.
func qemuTerminal(c *call) (any, error) {
	if _, err := c.guest(); err != nil {
		return nil, err
	}
	return c.openConsole("/vms/"+itoa(c.vmid()), true)
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
	return c.spice("VM "+itoa(g.VMID), itoa(g.VMID)), nil
}

func (c *call) spice(title, id string) object {
	return object{"type": "spice", "host": "pvespiceproxy:65900000:" + id + ":" + c.node + "::simulated",
		"proxy": "http://" + c.node + ":3128", "title": title, "tls-port": 61000, "password": "simulated", "delete-this-file": 1,
		"secure-attention": "Ctrl+Alt+Ins", "toggle-fullscreen": "Shift+F11", "release-cursor": "Ctrl+Alt+R"}
}

var serialDisplay = regexp.MustCompile(`^(type=)?serial\d`)

// qemuVNC starts the task of a noVNC console, of a guest that runs or not. It runs as
// long as the console is open; Options.Durations says how long that is. It takes no
// lock.
func qemuVNC(c *call) (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	text := serialDisplay.MatchString(g.Config["vga"])
	return c.vnc("/vms/"+itoa(g.VMID), text, !text || c.flag("generate-password") || c.flag("websocket"))
}

// lxcVNC is qemuVNC of a container.
func lxcVNC(c *call) (any, error) {
	if _, err := c.guest(); err != nil {
		return nil, err
	}
	return c.vnc("/vms/"+itoa(c.vmid()), true, c.flag("websocket"))
}

func lxcSpice(c *call) (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	if !g.Running {
		return nil, failf("CT %d not running", g.VMID)
	}
	if c.w.node(c.node).NoConsole {
		e := failf("Timeout while waiting for port '61000' to get ready!")
		e.delay = noConsoleDelay
		return nil, e
	}
	return c.spice("CT "+itoa(g.VMID), itoa(g.VMID)), nil
}

// nodeShell starts the task of a shell on a node.
func nodeShell(kind string) handler {
	return func(c *call) (any, error) {
		if kind == "vncshell" {
			return c.vnc("/nodes/"+c.node, true, c.flag("websocket"))
		}
		return c.openConsole("/nodes/"+c.node, true)
	}
}

// vnc opens a console for a VNC client. It can have a password beside its ticket.
func (c *call) vnc(path string, text, password bool) (any, error) {
	out, err := c.openConsole(path, text)
	if err != nil {
		return nil, err
	}
	if password {
		out["password"] = "simulate"
		out["ticket"] = fmt.Sprint("simulate:", out["ticket"])
	}
	for _, x := range c.w.certificates[c.node] {
		if x.file == "pve-root-ca.pem" {
			out["cert"] = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: x.cert.Raw}))
		}
	}
	return out, nil
}

// openConsole reserves a port and starts the task of a console.
func (c *call) openConsole(path string, text bool) (object, error) {
	port := c.w.consolePort()
	wk := &worker{}
	wk.steps = []step{func() (pause, error) {
		return pause{d: consoleWait, main: true}, nil
	}, func() (pause, error) {
		if !wk.hinted {
			return pause{}, failf("connection timed out")
		}
		return pause{}, nil
	}}
	if text && c.w.node(c.node).NoConsole {
		wk.killed = true
		c.w.consoles = append(c.w.consoles, console{port: port, at: c.w.now.Unix(), wk: wk})
		e := failf("Timeout while waiting for port '%d' to get ready!", port)
		e.delay = noConsoleDelay
		return nil, e
	}
	kind := "vncshell"
	if c.has("vmid") {
		kind = "vncproxy"
	}
	out := object{"user": c.who.String(), "port": itoa(port), "ticket": vncTicket(path, port),
		"upid": c.w.fork(c.node, kind, c.p["vmid"], c.who, wk)}
	c.w.consoles = append(c.w.consoles, console{port: port, at: c.w.now.Unix(), wk: wk})
	return out, nil
}

func vncTicket(path string, port int) string {
	return fmt.Sprintf("PVEVNC:65900000:%s:%d::simulated", path, port)
}

// consolePort returns the first port that is neither reserved nor in use.
func (w *cluster) consolePort() int {
	kept := w.consoles[:0]
	used := map[int]bool{}
	for _, x := range w.consoles {
		if reserved := x.at+consolePortExpiry > w.now.Unix(); reserved || !x.wk.killed {
			kept = append(kept, x)
			used[x.port] = true
		}
	}
	w.consoles = kept
	for port := firstConsolePort; ; port++ {
		if !used[port] {
			return port
		}
	}
}

// consoleSocket checks the ticket with which a browser connects to a console.
func consoleSocket(c *call) (any, error) {
	ticket := c.p["vncticket"]
	if i := strings.Index(ticket, "PVEVNC:"); i >= 0 {
		ticket = ticket[i:]
	}
	if ticket != vncTicket("/vms/"+c.p["vmid"], atoi(c.p["port"])) {
		return nil, &apiError{status: 401, msg: "permission denied - invalid PVEVNC ticket", delay: unauthorizedDelay}
	}
	if _, err := c.guest(); err != nil {
		return nil, err
	}
	return object{"port": c.p["port"]}, nil
}
