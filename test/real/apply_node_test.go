//go:build unix

package real

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"stackgen/internal/pvesim"
)

// nodeSpec has VMs on three nodes. All but d are cloned from a template on pve2.
const nodeSpec = `apiVersion: stackgen/v1
kind: Stack
name: live
vmids: 310-399
defaults: {template: {vmid: 9000, node: pve2}, serial: socket}
vms:
  a: {node: pve2}
  b: {node: pve2}
  c: {node: pve1}
  d: {node: pve1, template: {vmid: 9010, node: pve1}}
`

// A safeBuffer is written by a process while a test reads it.
type safeBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

// nodeProject is a project of nodeSpec with a slow cluster.
func nodeProject(t *testing.T) (*project, *pvesim.Server) {
	t.Helper()
	p := newProject(t, map[string]string{"specs/live.yaml": nodeSpec})
	seed, err := pvesim.DefaultSeed()
	check(t, err)
	for _, g := range seed.Guests {
		if g.VMID == 9000 {
			g.Node = "pve2"
		}
	}
	sim, err := pvesim.New(pvesim.Options{Seed: seed, NoAuthDelay: true, Durations: func(kind string, _ int) (time.Duration, bool) {
		return 20 * time.Second, kind == "qmclone"
	}})
	check(t, err)
	check(t, sim.Start("127.0.0.1:0"))
	t.Cleanup(func() { check(t, sim.Close()) })
	p.tools = p.tools.With(sim.Env()...)
	p.render()
	return p, sim
}

// TestApplyNodeDown lets a node die while VMs are cloned on it, or its API alone. The run says
// at once which node it is and who waits for it, preflight says the same, and the same command
// completes the VMs when the node is back.
func TestApplyNodeDown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		state           pvesim.NodeState
		waits, why, not string
		next            string
	}{
		{pvesim.NodeLost, "node pve2 is offline: 3 VMs wait for it: a, b and c; VMs of other nodes go on", "node pve2 is offline", "systemctl", "pvecm status"},
		{pvesim.NodeDown, "", "node pve2 is online, but its API does not answer", "pvecm", "systemctl restart pvedaemon pveproxy"},
	} {
		t.Run(string(c.state), func(t *testing.T) {
			t.Parallel()
			p, sim := nodeProject(t)
			got := p.applyWithout(sim, c.state)
			p.contains(got, c.waits, "d: ready after", "1 of 4 VMs done, 3 failed", "3 VMs were created, but not completed: "+c.why, c.next)
			for _, wrong := range []string{"node pve1 ", "the cluster is slow", c.not} {
				if strings.Contains(got, wrong) {
					t.Errorf("the apply says %q:\n%s", wrong, got)
				}
			}
			got = p.deployed(3, "preflight", c.why, c.next, "managed live/d", "1 managed, 1 adopt, 2 unknown")
			if strings.Contains(got, c.not) {
				t.Errorf("preflight says %q:\n%s", c.not, got)
			}
			check(t, sim.SetNode("pve2", pvesim.NodeOnline))
			time.Sleep(10 * time.Second) // until the other nodes have seen it
			p.deployed(0, "apply --yes", "live is as its spec says")
			p.complete(sim, 310, 311, 312, 313)
		})
	}
}

// applyWithout applies, and changes the state of pve2 when a VM is cloned on it. It returns what
// was printed.
func (p *project) applyWithout(sim *pvesim.Server, state pvesim.NodeState) string {
	p.Helper()
	c := p.command("apply --yes")
	out := &safeBuffer{}
	c.Stdout, c.Stderr = out, out
	check(p.T, c.Start())
	for end := time.Now().Add(2 * time.Minute); !strings.Contains(out.String(), "a: cloning"); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			p.Fatalf("no clone has begun:\n%s", out.String())
		}
	}
	time.Sleep(time.Second)
	check(p.T, sim.SetNode("pve2", state))
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != 1 {
		p.Errorf("exit %d", code)
	}
	return out.String()
}
