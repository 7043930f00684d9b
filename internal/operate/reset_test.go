package operate

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"stackgen/internal/power"
	"stackgen/internal/proxmox"
	"stackgen/internal/pvesim"
	"stackgen/internal/pvesim/clock"
)

// request is the request of an action on snapshots for all VMs of a view.
func (w *world) request(v *View, action, name string) Request {
	return Request{Action: power.OfSnapshots(action), VMs: v.VMs, AtOnce: 4, Timeout: 5 * time.Second, Name: name, Report: func(One) {}}
}

// saves gives each VM a checkpoint, without the plan of OpenTofu.
func (w *world) saves(name string) []string {
	w.Helper()
	v := w.view()
	r := w.request(v, power.Snapshot, name)
	planned := v.Plan(r)
	expect(w.TB, v.each(context.Background(), planned, func(ctx context.Context, api *proxmox.Power, o *One) {
		v.planCheckpoint(ctx, api, name, o)
	}))
	ended, err := v.Run(context.Background(), r, planned)
	expect(w.TB, err)
	return said(ended)
}

// resets resets each VM, each as "result text". between is called after the plan.
func (w *world) resets(name string, between ...func()) []string {
	w.Helper()
	v := w.view()
	r := w.request(v, power.Rollback, name)
	planned, err := v.PlanResets(context.Background(), r)
	expect(w.TB, err)
	for _, f := range between {
		f()
	}
	ended, err := v.Run(context.Background(), r, planned)
	expect(w.TB, err)
	return said(ended)
}

// said is how it ended, without the time of the checkpoint.
func said(all []One) []string {
	var out []string
	for _, o := range all {
		text := o.Text
		if o.Point != nil {
			text = strings.ReplaceAll(text, o.Point.When(), "TIME")
		}
		out = append(out, string(o.Result)+" "+text)
	}
	return out
}

// sets changes the configuration of a VM. refused is how the server refuses that.
func (w *world) sets(vmid int, body url.Values, refused ...string) {
	w.Helper()
	res := w.sim.Do(context.Background(), pvesim.Request{Method: "PUT", Path: fmt.Sprintf("/api2/json/nodes/pve1/qemu/%d/config", vmid), Body: []byte(body.Encode()),
		Header: http.Header{"Authorization": {"PVEAPIToken=" + w.sim.Token()}, "Content-Type": {"application/x-www-form-urlencoded"}}})
	if got := strings.Join(refused, ""); res.Status == 200 && got != "" || res.Status != 200 && res.Reason != got {
		w.Fatalf("%d %s, want %s", res.Status, res.Reason, got)
	}
}

// wait lets time of the cluster pass.
func (w *world) wait(d time.Duration) {
	w.Helper()
	expect(w.TB, w.clock.WaitUntil(context.Background(), w.clock.Now().Add(d)))
}

func (w *world) memory(vmid int) (out string) {
	w.guest(vmid, func(g *pvesim.Guest) { out = g.Config["memory"] })
	return out
}

// TestReset takes a stopped, a running and a paused VM back, and starts those that ran. The
// same checkpoint again is there already.
func TestReset(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3, nil)
	w.want(w.saves("baseline"), "done given the checkpoint baseline", "done given the checkpoint baseline", "done given the checkpoint baseline")
	writes := w.sim.Counters().Writes
	for _, text := range w.saves("baseline") {
		if !strings.HasPrefix(text, "already it has baseline of ") {
			t.Errorf("again: %s", text)
		}
	}
	if n := w.sim.Counters().Writes - writes; n != 0 {
		t.Errorf("%d writes of the same checkpoint again", n)
	}
	for vmid := 301; vmid <= 303; vmid++ {
		w.sets(vmid, url.Values{"memory": {"768"}})
	}
	v := w.view()
	v.VMs = v.VMs[1:]
	w.want(w.does(context.Background(), v, "start"), "done started", "done started")
	v = w.view()
	v.VMs = v.VMs[2:]
	w.want(w.does(context.Background(), v, "suspend"), "done paused")
	w.want(w.resets("baseline"), "done reset to baseline of TIME, and stopped", "done reset to baseline of TIME, and running",
		"done reset to baseline of TIME, and running")
	if w.running() != "302 303" {
		t.Errorf("running: %s", w.running())
	}
	for vmid := 301; vmid <= 303; vmid++ {
		if got := w.memory(vmid); got != "512" {
			t.Errorf("VM %d has %s MiB", vmid, got)
		}
	}
}

