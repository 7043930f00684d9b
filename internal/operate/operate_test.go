package operate

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/lock"
	"stackgen/internal/power"
	"stackgen/internal/project"
	"stackgen/internal/proxmox"
	"stackgen/internal/pvesim"
	"stackgen/internal/pvesim/clock"
	"stackgen/internal/selection"
	"stackgen/schema"
)

// A world is a simulated cluster with VMs 301 to 30n of the stack lab, which the lock records.
type world struct {
	testing.TB
	sim     *pvesim.Server
	clock   clock.Clock // of the cluster
	config  proxmox.Config
	project *schema.Project
	lock    *lock.Lock
}

func newWorld(t testing.TB, n int, edit func(*pvesim.Seed)) *world {
	t.Helper()
	return newWorldWith(t, n, edit, pvesim.Options{Clock: clock.NewScaled(time.Now(), 10)}) // tasks take a tenth
}

func newWorldWith(t testing.TB, n int, edit func(*pvesim.Seed), o pvesim.Options) *world {
	t.Helper()
	seed, err := pvesim.DefaultSeed()
	expect(t, err)
	stack := &schema.Stack{Name: "lab"}
	recorded := lock.Stack{}
	for i := 1; i <= n; i++ {
		vmid, key := 300+i, fmt.Sprintf("vm%d", i)
		uuid, mac := fmt.Sprintf("4c1f3a52-0000-4d1a-9c54-%012d", vmid), fmt.Sprintf("BC:24:11:00:03:%02X", i)
		seed.Guests = append(seed.Guests, &pvesim.Guest{VMID: vmid, Node: "pve1", Agent: pvesim.Agent{Mode: "present"}, Config: map[string]string{
			"name": key, "memory": "512", "agent": "enabled=1", "net0": "virtio=" + mac + ",bridge=vmbr0", "smbios1": "uuid=" + uuid}})
		stack.VMs = append(stack.VMs, &schema.VM{Key: key, Path: "vms." + key, Name: key})
		recorded.VMs = append(recorded.VMs, lock.Entry[lock.VM]{Key: key, Value: lock.VM{VMID: vmid, Node: "pve1",
			Fingerprint: &lock.Fingerprint{UUID: uuid, MACs: []string{mac}}}})
	}
	if edit != nil {
		edit(seed)
	}
	o.Seed, o.NoAuthDelay = seed, true
	w := &world{TB: t, clock: o.Clock, project: &schema.Project{Stacks: []*schema.Stack{stack}}, lock: &lock.Lock{Stacks: lock.Ordered[lock.Stack]{{Key: "lab", Value: recorded}}}}
	w.sim, err = pvesim.New(o)
	expect(t, err)
	expect(t, w.sim.Start("127.0.0.1:0"))
	t.Cleanup(func() { expect(t, w.sim.Close()) })
	w.config = w.login(w.sim.Token())
	return w
}

func expect(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) login(token string) proxmox.Config {
	w.Helper()
	vars := map[string]string{"PROXMOX_VE_ENDPOINT": w.sim.URL() + "/", "PROXMOX_VE_INSECURE": "true", "PROXMOX_VE_API_TOKEN": token}
	c, err := proxmox.Configure(func(name string) string { return vars[name] }, nil)
	expect(w.TB, err)
	return c
}

// view reads the cluster and selects all VMs.
func (w *world) view() *View {
	w.Helper()
	var wanted proxmox.Wanted
	for _, e := range w.lock.Stacks[0].Value.VMs {
		wanted.VMIDs = append(wanted.VMIDs, e.Value.VMID)
	}
	inv, err := proxmox.Read(context.Background(), w.config, wanted)
	expect(w.TB, err)
	all := selection.Of(w.project.Stacks, w.lock, &inv, func(string) bool { return true })
	return &View{Project: &project.Project{Stacks: w.project}, VMs: all, Inventory: &inv,
		connect: func() (proxmox.Config, error) { return w.config, nil }}
}

// does runs an action on the VMs of a view, and returns for each "result text".
func (w *world) does(ctx context.Context, v *View, action string, edit ...func(*Request)) []string {
	w.Helper()
	r := Request{Action: power.Find(action), VMs: v.VMs, AtOnce: 4, Timeout: 2 * time.Second, Report: func(One) {}}
	for _, e := range edit {
		e(&r)
	}
	ended, err := run(ctx, w.config, r)
	expect(w.TB, err)
	var out []string
	for _, o := range ended {
		out = append(out, string(o.Result)+" "+o.Text)
	}
	return out
}

