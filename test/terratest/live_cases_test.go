package terratest

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"stackgen/test/page"
	"stackgen/test/terratest/lab"
)

// all matches the suites, for -run.
const all = "^Test(Module|Unit|Stack|Integration|StateLoss|Migration|Protected)$"

// TestLiveRun runs all suites on a cluster with other names: they pass, write only to
// their range, and leave the cluster unchanged.
func TestLiveRun(t *testing.T) {
	l := live(t)
	before := l.everything()
	l.suites(0, all, "7 of 7 suites ran, on: live cluster. DNS: the server 127.0.0.1.", "Passed: 7.")
	if after := l.everything(); !reflect.DeepEqual(before, after) {
		t.Errorf("the cluster was %v\nand now is %v", before, after)
	}
	if n := l.writes(); n < 50 {
		t.Errorf("there were only %d writes", n)
	}
}

// TestLiveOneNode checks that the migration suite is skipped and reported without a
// second node, and that no records are created without a zone.
func TestLiveOneNode(t *testing.T) {
	l := live(t)
	for _, name := range []string{"STACKGEN_TEST_NODE2", "STACKGEN_TEST_DNS_ZONE", "STACKGEN_TEST_DNS_SERVER"} {
		delete(l.env, name)
	}
	l.suites(0, "^Test(Migration|Integration)$", "1 of 7 suites ran, on: live cluster. DNS: none.", "Skipped: migration.")
}

// TestLiveFailure checks that suites that fail while they create, change or remove VMs
// leave nothing.
func TestLiveFailure(t *testing.T) {
	for _, fault := range []struct{ name, fault, suite string }{
		{"clone", `{"method":"POST","path":"/nodes/*/qemu/*/clone","after":1,"count":1,"do":"error","status":500,"message":"out of coffee"}`, "Stack"},
		{"config", `{"method":"PUT","path":"/nodes/*/qemu/*/config","count":1,"do":"error","status":500,"message":"out of coffee"}`, "StateLoss"},
		{"destroy", `{"method":"DELETE","path":"/pools","count":1,"do":"error","status":500,"message":"out of coffee"}`, "Integration"},
	} {
		t.Run(fault.name, func(t *testing.T) {
			l := live(t)
			before := l.everything()
			l.fault(fault.fault)
			l.suites(1, "^Test"+fault.suite+"$", "1 of 7 suites ran", "Failed: "+strings.ToLower(fault.suite)+".", "out of coffee")
			if after := l.everything(); !reflect.DeepEqual(before, after) {
				t.Errorf("the cluster was %v\nand now is %v", before, after)
			}
			l.writes()
		})
	}
}

// fault enables a fault of the simulator.
func (l *liveRun) fault(body string) {
	l.Helper()
	resp, err := l.cluster.Client().Post(l.cluster.Endpoint+"/_sim/faults", "application/json", strings.NewReader(body))
	l.do(err)
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode/100 != 2 {
		l.Fatalf("the fault: %s", resp.Status)
	}
}