// slowly is a cluster with the cleanup of qemu-server 9.2, in which ten seconds pass in one.
func slowly(t *testing.T, n int, edit func(*pvesim.Seed)) *world {
	return newWorldWith(t, n, func(s *pvesim.Seed) {
		s.Cleanup = time.Second
		edit(s)
	}, pvesim.Options{Clock: clock.NewScaled(time.Now(), 10)})
}

// TestResetAgain: the cleanup of the first reset keeps the lock of the VM, and the second reset
// waits for it. So does a shutdown. It says so once. The lock is held until then, however long this takes.
func TestResetAgain(t *testing.T) {
	t.Parallel()
	w := slowly(t, 1, func(s *pvesim.Seed) { s.Guests[len(s.Guests)-1].Running = true })
	w.saves("baseline")
	w.want(w.resets("baseline"), "done reset to baseline of TIME, and running")
	w.wait(2 * time.Second)
	w.sets(301, url.Values{"description": {"x"}}, "can't lock file '/var/lock/qemu-server/lock-301.conf' - got timeout")
	release := w.sim.HoldConfig(301)
	v := w.view()
	r := w.request(v, power.Rollback, "baseline")
	var told []string
	r.Report = func(o One) {
		if told = append(told, string(o.Result)+" "+o.Text); o.Result == power.Waiting {
			release()
		}
	}
	planned, err := v.PlanResets(context.Background(), r)
	expect(t, err)
	ended, err := v.Run(context.Background(), r, planned)
	expect(t, err)
	w.want(said(ended), "done reset to baseline of TIME, and running")
	if len(told) != 4 || told[1] != "waiting another process of pve1 has the lock of its configuration" || told[2] != "sent " {
		t.Errorf("told %q", told)
	}
	w.wait(2 * time.Second)
	w.want(w.does(context.Background(), w.view(), "shutdown", func(r *Request) { r.Timeout = 10 * time.Second }), "done shut down")
}

// TestLockKept: a VM whose lock is not free in time is left as it is, and so is a guest that takes
// the VMID while the lock is waited for.
func TestLockKept(t *testing.T) {
	t.Parallel()
	for timeout, want := range map[time.Duration]string{
		100 * time.Millisecond: "failed another process had the lock of its configuration for 100ms, and nothing was changed: " +
			"can't lock file '/var/lock/qemu-server/lock-301.conf' - got timeout",
		5 * time.Second: "refused another guest has its VMID now: nothing was sent",
	} {
		w := slowly(t, 1, func(s *pvesim.Seed) { s.Guests[len(s.Guests)-1].Running = true })
		w.saves("baseline")
		w.resets("baseline")
		w.wait(2 * time.Second)
		w.sim.HoldConfig(301)
		writes := w.sim.Writes(301)
		w.want(w.does(context.Background(), w.view(), "reboot", func(r *Request) {
			r.Timeout = timeout
			r.Report = func(o One) {
				if o.Result == power.Waiting {
					w.guest(301, func(g *pvesim.Guest) { g.Config["smbios1"] = "uuid=00000000-0000-4000-8000-000000000000" })
				}
			}
		}), want)
		if n := w.sim.Writes(301) - writes; n != 1 {
			t.Errorf("%d writes", n)
		}
	}
}