func (w *world) want(got []string, want ...string) {
	w.Helper()
	if g, x := strings.Join(got, "\n"), strings.Join(want, "\n"); g != x {
		w.Errorf("got\n%s\nwant\n%s", g, x)
	}
}

// running are the VMIDs from 301 to 399 that run.
func (w *world) running() string {
	w.Helper()
	var out []string
	w.sim.Change(func(s *pvesim.Seed) {
		for _, g := range s.Guests {
			if g.VMID > 300 && g.VMID < 400 && g.Running {
				out = append(out, fmt.Sprint(g.VMID))
			}
		}
	})
	return strings.Join(out, " ")
}

// TestLife: each action does what it says, once, and the same command again does nothing.
func TestLife(t *testing.T) {
	t.Parallel()
	w, ctx := newWorld(t, 2, nil), context.Background()
	for _, s := range []struct{ action, first, again string }{
		{"start", "done started", "already running"},
		{"suspend", "done paused", "already paused"},
		{"shutdown", "refused it is paused, and a paused VM cannot shut down: resume it, or use stop", "refused it is paused, and a paused VM cannot shut down: resume it, or use stop"},
		{"start", "refused it is paused: use resume", "refused it is paused: use resume"},
		{"resume", "done resumed", "already running"},
		{"reboot", "done rebooted", "done rebooted"},
		{"shutdown", "done shut down", "already stopped"},
		{"resume", "refused it is stopped", "refused it is stopped"},
		{"reboot", "refused it is stopped", "refused it is stopped"},
		{"start", "done started", "already running"},
		{"stop", "done stopped", "already stopped"},
	} {
		w.want(w.does(ctx, w.view(), s.action), s.first, s.first)
		writes := w.sim.Counters().Writes
		w.want(w.does(ctx, w.view(), s.action), s.again, s.again)
		if sent := w.sim.Counters().Writes - writes; sent != 0 && s.action != "reboot" {
			t.Errorf("%s again sent %d writes", s.action, sent)
		}
	}
}

// TestStranger: a guest that took the VMID, before the cluster was read or after it, gets no call.
func TestStranger(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, nil)
	replace := func(g *pvesim.Guest) { g.Config["smbios1"] = "uuid=00000000-0000-4000-8000-000000000000" }
	v := w.view()
	w.guest(301, replace) // after that; the MAC address is the same
	w.want(w.does(context.Background(), v, "start"), "refused another guest has its VMID now: nothing was sent", "done started")
	w.want(w.does(context.Background(), w.view(), "stop"), "refused its VMID 301 belongs to another guest (vm1)", "done stopped")
	if n := w.sim.Writes(301); n != 0 {
		t.Errorf("%d writes to the stranger", n)
	}
	v = w.view()
	w.sim.Remove(302)
	w.want(w.does(context.Background(), v, "start")[1:], "refused it is not on pve1 any more")
	w.want(w.does(context.Background(), w.view(), "start")[1:], "refused it does not exist")
}

func (w *world) guest(vmid int, edit func(*pvesim.Guest)) {
	w.sim.Change(func(s *pvesim.Seed) {
		for _, g := range s.Guests {
			if g.VMID == vmid {
				edit(g)
			}
		}
	})
}

// TestLocked: a lock is waited for, and a VM that stays locked is left alone. A hibernated VM
// starts.
func TestLocked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3, nil)
	w.guest(301, func(g *pvesim.Guest) { g.Config["lock"] = "backup" })
	w.guest(302, func(g *pvesim.Guest) { g.Config["lock"] = "migrate" })
	v := w.view()
	var once sync.Once
	unlock := func(r *Request) {
		r.Report = func(One) { // VM 303 is done at once, and the locked ones wait
			once.Do(func() { w.guest(302, func(g *pvesim.Guest) { delete(g.Config, "lock") }) })
		}
	}
	w.want(w.does(context.Background(), v, "start", unlock), "refused it is locked (backup), and was for 2s", "done started", "done started")
	if n := w.sim.Writes(301); n != 0 {
		t.Errorf("%d writes to a locked VM", n)
	}
}

// TestStrangerAfterLock: a guest that takes the VMID while a lock is waited for gets no call.
func TestStrangerAfterLock(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, nil)
	w.guest(301, func(g *pvesim.Guest) { g.Config["lock"] = "backup" })
	v := w.view()
	other := func(r *Request) {
		r.Report = func(One) { // VM 302 is done at once
			w.guest(301, func(g *pvesim.Guest) {
				g.Config["smbios1"] = "uuid=00000000-0000-4000-8000-000000000000"
				delete(g.Config, "lock")
			})
		}
	}
	w.want(w.does(context.Background(), v, "start", other), "refused another guest has its VMID now: nothing was sent", "done started")
	if n := w.sim.Writes(301); n != 0 {
		t.Errorf("%d writes to the stranger", n)
	}
}

