package pvesim_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"stackgen/internal/pvesim"
)

func (b *testSim) fault(f pvesim.Fault) {
	b.t.Helper()
	if err := b.sim.AddFault(&f); err != nil {
		b.t.Fatal(err)
	}
}

func TestFaultErrors(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	b.fault(pvesim.Fault{Method: "GET", Path: "/version", After: 1, Count: 1, Do: pvesim.DoError, Status: 500, Message: "out of luck"})
	want := []int{200, 500, 200}
	for i, w := range want {
		if r := b.do("GET", "/version"); r.Status != w {
			t.Errorf("request %d: %d, want %d", i, r.Status, w)
		}
	}
	b.fault(pvesim.Fault{Path: "/nodes/*/status", Do: pvesim.DoUnreachable})
	if r := b.do("GET", "/nodes/pve2/status"); r.Status != 595 || len(r.Body) != 0 {
		t.Errorf("unreachable: %d with %d bytes", r.Status, len(r.Body))
	}
	before := b.clk.Now()
	b.fault(pvesim.Fault{Path: "/cluster/nextid", Do: pvesim.DoLatency, Delay: 2 * time.Second})
	b.do("GET", "/cluster/nextid")
	if d := b.clk.Now().Sub(before); d < 2*time.Second {
		t.Errorf("latency took %s", d)
	}
	if err := b.sim.AddFault(&pvesim.Fault{Do: "nonsense"}); err == nil {
		t.Error("a fault with an unknown effect was accepted")
	}
}

func TestFaultProbabilityIsDeterministic(t *testing.T) {
	run := func() string {
		b := newTestSim(t, pvesim.Options{Number: 7})
		b.fault(pvesim.Fault{Path: "/version", Probability: 0.5, Do: pvesim.DoError, Status: 500})
		out := ""
		for range 40 {
			out += map[int]string{200: ".", 500: "x"}[b.do("GET", "/version").Status]
		}
		return out
	}
	first := run()
	if first != run() || !strings.Contains(first, "x") || !strings.Contains(first, ".") {
		t.Errorf("pattern %s", first)
	}
}

// A request that times out with 596 is executed nevertheless.
func TestRequestAfterTimeout(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	b.fault(pvesim.Fault{Method: "POST", Path: "/nodes/*/qemu/*/clone", Count: 1, Do: pvesim.DoTimeout})
	if r := b.do("POST", "/nodes/pve1/qemu/9002/clone", "newid", "210", "full", "0"); r.Status != 596 {
		t.Fatalf("status %d", r.Status)
	}
	if r := b.do("GET", "/nodes/pve1/qemu/210/config"); r.Status != 500 {
		t.Errorf("the guest exists before the timeout: %d", r.Status)
	}
	b.clk.Advance(5 * time.Second)
	if r := b.do("GET", "/nodes/pve1/qemu/210/config"); r.Status != 200 {
		t.Errorf("the clone was not executed: %d %s", r.Status, r.Reason)
	}
}

func TestKilledWorkerKeepsLock(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	b.fault(pvesim.Fault{Method: "POST", Path: "/nodes/*/qemu/*/clone", Count: 1, Do: pvesim.DoKillWorker})
	end, _ := b.task("POST", "/nodes/pve1/qemu/9002/clone", "newid", "211", "full", "1")
	if end != "unexpected status" {
		t.Errorf("ended %q", end)
	}
	if got := b.config("pve1", 211)["lock"]; got != "clone" {
		t.Errorf("lock %v", got)
	}
	if end, _ := b.task("POST", "/nodes/pve1/qemu/211/status/start"); end != "VM is locked (clone)" {
		t.Errorf("start ended %q", end)
	}
}