// TestLiveRefuses checks that all problems of the variables are reported before anything
// is created.
func TestLiveRefuses(t *testing.T) {
	for _, refusal := range []struct {
		name string
		env  map[string]string
		says []string
	}{
		{"nothing", map[string]string{"PROXMOX_VE_ENDPOINT": "", "PROXMOX_VE_API_TOKEN": "", "STACKGEN_TEST_NODE": "", "STACKGEN_TEST_TEMPLATE": "", "STACKGEN_TEST_STORAGE": "",
			"STACKGEN_TEST_BRIDGE": "", "STACKGEN_TEST_VMIDS": "", "STACKGEN_TEST_PREFIX": ""},
			[]string{"PROXMOX_VE_ENDPOINT is not set", "PROXMOX_VE_API_TOKEN is not set", "STACKGEN_TEST_NODE is not set", `STACKGEN_TEST_TEMPLATE is ""`, "STACKGEN_TEST_STORAGE is not set",
				"STACKGEN_TEST_BRIDGE is not set", `STACKGEN_TEST_VMIDS is ""`, "STACKGEN_TEST_PREFIX is not set"}},
		{"values", map[string]string{"STACKGEN_TEST_VMIDS": "40000-40010", "STACKGEN_TEST_PREFIX": "Nightly_", "STACKGEN_TEST_NODE2": "alpha", "PROXMOX_VE_API_TOKEN": "root"},
			[]string{"STACKGEN_TEST_VMIDS is 40000-40010; it takes at least 100 VMIDs", `STACKGEN_TEST_PREFIX is "Nightly_"`, "STACKGEN_TEST_NODE2 is alpha, and so is", "PROXMOX_VE_API_TOKEN is not a token"}},
		{"token", map[string]string{"PROXMOX_VE_API_TOKEN": "root@pam!sim=11111111-0000-0000-0000-000000000000"}, []string{"does not answer the token of PROXMOX_VE_API_TOKEN", "401"}},
		{"node", map[string]string{"STACKGEN_TEST_NODE": "gamma"}, []string{"STACKGEN_TEST_NODE is gamma; the cluster has alpha, beta"}},
		{"things", map[string]string{"STACKGEN_TEST_STORAGE": "local", "STACKGEN_TEST_BRIDGE": "vmbr9", "STACKGEN_TEST_TEMPLATE": "100"},
			[]string{"STACKGEN_TEST_STORAGE local on node alpha is not active, not enabled, or holds no disk images", "STACKGEN_TEST_BRIDGE is vmbr9; node alpha has no bridge", "that is the VM mail, not a template"}},
		{"zone", map[string]string{"STACKGEN_TEST_DNS_ZONE": "other.test"}, []string{"STACKGEN_TEST_DNS_SERVER"}},
		{"key", map[string]string{"DNS_UPDATE_KEYSECRET": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}, []string{"rejects the key of STACKGEN_TEST_DNS_KEY_NAME"}},
		{"taken", map[string]string{"STACKGEN_TEST_VMIDS": "100-300", "STACKGEN_TEST_TEMPLATE": "777"}, []string{"must be free; there is already: 100 (mail), 200 (kept) of an earlier run, which the sweeper removes"}},
		{"stages", map[string]string{"SKIP_teardown": "1", "STACKGEN_LIVE": ""}, []string{"needs a cluster that outlives this run: set STACKGEN_LIVE=1"}},
	} {
		t.Run(refusal.name, func(t *testing.T) {
			l := live(t)
			for name, value := range refusal.env {
				l.env[name] = value
			}
			l.suites(1, all, refusal.says...)
			if n := l.writes(); n > 0 {
				t.Errorf("there were %d writes", n)
			}
		})
	}
}

// signalled starts a suite, and sends a signal to all its processes after it has created
// two VMs. It returns the output.
func (l *liveRun) signalled(signal syscall.Signal) string {
	l.Helper()
	binary, err := os.Executable()
	l.do(err)
	c := l.command(binary, "-test.run", "^TestProtected$")
	var said strings.Builder
	c.Stdout, c.Stderr = &said, &said
	c.WaitDelay = time.Second // tools may continue and keep its output open
	l.do(c.Start())
	ended := make(chan struct{})
	go func() { _ = c.Wait(); close(ended) }()
	for len(l.tagged()) < 2 {
		select {
		case <-ended:
			l.Fatalf("the run ended before it created two VMs\n%s", said.String())
		case <-time.After(20 * time.Millisecond):
		}
	}
	l.do(syscall.Kill(-c.Process.Pid, signal))
	<-ended
	for len(session(c.Process.Pid)) > 0 { // the tools end by themselves
		time.Sleep(20 * time.Millisecond)
	}
	return said.String()
}

// TestLiveInterrupted interrupts a run like Ctrl-C. It must remove what it created.
func TestLiveInterrupted(t *testing.T) {
	l := live(t)
	before := l.everything()
	if said := l.signalled(syscall.SIGINT); !strings.Contains(said, "Failed: protected.") {
		t.Errorf("the run has not failed\n%s", said)
	}
	if after := l.everything(); !reflect.DeepEqual(before, after) {
		t.Errorf("the cluster was %v\nand now is %v", before, after)
	}
	if left, err := os.ReadDir(l.temp); err != nil || len(left) > 0 {
		t.Errorf("it left %v (%v)", left, err)
	}
}