// TestUntouched: a rollback that did not get the lock after it had stopped the VM leaves its own
// lock, and is not tried again; neither is an action on a VM that somebody else restarted.
func TestUntouched(t *testing.T) {
	t.Parallel()
	w, ctx := newWorld(t, 1, func(s *pvesim.Seed) { s.Guests[len(s.Guests)-1].Running = true }), context.Background()
	v := w.view()
	api, err := proxmox.OpenPower(ctx, w.config)
	expect(t, err)
	defer api.Close()
	r := &runner{Request: Request{Action: power.OfSnapshots(power.Rollback)}, api: api, vm: &v.VMs[0]}
	before, err := api.Now(ctx, v.VMs[0].Guest)
	expect(t, err)
	if !r.untouched(ctx, before) {
		t.Error("nothing was done")
	}
	w.guest(301, func(g *pvesim.Guest) { g.Config["lock"] = "rollback" })
	if r.untouched(ctx, before) {
		t.Error("a rollback has begun")
	}
	w.guest(301, func(g *pvesim.Guest) { delete(g.Config, "lock") })
	w.does(ctx, w.view(), "reboot")
	if r.untouched(ctx, before) {
		t.Error("it was restarted")
	}
	w.guest(301, func(g *pvesim.Guest) { g.Running = false })
	if r.untouched(ctx, before) {
		t.Error("it was stopped")
	}
}

// TestResetStarts: a reset is over when the task of its start is, so that an apply does not find it
// busy, and a start that failed is named.
func TestResetStarts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, func(s *pvesim.Seed) {
		s.Starting = time.Second
		for _, g := range s.Guests[len(s.Guests)-2:] {
			g.Running = true
		}
	})
	w.saves("baseline")
	w.guest(302, func(g *pvesim.Guest) { g.Snapshots[0].Config["cores"] = "99" })
	w.want(w.resets("baseline"), "done reset to baseline of TIME, and running",
		"failed its task has ended, and its start failed: MAX 16 vcpus allowed per VM on this node")
	for _, task := range w.view().Inventory.Tasks {
		t.Errorf("%s of %d goes on", task.Type, task.VMID)
	}
}

// TestResetRefused: a VM without the checkpoint, and checkpoints that would make a VM another
// guest, or that were replaced after they were confirmed, get no call.
func TestResetRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 5, nil)
	v := w.view()
	v.VMs = v.VMs[:4]
	r := w.request(v, power.Snapshot, "baseline")
	_, err := v.Run(context.Background(), r, v.Plan(r))
	expect(t, err)
	v.VMs = v.VMs[:1]
	r = w.request(v, power.Snapshot, "week1")
	_, err = v.Run(context.Background(), r, v.Plan(r))
	expect(t, err)
	w.guest(302, func(g *pvesim.Guest) { g.Snapshots[0].Config["net0"] = "virtio=BC:24:11:FF:FF:01,bridge=vmbr0" })
	w.guest(303, func(g *pvesim.Guest) {
		g.Snapshots[0].Config["smbios1"] = "uuid=00000000-0000-4000-8000-000000000000"
	})
	writes := w.sim.Counters().Writes
	w.want(w.resets("week1"), "done reset to week1 of TIME, and stopped",
		"refused it has no checkpoint week1; its snapshots are baseline", "refused it has no checkpoint week1; its snapshots are baseline",
		"refused it has no checkpoint week1; its snapshots are baseline", "refused it has no checkpoint week1")
	v = w.view()
	v.VMs = v.VMs[4:]
	r = w.request(v, power.Snapshot, "baseline")
	_, err = v.Run(context.Background(), r, v.Plan(r))
	expect(t, err)
	replace := func() {
		w.sets(305, url.Values{"memory": {"1024"}, "net1": {"virtio,bridge=vmbr0"}})
		w.guest(304, func(g *pvesim.Guest) { g.Snapshots[0].Time = g.Snapshots[0].Time.Add(time.Hour) })
	}
	w.want(w.resets("baseline", replace)[1:],
		"refused baseline of TIME has the MAC address BC:24:11:FF:FF:01, which the lock does not record: a reset would make it another guest",
		"refused baseline of TIME has the smbios1 uuid 00000000-0000-4000-8000-000000000000: a reset would make it another guest",
		"refused its checkpoint is another one now: nothing was sent",
		"refused its configuration was changed after it was shown (memory, net1): nothing was sent")
	if n := w.sim.Counters().Writes - writes; n != 4 { // two resets of VM 301, a checkpoint of VM 305 and the change of it
		t.Errorf("%d writes", n)
	}
}