func TestClusterFaults(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	b.fault(pvesim.Fault{Path: "/version", Count: 1, Do: pvesim.DoNoQuorum})
	b.do("GET", "/version")
	b.clk.Advance(time.Minute)
	if r := b.do("POST", "/nodes/pve1/qemu", "vmid", "300"); r.Reason != "cluster not ready - no quorum?" {
		t.Errorf("create without quorum: %s", r.Reason)
	}
	for _, n := range []string{"pve2", "pve3"} {
		if err := b.sim.SetNode(n, pvesim.NodeOnline); err != nil {
			t.Fatal(err)
		}
	}
	b.clk.Advance(time.Minute)
	b.fault(pvesim.Fault{Path: "/version", Count: 1, Do: pvesim.DoFull, Storage: "local-lvm"})
	b.do("GET", "/version")
	if end, _ := b.task("POST", "/nodes/pve1/qemu/9002/clone", "newid", "212", "full", "1"); !strings.Contains(end, "No space left") {
		t.Errorf("clone to a full storage ended %q", end)
	}
	b.fault(pvesim.Fault{Method: "PUT", Count: 1, VMID: 123, Do: pvesim.DoLocked, Lock: "backup"})
	if r := b.do("PUT", "/nodes/pve3/qemu/123/config", "description", "x"); r.Reason != "VM is locked (backup)" {
		t.Errorf("locked: %s", r.Reason)
	}
	b.fault(pvesim.Fault{Path: "/version", Count: 1, Do: pvesim.DoRevoke, Token: "root@pam!sim"})
	if r := b.do("GET", "/version"); r.Status != 401 {
		t.Errorf("revoked token: %d", r.Status)
	}
}

func TestLostNodeReportsExpire(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	if err := b.sim.SetNode("pve3", pvesim.NodeLost); err != nil {
		t.Fatal(err)
	}
	find := func() map[string]any {
		for _, x := range b.data("GET", "/cluster/resources").([]any) {
			if m := x.(map[string]any); m["id"] == "qemu/123" {
				return m
			}
		}
		return nil
	}
	b.clk.Advance(60 * time.Second)
	if m := find(); m["name"] != "registry" || m["status"] != "running" {
		t.Errorf("after a minute: %v", m)
	}
	if r := b.do("GET", "/nodes/pve3/status"); r.Status != 595 || r.Reason != "No route to host" {
		t.Errorf("the node itself: %d %s", r.Status, r.Reason)
	}
	b.clk.Advance(300 * time.Second)
	if m := find(); m["name"] != nil || m["status"] != "unknown" {
		t.Errorf("after six minutes: %v", m)
	}
}

func TestControlEndpointAndLog(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	r := b.sim.Do(t.Context(), pvesim.Request{Method: "POST", Path: "/_sim/faults", Header: http.Header{},
		Body: []byte(`[{"path":"/version","do":"error","status":503,"delay":"1s","count":1}]`)})
	if r.Status != 200 {
		t.Fatalf("control: %d %s", r.Status, r.Reason)
	}
	if r := b.do("GET", "/version"); r.Status != 503 {
		t.Errorf("status %d", r.Status)
	}
	b.do("PUT", "/nodes/pve3/qemu/123/config", "description", "hello")
	if n := b.sim.Writes(123); n != 1 {
		t.Errorf("%d writes to 123", n)
	}
	if n := b.sim.Writes(9002); n != 0 {
		t.Errorf("%d writes to 9002", n)
	}
	if c := b.sim.Counters(); c.Requests != 2 || c.Writes != 1 {
		t.Errorf("counters %+v", c)
	}
	for _, e := range b.sim.Requests() {
		if strings.Contains(e.Who, "=") || strings.Contains(e.Path, "hello") {
			t.Errorf("the log contains a secret or a value: %+v", e)
		}
	}
}

// Requests may reach two servers in turn, one of which lags.
func TestAlternatingLists(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	name := func() any {
		for _, x := range b.data("GET", "/cluster/resources").([]any) {
			if m := x.(map[string]any); m["id"] == "qemu/123" {
				return m["name"]
			}
		}
		return nil
	}
	b.fault(pvesim.Fault{Path: "/cluster/resources", Do: pvesim.DoAlternate})
	name()
	b.data("PUT", "/nodes/pve3/qemu/123/config", "name", "renamed")
	b.clk.Advance(time.Minute)
	for _, want := range []string{"renamed", "registry", "renamed"} {
		if got := name(); got != want {
			t.Errorf("the list has %v, want %s", got, want)
		}
	}
}