// TestLiveKilled kills a run that has created VMs. The sweeper must remove the VMs with
// the tag in the range, and nothing else.
func TestLiveKilled(t *testing.T) {
	l := live(t)
	before := l.everything()
	l.signalled(syscall.SIGKILL)
	left := l.tagged()
	if len(left) == 0 {
		t.Fatal("the run left nothing, so the test proves nothing")
	}
	l.call(http.MethodPost, "/nodes/beta/qemu", url.Values{"vmid": {"40050"}, "name": {"somebodys"}})
	l.call(http.MethodPost, "/pools", url.Values{"poolid": {"nightly-old"}, "comment": {lab.Comment}})
	l.call(http.MethodPost, "/pools", url.Values{"poolid": {"nightly-mine"}})
	before["40050"] = l.everything()["40050"]
	would := l.sweep("-n")
	if !slices.Equal(l.tagged(), left) {
		t.Error("sweep -n has removed something")
	}
	did := l.sweep()
	for _, id := range left {
		if !strings.Contains(would, "would remove VM "+id) || !strings.Contains(did, "removed VM "+id) {
			t.Errorf("VM %s is not in\n%s%s", id, would, did)
		}
	}
	for _, text := range []string{"removed pool nightly-old", "kept VM 40050 (somebodys) on beta: it is not the suites'", "kept pool nightly-mine: it is not the suites'"} {
		if !strings.Contains(did, text) {
			t.Errorf("the output lacks: %s\n%s", text, did)
		}
	}
	l.call(http.MethodDelete, "/pools/nightly-mine", nil)
	if after := l.everything(); !reflect.DeepEqual(before, after) {
		t.Errorf("the cluster was %v\nand now is %v", before, after)
	}
}

// TestLiveSweep runs the sweeper as docs/guides/own-cluster.md shows it, where a killed run
// has left a VM, and somebody else has one in the range.
func TestLiveSweep(t *testing.T) {
	l := live(t)
	l.call(http.MethodPost, "/nodes/alpha/qemu", url.Values{"vmid": {"40060"}, "name": {"nightly-protected-keep"}, "tags": {lab.Tag}})
	l.call(http.MethodPost, "/nodes/beta/qemu", url.Values{"vmid": {"40050"}, "name": {"somebodys"}})
	blocks, err := page.Read("../../docs/guides/own-cluster.md")
	l.do(err)
	wrong, err := page.Run(t.Context(), page.Shell{Dir: "../..", Env: l.command("sh").Env}, blocks, "TestLiveSweep")
	l.do(err)
	for _, w := range wrong {
		t.Error(w)
	}
	all := l.everything()
	if all["40060"] != nil || all["40050"] == nil {
		t.Errorf("after the sweep, the cluster has %v", all)
	}
}

func (l *liveRun) call(method, path string, form url.Values) {
	l.Helper()
	_, err := l.cluster.Call(l.Context(), method, path, form)
	l.do(err)
}

// tagged are the VMIDs in the range with the tag.
func (l *liveRun) tagged() []string {
	l.Helper()
	guests, err := l.cluster.Guests(l.Context())
	l.do(err)
	var ids []string
	for _, g := range guests {
		config, err := l.cluster.Config(l.Context(), g)
		l.do(err)
		if slices.Contains(config.Tags(), lab.Tag) {
			ids = append(ids, fmt.Sprint(g.VMID))
		}
	}
	slices.Sort(ids)
	return ids
}

// sweep runs the sweeper and returns its output.
func (l *liveRun) sweep(args ...string) string {
	l.Helper()
	out, err := l.command("go", append([]string{"run", "./sweep"}, args...)...).CombinedOutput()
	if err != nil {
		l.Fatalf("sweep: %v\n%s", err, out)
	}
	return string(out)
}