// TestStartedBeside: a VM that somebody else starts right before the call is as it was wanted.
func TestStartedBeside(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, nil)
	beside := func(r *Request) {
		r.Report = func(o One) {
			if o.Result == power.Sent {
				w.guest(301, func(g *pvesim.Guest) { g.Running = true })
			}
		}
	}
	w.want(w.does(context.Background(), w.view(), "start", beside), "already running")
}

// TestOnlyPlanned: a VM that the plan left alone gets no call, whatever it does by now.
func TestOnlyPlanned(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, nil)
	w.want(w.does(context.Background(), w.view(), "start"), "done started", "done started")
	v := w.view()
	v.VMs[0].Guest.Status = "unknown"
	r := Request{Action: power.Find("stop"), VMs: v.VMs, AtOnce: 1, Timeout: time.Second, Report: func(One) {}}
	ended, err := v.Run(context.Background(), r, v.Plan(r))
	expect(t, err)
	if got := ended[0].Text + ", " + ended[1].Text; got != "it is unknown, stopped" {
		t.Errorf("%s", got)
	}
	if w.running() != "301" {
		t.Errorf("running: %s", w.running())
	}
}

// TestDenied: without the privilege nothing is sent, and the lines that grant it are printed.
// A privilege that is lost between look and call is a refusal of the server.
func TestDenied(t *testing.T) {
	t.Parallel()
	secret := "5f3c9a10-7e61-4c55-9a53-000000000001"
	w := newWorld(t, 1, func(s *pvesim.Seed) {
		s.Users = append(s.Users, &pvesim.User{ID: "ops@pve", Tokens: []*pvesim.Token{{ID: "t", Secret: secret}}})
		s.ACL = append(s.ACL, &pvesim.Grant{Path: "/", To: "ops@pve", Type: "user", Role: "PVEAuditor"})
	})
	w.config = w.login("ops@pve!t=" + secret)
	v := w.view()
	r := Request{Action: power.Find("start"), VMs: v.VMs}
	planned := v.Plan(r)
	if got := string(planned[0].Result) + " " + planned[0].Text; got != "refused the token may not do that: it lacks VM.PowerMgmt" {
		t.Errorf("%s", got)
	}
	grants := strings.Join(v.Grants(r.Action, planned), "\n")
	if !strings.Contains(grants, "VM.PowerMgmt") || !strings.Contains(grants, "pveum acl modify /") {
		t.Errorf("%s", grants)
	}
	if lines := strings.Join(v.ConsoleGrants(&v.VMs[0]), "\n"); !strings.Contains(lines, "--privs VM.Console") {
		t.Errorf("%s", lines)
	}
	got := w.does(context.Background(), v, "start")
	if !strings.HasPrefix(got[0], "refused ") || !strings.Contains(got[0], "403") {
		t.Errorf("%s", got)
	}
	if w.running() != "" {
		t.Errorf("running: %s", w.running())
	}
}

// TestNodeDown: a VM on a node that does not answer is reported, and the others are started.
func TestNodeDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, func(s *pvesim.Seed) { s.Guests[len(s.Guests)-1].Node = "pve2" })
	v := w.view()
	expect(t, w.sim.SetNode("pve2", pvesim.NodeDown))
	got := w.does(context.Background(), v, "start")
	if got[0] != "done started" || !strings.HasPrefix(got[1], "failed it could not be read, and nothing was sent") {
		t.Errorf("%s", got)
	}
}

// TestNoAnswer: a call without an answer is not repeated, and not called done.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, nil)
	v := w.view()
	expect(t, w.sim.AddFault(&pvesim.Fault{Method: "POST", Path: "/nodes/*/qemu/*/status/*", Do: pvesim.DoReset}))
	got := w.does(context.Background(), v, "start")
	if !strings.HasPrefix(got[0], "failed the request had no answer, and may have been executed") {
		t.Errorf("%s", got)
	}
	if n := w.sim.Writes(301); n > 1 {
		t.Errorf("%d writes", n)
	}
}

