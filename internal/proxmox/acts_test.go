package proxmox_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"stackgen/internal/cluster"
	"stackgen/internal/proxmox"
	"stackgen/internal/pvesim"
)

// logged is a task that ended in a minute of an hour.
func logged(node string, minute int, kind string, vmid int, owner, exit string) *pvesim.Task {
	end := time.Date(2026, 1, 1, 12, minute, 0, 0, time.UTC)
	user, token, _ := strings.Cut(owner, "!")
	return &pvesim.Task{UPID: fmt.Sprintf("UPID:%s:%08X:00000100:%08X:%s:%d:%s:", node, 4000+minute, end.Unix(), kind, vmid, owner), Node: node,
		PID: 4000 + minute, PStart: 256, Start: end.Add(-time.Second), End: end, Type: kind, ID: fmt.Sprint(vmid), User: user, Token: token, Exit: exit}
}

func loggedCluster(t *testing.T) *pvesim.Seed {
	t.Helper()
	seed := smallCluster(t)
	addAuditor(seed, false)
	seed.Tasks = []*pvesim.Task{
		logged("pve1", 1, "qmconfig", 201, "audit@pve!t", "OK"), // by an apply
		logged("pve1", 2, "qmconfig", 201, "root@pam", "OK"),
		logged("pve1", 3, "resize", 201, "root@pam", "disk is too small"),
		logged("pve1", 4, "qmconfig", 201, "kim@ldap", "error hot-unplugging device"),
		logged("pve1", 5, "qmigrate", 202, "root@pam", "OK"), // to pve2
		logged("pve2", 6, "vzdump", 202, "root@pam", "OK"),
		logged("pve2", 7, "qmstart", 202, "root@pam!other", "WARNINGS: 1"),
		logged("pve2", 8, "qmclone", 202, "root@pam", "OK"), // is the source
		logged("pve2", 9, "qmstop", 203, "root@pam", "OK"),  // is not wanted
	}
	return seed
}

// acts lists what is known of each VM, and the gaps.
func acts(of cluster.Acts, vmids ...int) string {
	var out []string
	for _, vmid := range vmids {
		for _, a := range of.Of[vmid] {
			out = append(out, fmt.Sprintf("%d %s %s %s %s", vmid, strings.TrimSuffix(strings.TrimPrefix(a.Time, "2026-01-01T12:"), ":00Z"), a.Task, a.User, a.Node))
		}
	}
	for _, g := range of.Gaps {
		out = append(out, "gap "+strings.TrimSpace(g.Path+" "+g.Privilege))
	}
	return strings.Join(out, "; ")
}

// TestReadActs checks which tasks are acts of others, that a migrated VM has those of
// its former node, and what is known without the privilege to see them.
func TestReadActs(t *testing.T) {
	both := "201 04 qmconfig kim@ldap pve1; 201 02 qmconfig root@pam pve1"
	moved := "202 07 qmstart root@pam!other pve2; 202 05 qmigrate root@pam pve1"
	for name, c := range map[string]struct {
		change func(*pvesim.Seed)
		nodes  string
		want   string
	}{
		"all":                 {func(s *pvesim.Seed) { grant(s, "/", "PVEAuditor", true) }, "pve2 pve1 pve1", both + "; " + moved},
		"one node":            {func(s *pvesim.Seed) { grant(s, "/", "PVEAuditor", true) }, "pve2", "202 07 qmstart root@pam!other pve2"},
		"privilege on one":    {func(s *pvesim.Seed) { grant(s, "/nodes/pve1", "PVEAuditor", true) }, "pve1 pve2", both + "; 202 05 qmigrate root@pam pve1; gap /nodes/pve2 Sys.Audit"},
		"no privilege":        {func(s *pvesim.Seed) { grant(s, "/vms", "PVEAuditor", true) }, "pve1 pve2", "gap /nodes Sys.Audit"},
		"no node":             {func(*pvesim.Seed) {}, "", ""},
		"a node that fails":   {func(s *pvesim.Seed) { grant(s, "/", "PVEAuditor", true); s.Nodes[1].State = pvesim.NodeDown }, "pve1 pve2", both + "; 202 05 qmigrate root@pam pve1; gap /nodes/pve2"},
		"a node that is gone": {func(s *pvesim.Seed) { grant(s, "/", "PVEAuditor", true) }, "pve1 pve9", both + "; 202 05 qmigrate root@pam pve1; gap /nodes/pve9"},
	} {
		t.Run(name, func(t *testing.T) {
			seed := loggedCluster(t)
			c.change(seed)
			s := start(t, pvesim.Options{Seed: seed})
			got := proxmox.ReadActs(t.Context(), configFor(t, s, "audit@pve!t"), strings.Fields(c.nodes), []int{201, 202})
			if text := acts(got, 201, 202, 203); text != c.want {
				t.Errorf("%s\nwant %s", text, c.want)
			}
			if n := s.Counters().Writes; n != 0 {
				t.Errorf("%d writes", n)
			}
			for _, g := range got.Gaps {
				if g.Privilege != "" && !strings.HasPrefix(g.Fix, "pveum acl modify /nodes") {
					t.Errorf("the gap %s is fixed by %q", g.Path, g.Fix)
				}
			}
		})
	}
}

// TestActsAreBounded fills the log of a node: one request reads it, and a VM has its last
// acts, with a request for the log of each.
func TestActsAreBounded(t *testing.T) {
	seed := loggedCluster(t)
	grant(seed, "/", "PVEAuditor", true)
	for i := 10; i < 50; i++ {
		seed.Tasks = append(seed.Tasks, logged("pve1", i, "qmconfig", 201, "root@pam", "OK"))
	}
	s := start(t, pvesim.Options{Seed: seed})
	s.ResetLog()
	got := proxmox.ReadActs(t.Context(), configFor(t, s, "audit@pve!t"), []string{"pve1"}, []int{201})
	if n := len(got.Of[201]); n != 5 || !strings.Contains(got.Of[201][0].Time, "12:49") {
		t.Errorf("%d acts: %v", n, got.Of[201])
	}
	if n := s.Counters().Requests; n != 3+5 {
		t.Errorf("%d requests", n)
	}
}

// TestActsWithoutCluster checks that a cluster that does not answer is a gap.
func TestActsWithoutCluster(t *testing.T) {
	s := start(t, pvesim.Options{Seed: loggedCluster(t)})
	if got := acts(proxmox.ReadActs(t.Context(), configFor(t, s, "nobody@pve!t"), []string{"pve1"}, []int{201}), 201); got != "gap /nodes" {
		t.Errorf("got %q", got)
	}
}