// TestIncompleteCheckpoint: a snapshot whose task was killed is no checkpoint, and Proxmox VE refuses a rollback to it.
func TestIncompleteCheckpoint(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, nil)
	w.saves("baseline")
	w.guest(301, func(g *pvesim.Guest) { g.Snapshots[0].Config["snapstate"] = "prepare" })
	w.guest(302, func(g *pvesim.Guest) {
		g.Snapshots[0].Config["snapstate"], g.Config["lock"] = "delete", "snapshot-delete"
	})
	writes := w.sim.Counters().Writes
	const half = "refused its snapshot baseline is not complete (prepare)"
	const locked = "refused its snapshot baseline is not complete (delete): the lock snapshot-delete says that a task works on it, or was killed; " +
		"preflight says how to find out, and this command, once the lock is gone, how to remove the snapshot"
	w.want(w.saves("baseline"), half, locked)
	w.want(w.resets("baseline"), half, locked)
	w.want(w.resets("other")[:1], "refused it has no checkpoint other")
	if points := w.view().Points(context.Background(), false); len(points) > 0 {
		t.Errorf("checkpoints: %v", points)
	}
	if n := w.sim.Counters().Writes; n != writes {
		t.Errorf("%d writes", n-writes)
	}

	// The printed line removes it, and then there can be another one. Proxmox VE removes none of a VM that is locked.
	v := w.view()
	planned, err := v.PlanResets(context.Background(), w.request(v, power.Rollback, "baseline"))
	expect(t, err)
	const path = "/nodes/pve1/qemu/301/snapshot/baseline"
	for i, want := range []string{"pvesh delete " + path + " --force 1", "stackgen preflight"} {
		if got := strings.Join(planned[i].Fix, "\n"); got != want {
			t.Fatalf("the step is %q, want %q", got, want)
		}
	}
	res := w.sim.Do(context.Background(), pvesim.Request{Method: "DELETE", Path: "/api2/json" + path + "?force=1",
		Header: http.Header{"Authorization": {"PVEAPIToken=" + w.sim.Token()}}})
	if res.Status != 200 {
		t.Fatalf("%d %s", res.Status, res.Reason)
	}
	w.wait(time.Minute)
	w.want(w.saves("baseline")[:1], "done given the checkpoint baseline")
}

// TestResetWithMemory: a snapshot with the memory of the VM starts it, so a VM that is off on purpose is refused.
func TestResetWithMemory(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, nil)
	w.saves("baseline")
	w.guest(301, func(g *pvesim.Guest) { g.Snapshots[0].Config["vmstate"] = "local-lvm:vm-301-state-baseline" })
	w.want(w.resets("baseline"), "refused baseline of TIME has its memory, so a reset would start it, and it is stopped")
	w.guest(301, func(g *pvesim.Guest) { g.Running = true })
	v := w.view()
	planned, err := v.PlanResets(context.Background(), w.request(v, power.Rollback, "baseline"))
	expect(t, err)
	w.want(said(planned), "planned would be reset to baseline of TIME, with its memory of that time, and what it has written since then is lost")
}

// TestResetOnZFS: what Proxmox VE would refuse is refused before anybody is asked. A storage
// without snapshots gets no checkpoint.
func TestResetOnZFS(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, func(s *pvesim.Seed) {
		n := len(s.Guests)
		s.Guests[n-2].Config["scsi0"] = "local-zfs:vm-301-disk-0,size=1G"
		s.Guests[n-1].Config["scsi0"] = "local:302/vm-302-disk-0.raw,size=1G"
	})
	w.want(w.saves("first"), "done given the checkpoint first", "refused scsi0 on local (dir) is raw, and such an image has no snapshots")
	w.saves("second")
	w.want(w.resets("first")[:1], "refused its storage goes back to its newest snapshot only, which is second, and not to first")
	w.want(w.resets("second")[:1], "done reset to second of TIME, and stopped")
}

// TestResetOnChain: with the option snapshot-as-volume-chain, an image of format qcow2 goes back to its newest snapshot only.
func TestResetOnChain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, func(s *pvesim.Seed) {
		s.Guests[len(s.Guests)-1].Config["scsi0"] = "local:301/vm-301-disk-0.qcow2,size=1G"
		for _, x := range s.Storages {
			x.Chain = x.ID == "local"
		}
	})
	w.saves("first")
	w.saves("second")
	w.want(w.resets("first"), "refused its storage goes back to its newest snapshot only, which is second, and not to first")
	w.want(w.resets("second"), "done reset to second of TIME, and stopped")
}