// TestWarnings: a task that ended with warnings did its work, and what it warned of is shown.
func TestWarnings(t *testing.T) {
	t.Parallel()
	upid, began := "UPID:pve1:00001388:000002BC:69561100:qmstart:301:root@pam:", time.Unix(0x69561100, 0)
	w := newWorld(t, 1, func(s *pvesim.Seed) {
		s.Guests[len(s.Guests)-1].Running = true
		s.Tasks = append(s.Tasks, &pvesim.Task{UPID: upid, Node: "pve1", PID: 5000, PStart: 700, Start: began, End: began.Add(time.Second),
			Type: "qmstart", ID: "301", User: "root@pam", Exit: "WARNINGS: 1", Log: []string{"WARN: no efidisk configured", "TASK WARNINGS: 1"}})
	})
	ctx, v := context.Background(), w.view()
	api, err := proxmox.OpenPower(ctx, w.config)
	expect(t, err)
	defer api.Close()
	r := &runner{Request: Request{Action: power.Find("start"), Timeout: time.Minute}, api: api, vm: &v.VMs[0]}
	o, _ := r.follow(ctx, proxmox.RunningTask{UPID: upid, Node: "pve1"}, proxmox.Now{})
	if o.Result != power.Done || strings.Join(o.Warnings, ", ") != "no efidisk configured" {
		t.Errorf("%s %s, warnings %q", o.Result, o.Text, o.Warnings)
	}
}

// TestForce: a guest that does not shut down is stopped with --force only, which is said then, and
// named before.
func TestForce(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, 1, func(s *pvesim.Seed) {
		g := s.Guests[len(s.Guests)-1]
		g.Running, g.Agent.Mode = true, ""
	}, pvesim.Options{Clock: clock.NewScaled(time.Now(), 20)})
	v := w.view()
	r := Request{Action: power.Find("shutdown"), VMs: v.VMs, AtOnce: 1, Timeout: 5 * time.Second, Report: func(One) {}}
	ended, err := run(context.Background(), w.config, r)
	expect(t, err)
	if o := ended[0]; o.Result != power.Failed || o.Text != "VM quit/powerdown failed - got timeout" || strings.Join(o.Fix, "") != "stackgen power shutdown --force lab/vm1" {
		t.Errorf("%s %s, fix %q", o.Result, o.Text, o.Fix)
	}
	forced := func(r *Request) { r.Force, r.Timeout = true, 5*time.Second }
	w.want(w.does(context.Background(), w.view(), "shutdown", forced), "done it did not shut down within 5s, and was stopped")
	w.guest(301, func(g *pvesim.Guest) { g.Agent.Mode = "present" })
	w.want(w.does(context.Background(), w.view(), "start"), "done started")
	w.want(w.does(context.Background(), w.view(), "shutdown", forced), "done shut down")
}

// TestInterrupt: after an interrupt no VM is begun any more.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3, nil)
	v := w.view()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	got := w.does(ctx, v, "start", func(r *Request) {
		r.AtOnce, r.Report = 1, func(o One) {
			if o.Result == power.Done {
				stop()
			}
		}
	})
	if got[0] != "done started" || got[2] != "left interrupted before it began" {
		t.Errorf("%s", got)
	}
	if strings.Contains(w.running(), "303") {
		t.Errorf("running: %s", w.running())
	}
}

// TestPending restarts exactly the VMs whose changes wait, wave by wave, and does not go on
// after a failure.
func TestPending(t *testing.T) {
	t.Parallel()
	w, ctx := newWorld(t, 4, nil), context.Background()
	w.want(w.does(ctx, w.view(), "start"), "done started", "done started", "done started", "done started")
	for _, vmid := range []string{"301", "302", "304"} {
		res := w.sim.Do(ctx, pvesim.Request{Method: "PUT", Path: "/api2/json/nodes/pve1/qemu/" + vmid + "/config", Body: []byte("memory=768"), Header: http.Header{
			"Authorization": {"PVEAPIToken=" + w.sim.Token()}, "Content-Type": {"application/x-www-form-urlencoded"}}})
		if res.Status != 200 {
			t.Fatal(res.Reason)
		}
	}
	v := w.view()
	waiting := v.Waiting()
	if len(waiting) != 3 {
		t.Fatalf("%d VMs wait", len(waiting))
	}
	only := func(r *Request) { r.VMs, r.Pending, r.Wave = waiting, true, 1 }
	expect(t, w.sim.AddFault(&pvesim.Fault{Method: "POST", Path: "/nodes/*/qemu/302/status/reboot", Do: pvesim.DoError, Status: 500, Message: "no"}))
	got := w.does(ctx, v, "reboot", only)
	if got[0] != "done rebooted" || !strings.HasPrefix(got[1], "failed ") || got[2] != "left not begun, because a guest of the wave before failed" {
		t.Errorf("%s", got)
	}
	w.sim.ClearFaults()
	v = w.view()
	waiting = v.Waiting()
	w.want(w.does(ctx, v, "reboot", only), "done rebooted", "done rebooted")
	if n := len(w.view().Waiting()); n != 0 {
		t.Errorf("%d VMs wait afterwards", n)
	}
}

