package deploy

import (
	"strings"
	"testing"

	"stackgen/internal/check"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/guard"
	"stackgen/internal/live"
	"stackgen/internal/lock"
	"stackgen/internal/progress"
	"stackgen/internal/project"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// TestActionsInOrder checks that a summary names VMs as people count.
func TestActionsInOrder(t *testing.T) {
	a := &announcement{}
	for _, id := range []string{"b/teacher", "b/student1", "b/student10", "b/student2", "a/x"} {
		stack, key, _ := strings.Cut(id, "/")
		a.changes = append(a.changes, tf.Summary{Unit: tf.Unit{Stack: stack}, Type: finding.VM, Key: key, Action: tf.Create})
	}
	var got []string
	for _, action := range a.actions() {
		got = append(got, action.Stack+"/"+action.Name)
	}
	if want := "b/student1 b/student2 b/student10 b/teacher a/x"; strings.Join(got, " ") != want {
		t.Errorf("the order is %s, want %s", strings.Join(got, " "), want)
	}
}

// TestStarts: a guest that is started is in the summary and in the view, where it is counted and known by its VMID.
func TestStarts(t *testing.T) {
	of := func(unit, key string, vmid int) finding.Finding {
		return finding.Finding{Address: finding.Address{Stack: "lab", Unit: unit, Type: finding.VM, Key: key}, Object: finding.Object{VMID: vmid, Node: "pve1"}}
	}
	off := []finding.Finding{of(lock.UnitVM, "a", 300), of(lock.UnitContainer, "c", 301)}
	a := &announcement{starts: startsOf(off, check.Stopped{"c": 301})}
	var got []string
	for _, row := range a.actions() {
		got = append(got, row.Word+" "+row.What+" "+row.Name+", "+row.Detail)
	}
	want := "start VM a, made by a run that was interrupted; start container c, stopped by a run that did not start it again"
	if strings.Join(got, "; ") != want {
		t.Errorf("the summary has %s", strings.Join(got, "; "))
	}
	items := a.items()
	if len(items) != 2 || items[0].Action != progress.Start || !items[0].Planned || items[0].Name() != "VM a (VMID 300, node pve1)" ||
		items[1].Name() != "container c (VMID 301, node pve1)" {
		t.Fatalf("the view has %+v", items)
	}
	var out strings.Builder
	v, err := live.Open(live.Plain, &out, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v.Start(progress.Plan{Command: "apply", Items: items})
	if err := v.End(1, ""); err != nil || !strings.HasPrefix(out.String(), "[   0 s] apply: start 2 guests\n") {
		t.Errorf("%v, and the run says\n%s", err, out.String())
	}
}

// TestLeftRows: the rows of VMs that a rebuild completes have their VMIDs and nodes, which the lines about a failure need.
func TestLeftRows(t *testing.T) {
	l := &lock.Lock{Stacks: lock.Ordered[lock.Stack]{{Key: "lab", Value: lock.Stack{
		VMs: lock.Ordered[lock.VM]{{Key: "a", Value: lock.VM{VMID: 300, Node: "pve1"}}, {Key: "b", Value: lock.VM{VMID: 301, Node: "pve2"}}}}}}}
	r := &run{p: &project.Project{Lock: l}}
	items := r.announceRebuild([]*rebuilding{{stack: &stack{name: "lab"}, Rebuild: guard.Rebuild{Left: []string{"a"}, Lost: []string{"b"}}}}).items()
	if len(items) != 2 || items[0].Name() != "VM a (VMID 300, node pve1)" || items[1].Name() != "VM b (VMID 301, node pve2)" {
		t.Errorf("%+v", items)
	}
}

// TestRebuildDetail: the row of a VM that is rebuilt says what it loses, and ends without it where nothing was read.
func TestRebuildDetail(t *testing.T) {
	b := &rebuilding{stack: &stack{name: "lab"}}
	for _, key := range []string{"a", "b"} {
		b.Replaced = append(b.Replaced, guard.Replacement{Granted: guard.Granted{Key: key, VMID: 300, Template: 9000}, Node: "pve1",
			Guest: &cluster.Guest{Node: "pve1"}, VM: &schema.VM{Name: "lab-" + key}})
	}
	var got []string
	for _, row := range b.actions(map[string]string{"lab/a": "no disks; no snapshots"}) {
		got = append(got, row.Detail)
	}
	if want := "VM 300 lab-a on pve1, from template 9000; no disks; no snapshots|VM 300 lab-b on pve1, from template 9000"; strings.Join(got, "|") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "|"), want)
	}
}

// TestThenNote: the summary of the Templates says that another question follows.
func TestThenNote(t *testing.T) {
	p := &project.Project{Stacks: &schema.Project{Stacks: []*schema.Stack{{Name: "base", Kind: schema.KindTemplate}, {Name: "web"}}}}
	for want, q := range map[string]Request{
		"": {},
		"this applies the Templates only; then web, db: a second summary and question follow": {Then: []string{"web", "db"}},
		"this applies the Templates only; then web: they follow with a summary of their own":  {Then: []string{"web"}, Yes: true},
	} {
		r := &run{Request: q, p: p, stacks: []*stack{{name: "base"}}}
		if got := strings.Join(r.thenNote(), ""); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	last := &run{Request: Request{Then: []string{"base"}}, p: p, stacks: []*stack{{name: "web"}}}
	if got := strings.Join(last.thenNote(), ""); got != "templates leave after these VMs; then base: a second summary and question follow" {
		t.Errorf("a Template that is last: %q", got)
	}
	if r := (&run{Request: Request{Then: []string{"web"}, DryRun: true}}); r.thenNote() != nil {
		t.Error("a dry run asks nothing")
	}
}
