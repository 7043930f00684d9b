package pvesim_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"stackgen/internal/pvesim"
)

// finished is a task on pve1 that ran from one second of a day to another.
func finished(start, end int, kind, id, owner, exit string) *pvesim.Task {
	user, token, _ := strings.Cut(owner, "!")
	from := epoch().Add(time.Duration(start) * time.Second)
	return &pvesim.Task{UPID: fmt.Sprintf("UPID:pve1:%08X:%08X:%08X:%s:%s:%s:", 5000+start, 700+start, from.Unix(), kind, id, owner), Node: "pve1",
		PID: 5000 + start, PStart: int64(700 + start), Start: from, End: epoch().Add(time.Duration(end) * time.Second), Type: kind, ID: id, User: user, Token: token, Exit: exit}
}

// taskCluster has tasks of two users. op has two tokens and no privilege.
func taskCluster(t *testing.T) *testSim {
	t.Helper()
	seed, err := pvesim.DefaultSeed()
	if err != nil {
		t.Fatal(err)
	}
	seed.Users = append(seed.Users, &pvesim.User{ID: "op@pve", Password: "op", Tokens: []*pvesim.Token{{ID: "a", Secret: "s"}, {ID: "b", Secret: "s"}}})
	seed.Tasks = []*pvesim.Task{
		finished(10, 90, "qmclone", "9000", "root@pam", "OK"),
		finished(20, 25, "qmconfig", "201", "op@pve!a", "OK"),
		finished(30, 35, "qmconfig", "201", "Op2@pve", "error in QEMU"),
		finished(40, 45, "qmstart", "201", "op@pve", "WARNINGS: 1"),
		finished(50, 55, "qmstart", "202", "op@pve!b", "unexpected status"),
	}
	return newTestSim(t, pvesim.Options{Seed: seed})
}

// login returns the header of a session.
func (b *testSim) login(user, password string) http.Header {
	b.t.Helper()
	body := url.Values{"username": {user}, "password": {password}}.Encode()
	r := b.sim.Do(context.Background(), pvesim.Request{Method: "POST", Path: "/api2/json/access/ticket",
		Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, Body: []byte(body)})
	var answer struct{ Data struct{ Ticket string } }
	if err := json.Unmarshal(r.Body, &answer); err != nil || answer.Data.Ticket == "" {
		b.t.Fatalf("login of %s: %d %s", user, r.Status, r.Reason)
	}
	return http.Header{"Cookie": {"PVEAuthCookie=" + url.PathEscape(answer.Data.Ticket)}}
}

// listed returns the start second of each task in a list, and the total.
func (b *testSim) listed(h http.Header, query string) string {
	b.t.Helper()
	r := b.sim.Do(context.Background(), pvesim.Request{Method: "GET", Path: "/api2/json/nodes/pve1/tasks?" + query, Header: h})
	var answer struct {
		Data []struct {
			Start int64 `json:"starttime"`
		}
		Total int
	}
	if err := json.Unmarshal(r.Body, &answer); err != nil || r.Status != 200 {
		b.t.Fatalf("%s: %d %s", query, r.Status, r.Reason)
	}
	var out []int64
	for _, k := range answer.Data {
		out = append(out, k.Start-epoch().Unix())
	}
	return fmt.Sprintf("%v of %d", out, answer.Total)
}

func token(id string) http.Header { return http.Header{"Authorization": {"PVEAPIToken=" + id + "=s"}} }

// TestTaskArchive compares the list of finished tasks with PVE::API2::Tasks of
// pve-manager: the task that ended last comes first, a limit of 0 lists none, warnings
// are no success, and the filter of users ignores case and tokens.
func TestTaskArchive(t *testing.T) {
	b := taskCluster(t)
	root := http.Header{"Authorization": {"PVEAPIToken=" + b.sim.Token()}}
	for query, want := range map[string]string{
		"":                              "[10 50 40 30 20] of 5",
		"limit=0":                       "[] of 5",
		"start=1&limit=2":               "[50 40] of 5",
		"start=9":                       "[] of 5",
		"vmid=201":                      "[40 30 20] of 3",
		"vmid=201&source=active":        "[] of 0",
		"vmid=201&source=all&limit=1":   "[40] of 3",
		"typefilter=qmstart":            "[50 40] of 2",
		"typefilter=qm":                 "[] of 0",
		"errors=1":                      "[50 40 30] of 3",
		"statusfilter=ok":               "[10 20] of 2",
		"statusfilter=warning,unknown":  "[50 40] of 2",
		"statusfilter=error":            "[30] of 1",
		"statusfilter=ok&errors=1":      "[50 40 30] of 3",
		"userfilter=OP@PVE":             "[50 40 20] of 3",
		"userfilter=op@pve!a":           "[] of 0",
		fmt.Sprintf("since=%d", at(30)): "[50 40 30] of 3",
		fmt.Sprintf("until=%d", at(20)): "[10 20] of 2",
		fmt.Sprintf("since=%d&vmid=201&limit=1", at(20)): "[40] of 3",
	} {
		if got := b.listed(root, query); got != want {
			t.Errorf("%q lists %s, want %s", query, got, want)
		}
	}
}

func at(second int64) int64 { return epoch().Unix() + second }

// TestTasksOfOthers checks who sees which tasks without Sys.Audit: a token its own, a
// user those of its tokens, too.
func TestTasksOfOthers(t *testing.T) {
	b := taskCluster(t)
	op := b.login("op@pve", "op")
	for _, c := range []struct {
		who  string
		h    http.Header
		want string
	}{{"a token", token("op@pve!a"), "[20] of 1"}, {"another token of the user", token("op@pve!b"), "[50] of 1"}, {"the user", op, "[50 40 20] of 3"}} {
		if got := b.listed(c.h, ""); got != c.want {
			t.Errorf("%s sees %s, want %s", c.who, got, c.want)
		}
	}
	upid := finished(20, 25, "qmconfig", "201", "op@pve!a", "OK").UPID
	for who, h := range map[int]http.Header{200: op, 403: token("op@pve!b")} {
		if r := b.sim.Do(context.Background(), pvesim.Request{Method: "GET", Path: "/api2/json/nodes/pve1/tasks/" + upid + "/status", Header: h}); r.Status != who {
			t.Errorf("the status of a task of a token: %d %s, want %d", r.Status, r.Reason, who)
		}
	}
}

// TestTaskArchiveForgets fills the archive of a node, which keeps its index and the one
// before: each has up to 50,000 bytes.
func TestTaskArchiveForgets(t *testing.T) {
	seed, err := pvesim.DefaultSeed()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1500 {
		seed.Tasks = append(seed.Tasks, finished(i, i, "qmstart", "201", "root@pam", "OK"))
	}
	line := len(seed.Tasks[0].UPID) + len(" 01234567 OK\n")
	each := 50000/line + 1
	b := newTestSim(t, pvesim.Options{Seed: seed})
	want := fmt.Sprintf("[1499] of %d", each+1500%each)
	if got := b.listed(http.Header{"Authorization": {"PVEAPIToken=" + b.sim.Token()}}, "limit=1"); got != want {
		t.Errorf("lists %s, want %s", got, want)
	}
}
