package operate

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"stackgen/guest"
	"stackgen/internal/lock"
	"stackgen/internal/power"
	"stackgen/internal/pvesim"
	"stackgen/schema"
)

// newContainers is a world with a VM, 301, and containers 302 to 30n.
func newContainers(t testing.TB, n int, edit func(*pvesim.Guest)) *world {
	t.Helper()
	key := func(vmid int) string { return fmt.Sprintf("ct%d", vmid-300) }
	mac := func(vmid int) string { return fmt.Sprintf("BC:24:11:00:04:%02X", vmid-300) }
	w := newWorld(t, 1, func(seed *pvesim.Seed) {
		for vmid := 302; vmid <= 300+n; vmid++ {
			g := &pvesim.Guest{VMID: vmid, Type: "lxc", Node: "pve1", Config: map[string]string{
				"hostname": key(vmid), "memory": "512", "swap": "512", "cores": "1", "ostype": "alpine", "arch": "amd64", "unprivileged": "1",
				"rootfs": fmt.Sprintf("local-lvm:vm-%d-disk-0,size=4G", vmid),
				"net0":   "name=eth0,bridge=vmbr0,hwaddr=" + mac(vmid) + ",ip=dhcp,type=veth"}}
			if edit != nil {
				edit(g)
			}
			seed.Guests = append(seed.Guests, g)
		}
	})
	stack, recorded := w.project.Stacks[0], &w.lock.Stacks[0].Value
	for vmid := 302; vmid <= 300+n; vmid++ {
		key, mac := key(vmid), mac(vmid)
		stack.VMs = append(stack.VMs, &schema.VM{Kind: guest.Container, Key: key, Path: "containers." + key, Name: key})
		recorded.VMs = append(recorded.VMs, lock.Entry[lock.VM]{Key: key, Value: lock.VM{Kind: guest.Container, VMID: vmid, Node: "pve1", MACs: []string{mac}}})
	}
	return w
}

// containers is a view of the containers alone.
func (w *world) containers() *View {
	v := w.view()
	v.VMs = v.VMs[1:]
	return v
}

// TestContainerLife: each action does to a container what it does to a VM, and what Proxmox VE cannot do
// is not sent.
func TestContainerLife(t *testing.T) {
	t.Parallel()
	w, ctx := newContainers(t, 2, nil), context.Background()
	for _, s := range []struct{ action, first, again string }{
		{"start", "done started", "already running"},
		{"reboot", "done rebooted", "done rebooted"},
		{"shutdown", "done shut down", "already stopped"},
		{"reboot", "refused it is stopped", "refused it is stopped"},
		{"start", "done started", "already running"},
		{"stop", "done stopped", "already stopped"},
	} {
		w.want(w.does(ctx, w.containers(), s.action), s.first)
		writes := w.sim.Counters().Writes
		w.want(w.does(ctx, w.containers(), s.action), s.again)
		if sent := w.sim.Counters().Writes - writes; sent != 0 && s.action != "reboot" {
			t.Errorf("%s again sent %d writes", s.action, sent)
		}
	}
	v := w.view()
	for _, action := range []string{"suspend", "resume"} {
		if o := v.Plan(Request{Action: power.Find(action), VMs: v.VMs})[1]; o.Result != power.Refused || !strings.Contains(o.Text, "it is a container") {
			t.Errorf("%s: %s %s", action, o.Result, o.Text)
		}
	}
}

// TestContainerStranger: another container that took the VMID, a VM, a template and one that moved get no call,
// whether that is seen in the list or only just before the call.
func TestContainerStranger(t *testing.T) {
	t.Parallel()
	w, ctx := newContainers(t, 5, nil), context.Background()
	v := w.containers()
	w.guest(302, func(g *pvesim.Guest) {
		g.Config["net0"] = "name=eth0,bridge=vmbr0,hwaddr=BC:24:11:FF:FF:01,ip=dhcp,type=veth"
	})
	w.sim.Remove(303)
	expect(t, w.sim.Add(&pvesim.Guest{VMID: 303, Node: "pve1", Config: map[string]string{"name": "ct3", "net0": "virtio=BC:24:11:00:04:03,bridge=vmbr0"}}))
	w.guest(304, func(g *pvesim.Guest) { g.Config["template"] = "1" })
	w.guest(305, func(g *pvesim.Guest) { g.Node = "pve2" }) // a volume of a node does not move with it
	got := w.does(ctx, v, "start")
	w.want([]string{got[0], got[1], got[3]}, "refused another guest has its VMID now: nothing was sent", "refused it is not on pve1 any more",
		"refused it is not on pve1 any more")
	if !strings.HasPrefix(got[2], "failed you can't start a CT if it's a template") {
		t.Error(got[2])
	}
	got = w.does(ctx, w.containers(), "start")
	w.want([]string{got[0], got[1], got[3]}, "refused its VMID 302 belongs to another guest (ct2)",
		"refused its VMID 303 belongs to another guest (ct3)",
		"failed can't activate LV '/dev/pve/vm-305-disk-0':   Failed to find logical volume \"pve/vm-305-disk-0\"")
	if got[2] != "failed you can't start a CT if it's a template" && // the lists say some seconds later that it is one
		got[2] != "refused its VMID 304 belongs to another guest (ct4)" {
		t.Error(got[2])
	}
	if n := w.sim.Writes(302) + w.sim.Writes(303); n != 0 {
		t.Errorf("%d writes to strangers", n)
	}
}