// TestResetPutsBack: a reset names the disk that was replaced since.
func TestResetPutsBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, func(s *pvesim.Seed) { s.Guests[len(s.Guests)-1].Config["scsi0"] = "local-lvm:vm-301-disk-0,size=1G" })
	w.saves("first")
	w.sets(301, url.Values{"delete": {"scsi0"}})
	w.sets(301, url.Values{"scsi0": {"local-lvm:1"}})
	v := w.view()
	planned, err := v.PlanResets(context.Background(), w.request(v, power.Rollback, "first"))
	expect(t, err)
	w.want(said(planned), "planned would be reset to first of TIME, and what it has written since then is lost; "+
		"it puts back the former disk of scsi0, and what is there now becomes an unused disk")
}

// TestPoints: the checkpoint of a VM is the one that was taken or reset to last.
func TestPoints(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, nil)
	shown := func(want string) {
		t.Helper()
		points := w.view().Points(context.Background(), false)
		if p := points["lab/vm1"]; p.Name != want || p.Time.IsZero() {
			t.Errorf("%q of %s, want %s", p.Name, p.Time, want)
		}
	}
	w.saves("baseline")
	shown("baseline")
	w.saves("day1")
	shown("day1")
	w.resets("baseline")
	shown("baseline")
	w.resets("day1")
	shown("day1")
}

// TestResetDenied: the narrowest privilege is named, and is enough.
func TestResetDenied(t *testing.T) {
	t.Parallel()
	secret := "5f3c9a10-7e61-4c55-9a53-000000000001"
	w := newWorld(t, 1, func(s *pvesim.Seed) {
		s.Users = append(s.Users, &pvesim.User{ID: "ops@pve", Tokens: []*pvesim.Token{{ID: "t", Secret: secret}}})
		s.ACL = append(s.ACL, &pvesim.Grant{Path: "/", To: "ops@pve", Type: "user", Role: "PVEAuditor"})
		s.Roles = append(s.Roles, &pvesim.Role{ID: "Back", Privileges: []string{"VM.Audit", "VM.Snapshot.Rollback"}})
	})
	w.saves("baseline")
	w.config = w.login("ops@pve!t=" + secret)
	w.want(w.resets("baseline"), "refused the token may not do that: it lacks VM.Snapshot.Rollback")
	w.want(w.saves("other"), "refused the token may not do that: it lacks VM.Snapshot")
	v := w.view()
	r := w.request(v, power.Rollback, "baseline")
	planned, err := v.PlanResets(context.Background(), r)
	expect(t, err)
	if grants := strings.Join(v.Grants(r.Action, planned), "\n"); !strings.Contains(grants, "--privs VM.Snapshot.Rollback") {
		t.Errorf("%s", grants)
	}
	w.sim.Change(func(s *pvesim.Seed) {
		s.ACL = append(s.ACL, &pvesim.Grant{Path: "/vms/301", To: "ops@pve", Type: "user", Role: "Back"})
	})
	w.want(w.resets("baseline"), "done reset to baseline of TIME, and stopped")
}

// TestResetStartDenied: since 9.2, Proxmox VE starts a VM after a rollback only for those who may start it. A container
// is started without that.
func TestResetStartDenied(t *testing.T) {
	t.Parallel()
	secret := "5f3c9a10-7e61-4c55-9a53-000000000001"
	w := newWorld(t, 1, func(s *pvesim.Seed) {
		s.Version = "9"
		s.Users = append(s.Users, &pvesim.User{ID: "ops@pve", Tokens: []*pvesim.Token{{ID: "t", Secret: secret}}})
		s.ACL = append(s.ACL, &pvesim.Grant{Path: "/", To: "ops@pve", Type: "user", Role: "PVEAuditor"},
			&pvesim.Grant{Path: "/vms/301", To: "ops@pve", Type: "user", Role: "Back"})
		s.Roles = append(s.Roles, &pvesim.Role{ID: "Back", Privileges: []string{"VM.Audit", "VM.Snapshot.Rollback"}})
	})
	w.saves("baseline")
	w.guest(301, func(g *pvesim.Guest) { g.Running = true })
	w.config = w.login("ops@pve!t=" + secret)
	if got := strings.Join(w.resets("baseline"), "\n"); !strings.Contains(got, "VM.PowerMgmt") || w.running() != "301" {
		t.Errorf("%s; running: %s", got, w.running())
	}
	for release, want := range map[string]string{"8.4.21": "planned", "9.2.11": "refused the token may not do that: it lacks VM.PowerMgmt"} {
		v := w.view()
		v.Inventory.Release = release
		r := w.request(v, power.Rollback, "baseline")
		planned, err := v.PlanResets(context.Background(), r)
		expect(t, err)
		if got := said(planned)[0]; !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", release, got)
		}
		grants := strings.Join(v.Grants(r.Action, planned), "\n")
		if want != "planned" && !strings.Contains(grants, "--privs VM.PowerMgmt") {
			t.Errorf("%s: %s", release, grants)
		}
	}
}