// TestConsole: the address has the node where the guest is.
func TestConsole(t *testing.T) {
	v := &View{Inventory: &cluster.Inventory{Endpoint: "https://pve.example:8006"}}
	got := v.Console(&selection.VM{Guest: &cluster.Guest{VMID: 301, Name: "web & co", Node: "pve2", Kind: guest.VM}})
	if want := "https://pve.example:8006/?console=kvm&novnc=1&vmid=301&vmname=web+%26+co&node=pve2"; got != want {
		t.Errorf("%s", got)
	}
}

// TestStep: a command that names a VM goes to its project first, if that is elsewhere.
func TestStep(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	for root, want := range map[string]string{
		".": "stackgen status lab/a", "..": "stackgen status lab/a", here: "stackgen status lab/a",
		"my class": "cd 'my class' && stackgen status lab/a", "../other": "cd ../other && stackgen status lab/a",
	} {
		v := &View{Project: &project.Project{Root: root}}
		if got := v.Step("stackgen status lab/a"); got != want {
			t.Errorf("%s: %s", root, got)
		}
		if got := v.Step("pveum role add X"); got != "pveum role add X" {
			t.Errorf("%s: %s", root, got)
		}
	}
}

// TestHA: the task of a VM of the HA manager ends before the manager begins, and the command
// waits for the VM.
func TestHA(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, func(s *pvesim.Seed) { s.HA = append(s.HA, &pvesim.HAEntry{SID: "vm:301", State: "stopped"}) })
	longer := func(r *Request) { r.Timeout = time.Minute }
	hard := w.view().Plan(Request{Action: power.Find("shutdown"), VMs: w.view().VMs})
	if hard[0].Result != power.Refused || hard[0].Text != hardStop {
		t.Errorf("shutdown: %s %s", hard[0].Result, hard[0].Text)
	}
	w.want(w.does(context.Background(), w.view(), "start", longer), "done started")
	if w.running() != "301" {
		t.Errorf("running: %s", w.running())
	}
	w.want(w.does(context.Background(), w.view(), "stop", longer), "done stopped")
}

// BenchmarkActions starts, shuts down and resets 60 VMs of a server that answers after 50 ms, one
// after the other and eight at the same time.
func BenchmarkActions(b *testing.B) {
	for _, action := range []string{"start", "shutdown", power.Rollback} {
		for _, atOnce := range []int{1, 8} {
			b.Run(fmt.Sprintf("%s/at-once-%d", action, atOnce), func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					w := newWorldWith(b, 60, nil, pvesim.Options{Latency: 50 * time.Millisecond})
					w.begins(action)
					v := w.view()
					before := w.sim.Counters().Requests
					b.StartTimer()
					r := Request{Action: power.Of(action), VMs: v.VMs, AtOnce: atOnce, Timeout: time.Minute, Name: Baseline, Report: func(One) {}}
					planned := v.Plan(r)
					if action == power.Rollback {
						var err error
						planned, err = v.PlanResets(context.Background(), r)
						expect(b, err)
					}
					ended, err := v.Run(context.Background(), r, planned)
					if err != nil || Count(ended, power.Done) != len(v.VMs) {
						b.Fatalf("%v, %d done", err, Count(ended, power.Done))
					}
					b.ReportMetric(float64(w.sim.Counters().Requests-before)/float64(len(v.VMs)), "requests/VM")
				}
			})
		}
	}
}

// begins brings all VMs into the state before an action of a benchmark.
func (w *world) begins(action string) {
	w.Helper()
	switch action {
	case "shutdown":
		w.sim.Change(func(s *pvesim.Seed) {
			for _, g := range s.Guests {
				if g.VMID > 300 && g.VMID < 400 {
					g.Running, g.Started = true, time.Now().Add(-time.Hour)
				}
			}
		})
	case power.Rollback:
		v := w.view()
		r := w.request(v, power.Snapshot, Baseline)
		r.AtOnce = 60
		_, err := v.Run(context.Background(), r, v.Plan(r))
		expect(w.TB, err)
	}
}
