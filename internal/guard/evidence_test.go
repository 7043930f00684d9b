package guard

import (
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
)

// TestDuration: an uptime is in its largest unit.
func TestDuration(t *testing.T) {
	for seconds, want := range map[int64]string{1: "1 second", 119: "119 seconds", 120: "2 minutes", 7200: "2 hours", 172800: "2 days"} {
		if got := duration(seconds); got != want {
			t.Errorf("%d: %s", seconds, got)
		}
	}
}

// TestDestroyByHand: the line works as it is pasted, and is not printed while a task may work on the guest.
func TestDestroyByHand(t *testing.T) {
	backup := cluster.Task{Type: "vzdump", VMID: 105, Node: "pve1", UPID: "UPID:x", User: "root@pam"}
	for name, c := range map[string]struct {
		kind   guest.Kind
		change func(*cluster.Guest)
		tasks  []cluster.Task
		what   string // of the first step
		want   string // lines of all steps
	}{
		"off":       {want: "pvesh delete /nodes/pve1/qemu/105", what: "destroy it, as root on a node"},
		"running":   {change: func(g *cluster.Guest) { g.Status = "running" }, want: "pvesh create /nodes/pve1/qemu/105/status/stop && pvesh delete /nodes/pve1/qemu/105"},
		"protected": {change: func(g *cluster.Guest) { g.Config.Raw["protection"] = "1" }, want: "pvesh set /nodes/pve1/qemu/105/config --protection 0 && pvesh delete /nodes/pve1/qemu/105"},
		"HA": {change: func(g *cluster.Guest) { g.HA, g.Status = "started", "running" },
			want: "ha-manager remove vm:105 && pvesh create /nodes/pve1/qemu/105/status/stop && pvesh delete /nodes/pve1/qemu/105"},
		"part of a clone": {change: func(g *cluster.Guest) { g.Lock, g.Config.Raw["protection"] = "clone", "1" },
			want: "pvesh get /nodes/pve1/tasks --source active\npvesh set /nodes/pve1/qemu/105/config --protection 0 --skiplock 1 && pvesh delete /nodes/pve1/qemu/105 --skiplock 1"},
		"container":                   {kind: guest.Container, want: "pvesh delete /nodes/pve1/lxc/105"},
		"container, HA":               {kind: guest.Container, change: func(g *cluster.Guest) { g.HA = "stopped" }, want: "ha-manager remove ct:105 && pvesh delete /nodes/pve1/lxc/105"},
		"container, part of a clone":  {kind: guest.Container, change: func(g *cluster.Guest) { g.Lock = "create" }, want: "pvesh get /nodes/pve1/tasks --source active\npct unlock 105 && pvesh delete /nodes/pve1/lxc/105"},
		"in a backup":                 {change: func(g *cluster.Guest) { g.Lock = "backup" }, tasks: []cluster.Task{backup}, want: "pvesh get /nodes/pve1/tasks/UPID:x/status"},
		"its backup is about to lock": {tasks: []cluster.Task{backup}, want: "pvesh get /nodes/pve1/tasks/UPID:x/status"},
		"migrating, by somebody else": {change: func(g *cluster.Guest) { g.Lock = "migrate" }, want: "pvesh get /nodes/pve1/tasks --source active\nqm unlock 105"},
	} {
		g := newGuest(105, "db")
		g.Config.Raw = map[string]string{}
		if c.kind != "" {
			g.Kind = c.kind
		}
		if c.change != nil {
			c.change(&g)
		}
		var f finding.Finding
		holdOn(&cluster.Inventory{Guests: []cluster.Guest{g}, Tasks: c.tasks}, &g).destroy(&f, "destroy it, %s")
		var lines []string
		for _, s := range f.Steps {
			for _, l := range s.Lines {
				lines = append(lines, l.String())
			}
		}
		if got := strings.Join(lines, "\n"); got != c.want || c.what != "" && f.Steps[0].What != c.what {
			t.Errorf("%s: got %q: %s, want %q: %s", name, f.Steps[0].What, got, c.what, c.want)
		}
	}
}