// TestResetHA: a running VM of the HA manager runs again after its reset.
func TestResetHA(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, func(s *pvesim.Seed) { s.HA = append(s.HA, &pvesim.HAEntry{SID: "vm:301", State: "started"}) })
	w.does(context.Background(), w.view(), "start", func(r *Request) { r.Timeout = time.Minute })
	w.want(w.saves("baseline"), "done given the checkpoint baseline")
	v := w.view()
	r := w.request(v, power.Rollback, "baseline")
	r.Timeout = time.Minute
	planned, err := v.PlanResets(context.Background(), r)
	expect(t, err)
	ended, err := v.Run(context.Background(), r, planned)
	expect(t, err)
	w.want(said(ended), "done reset to baseline of TIME, and running")
	if w.running() != "301" {
		t.Errorf("running: %s", w.running())
	}
}

// TestCheckName: names that Proxmox VE has for itself, or refuses, are refused.
func TestCheckName(t *testing.T) {
	for name, ok := range map[string]bool{"baseline": true, "week-1": true, "a": false, "1st": false, "Current": false, "lab/web01": false, "": false} {
		if err := CheckName(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// BenchmarkReset resets 60 VMs of a server that answers after 50 ms, one after the other and
// eight at the same time. Single calls are the least that a loop over the VMs sends: the
// rollback, and reads of its task until it has ended.
func BenchmarkReset(b *testing.B) {
	for _, atOnce := range []int{0, 1, 8} {
		name := fmt.Sprintf("at-once-%d", atOnce)
		if atOnce == 0 {
			name = "single-calls"
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				w := newWorldWith(b, 60, nil, pvesim.Options{Latency: 50 * time.Millisecond})
				v := w.view()
				r := w.request(v, power.Snapshot, "baseline")
				r.AtOnce, r.Timeout = 8, time.Minute
				_, err := v.Run(context.Background(), r, v.Plan(r))
				expect(b, err)
				v = w.view()
				before := w.sim.Counters().Requests
				b.StartTimer()
				if atOnce == 0 {
					w.singleResets(v)
				} else {
					r = w.request(v, power.Rollback, "baseline")
					r.AtOnce, r.Timeout = atOnce, time.Minute
					planned, err := v.PlanResets(context.Background(), r)
					expect(b, err)
					ended, err := v.Run(context.Background(), r, planned)
					expect(b, err)
					if n := Count(ended, power.Done); n != len(v.VMs) {
						b.Fatalf("%d done", n)
					}
				}
				b.ReportMetric(float64(w.sim.Counters().Requests-before)/float64(len(v.VMs)), "requests/VM")
			}
		})
	}
}

// singleResets rolls back each VM after the one before.
func (w *world) singleResets(v *View) {
	ctx := context.Background()
	api, err := proxmox.OpenPower(ctx, w.config)
	expect(w.TB, err)
	defer api.Close()
	for i := range v.VMs {
		task, err := api.Send(ctx, v.VMs[i].Guest, []string{"snapshot", "baseline", "rollback"}, map[string]string{})
		expect(w.TB, err)
		for exit := ""; exit == ""; time.Sleep(firstPause) {
			exit, err = api.Ended(ctx, task)
			expect(w.TB, err)
		}
	}
}