// TestContainerLock: a lock is waited for, and so is another process that has the lock of the configuration.
func TestContainerLock(t *testing.T) {
	t.Parallel()
	w := newContainers(t, 2, func(g *pvesim.Guest) { g.Config["lock"] = "backup" })
	w.want(w.does(context.Background(), w.containers(), "start"), "refused it is locked (backup), and was for 2s")
	v := w.containers()
	release := func(r *Request) {
		r.Report = func(o One) {
			if o.Result == power.Waiting {
				w.guest(302, func(g *pvesim.Guest) { delete(g.Config, "lock") })
			}
		}
	}
	w.want(w.does(context.Background(), v, "start", release), "done started")
}

// TestContainerDeaf: a container that does not stop fails after its time limit and once more that long, unless
// it is stopped by force. A reboot stops it by force.
func TestContainerDeaf(t *testing.T) {
	t.Parallel()
	w, ctx := newContainers(t, 2, func(g *pvesim.Guest) { g.Running, g.Agent.Mode = true, "deaf" }), context.Background()
	v := w.containers()
	r := Request{Action: power.Find("shutdown"), VMs: v.VMs, AtOnce: 1, Timeout: 10 * time.Second, Report: func(One) {}}
	ended, err := run(ctx, w.config, r)
	expect(t, err)
	w.want(append(said(ended), ended[0].Fix...), "failed container did not stop", "stackgen power shutdown --force lab/ct2")
	w.want(w.does(ctx, w.containers(), "reboot"), "done rebooted")
	w.want(w.does(ctx, w.containers(), "shutdown", func(r *Request) { r.Force = true }), "done shut down")
}

// TestContainerPending: a restart is for changes that wait, not for what Proxmox VE lists of a volume that has grown.
func TestContainerPending(t *testing.T) {
	t.Parallel()
	w := newContainers(t, 3, func(g *pvesim.Guest) {
		g.Running, g.Pending = true, map[string]string{"rootfs": g.Config["rootfs"]}
		if g.VMID == 303 {
			g.Pending["nameserver"] = "10.0.0.1"
		}
	})
	v := w.view()
	waiting := v.Waiting()
	if len(waiting) != 1 || waiting[0].Key != "ct3" {
		t.Fatalf("waiting: %v", waiting)
	}
	w.want(w.does(context.Background(), v, "reboot", func(r *Request) { r.VMs, r.Pending = waiting, true }), "done rebooted")
	w.guest(303, func(g *pvesim.Guest) {
		if g.Config["nameserver"] != "10.0.0.1" || len(g.Pending) > 0 {
			t.Errorf("after the restart: %v, pending %v", g.Config, g.Pending)
		}
	})
}

// TestContainerReset takes a running and a stopped container back. A container with a folder of the node, or on a
// storage without snapshots, gets no checkpoint.
func TestContainerReset(t *testing.T) {
	t.Parallel()
	w := newContainers(t, 5, func(g *pvesim.Guest) {
		switch g.VMID {
		case 302:
			g.Running = true
		case 304:
			g.Config["mp0"] = "/tank/media,mp=/srv/media"
		case 305:
			g.Config["rootfs"] = "local:305/vm-305-disk-0.raw,size=4G"
		}
	})
	w.want(w.saves("baseline")[1:], "done given the checkpoint baseline", "done given the checkpoint baseline",
		"refused mp0 is the path /tank/media of the node and no volume, and Proxmox VE takes no snapshot of a container with one",
		"refused rootfs on local (dir) is raw, and such an image has no snapshots")
	for _, vmid := range []int{302, 303} {
		w.guest(vmid, func(g *pvesim.Guest) { g.Config["memory"] = "768" })
	}
	was := w.running()
	w.want(w.resets("baseline")[1:3], "done reset to baseline of TIME, and running", "done reset to baseline of TIME, and stopped")
	if w.memory(302) != "512" || w.memory(303) != "512" || w.running() != was {
		t.Errorf("memory %s and %s, running %s and before %s", w.memory(302), w.memory(303), w.running(), was)
	}
	another := "name=eth0,bridge=vmbr0,hwaddr=BC:24:11:FF:FF:01,ip=dhcp,type=veth"
	w.guest(302, func(g *pvesim.Guest) { g.Snapshots[0].Config["net0"] = another })
	got := w.resets("baseline")[1]
	if !strings.Contains(got, "BC:24:11:FF:FF:01, which the lock does not record: a reset would make it another guest") {
		t.Error(got)
	}
}
