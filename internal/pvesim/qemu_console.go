package pvesim

import "time"

// consoleWait is the time for which a console waits for a browser to connect.
const consoleWait = 10 * time.Second

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
