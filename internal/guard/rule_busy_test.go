package guard

import (
	"fmt"
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// TestBusy checks what each lock and task blocks: nothing that no planned write meets,
// and everything that one meets.
func TestBusy(t *testing.T) {
	const id = 100
	for _, c := range []struct {
		lock, task string
		taskID     int
		want       blocks
	}{
		{"", "", 0, nothing},
		{"backup", "", 0, changes}, {"backup", "vzdump", id, changes}, {"backup", "vzdump", 0, changes},
		{"", "vzdump", 0, nothing}, {"", "vzdump", id, changes},
		{"migrate", "qmigrate", id, changes}, {"snapshot", "qmsnapshot", id, changes}, {"snapshot-delete", "", 0, changes},
		{"suspending", "qmsuspend", id, changes}, {"suspended", "", 0, changes},
		{"", "qmstart", id, changes}, {"", "qmshutdown", id, changes}, {"", "qmconfig", id, changes}, {"", "qmclone", id, changes}, {"", "unheard-of", id, changes},
		{"clone", "qmclone", 9000, all}, {"clone", "", 0, all}, {"create", "qmcreate", id, all}, {"rollback", "qmrollback", id, all}, {"", "qmdestroy", id, all}, {"unheard-of", "", 0, all},
		{"", "vncproxy", id, nothing}, {"", "spiceproxy", id, nothing}, {"", "termproxy", id, nothing}, {"", "vncshell", 0, nothing}, {"", "qmclone", 9000, nothing}, {"", "qmigrate", 101, nothing},
	} {
		input := func(state ...tf.Resource) Input {
			g := newGuest(id, "web1")
			g.Lock = c.lock
			in := input(state, g)
			if c.task != "" {
				in.Inventory.Tasks = []cluster.Task{{UPID: "UPID:pve1:0:0:0:" + c.task + "::root@pam:", Node: "pve1", Type: c.task, VMID: c.taskID, User: "root@pam"}}
			}
			return in
		}
		unchanged, retired, destroyed, adopted := input(inState("web1", id)), input(inState("web1", id)), input(inState("web1", id)), input()
		retired.Lock.Stacks[0].Value.VMs[0].Value.Status = lock.Retired
		retired.Project.Stacks[0].VMs = retired.Project.Stacks[0].VMs[1:]
		destroyed.Destroy = true
		for _, run := range []struct {
			name  string
			found finding.Finding
			stops bool
		}{
			{"unchanged", Judge(unchanged)[0], c.want == all},
			{"changed", judgeUpdate(t, unchanged, id), c.want > nothing},
			{"adopted", Judge(adopted)[0], c.want == all},
			{"retired", Judge(retired)[0], c.want > nothing},
			{"destroyed", Judge(destroyed)[0], c.want > nothing},
		} {
			if run.found.Stops() != run.stops || run.stops && run.found.Kind != finding.Busy {
				t.Errorf("lock %q, task %s %d, %s: %s, severity %s, %s", c.lock, c.task, c.taskID, run.name, run.found.Kind, run.found.Severity, run.found.Reason)
			}
		}
		if f := Judge(adopted)[0]; c.want < all && (f.Kind != finding.Adopt || f.Import == "") {
			t.Errorf("lock %q, task %s %d: an adoption is %s and imports %q", c.lock, c.task, c.taskID, f.Kind, f.Import)
		}
	}
}

// TestDestroyDuringClone: a destroy waits for the clone of a VM that no state has yet, and
// does nothing about one that no task completes any more.
func TestDestroyDuringClone(t *testing.T) {
	for name, c := range map[string]struct {
		lock, task string
		want       string
		stops      bool
	}{
		"it runs":           {"clone", "qmclone", "web1 busy", true},
		"it was killed":     {"clone", "", "web1 busy", false},
		"somebody else's":   {"", "", "", false},
		"a backup of these": {"backup", "vzdump", "", false},
	} {
		g := newGuest(100, "")
		g.Lock, g.Config = c.lock, nil
		in := input(nil, g)
		in.Destroy = true
		if c.task != "" {
			in.Inventory.Tasks = []cluster.Task{{UPID: "UPID:pve1:0:0:0:" + c.task + ":9000:root@pam:", Node: "pve1", Type: c.task, VMID: 9000, User: "root@pam"}}
		}
		found := Judge(in)
		if got := words(found); got != c.want || (finding.Exit(found) != finding.OK) != c.stops {
			t.Errorf("%s: %q, exit %d", name, got, finding.Exit(found))
		}
	}
}

// TestLeaves: the step that retires a VM names the place of its spec that has it. Of a group, members with a higher number stay.
func TestLeaves(t *testing.T) {
	for path, want := range map[string]string{"vms.a": "from vms in", "teacher": "remove `teacher` from", "students": "lower `count` of `students`", "students Ana": "from the roster of"} {
		v := &schema.VM{Key: "a"}
		v.Path, v.Member, _ = strings.Cut(path, " ")
		if got, _ := Leaves(nil, v, []string{"a"}, "specs/x.yaml"); !strings.Contains(got, want) || !strings.Contains(got, "specs/x.yaml") {
			t.Errorf("%s: %s", path, got)
		}
	}
	var members []*schema.VM
	for n, path := range []string{"vms.a", "groups.web", "groups.web.overrides.web2", "groups.web", "groups.other"} {
		own, problems := schema.ParseYAML("", fmt.Appendf(nil, `{memory: %d, tags: [a, "1"], description: "x: # \"y\"", on_boot: true, serial: []}`, n))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		members = append(members, &schema.VM{Key: fmt.Sprint("web", n), Path: path, Name: fmt.Sprint("n", n), Own: own})
	}
	const set, entry = "set `count` of groups.web in specs/x.yaml to ", `web%[1]d: {memory: %[1]d, tags: [a, "1"], description: "x: # \"y\"", on_boot: true, serial: [], name: n%[1]d}`
	const write = ", write its members that stay under vms instead, remove them from its `overrides`, and retire it there\n"
	for leaving, want := range map[string]string{
		"web3":           set + "2 and retire it there",
		"web2 web3":      set + "1 and retire it there",
		"web1 web2 web3": set + "0 and retire it there",
		"web2":           set + "1" + write + fmt.Sprintf(entry, 3),
		"web1":           set + "0" + write + fmt.Sprintf(entry, 2) + "\n" + fmt.Sprintf(entry, 3),
	} {
		text, entries := Leaves(members, members[2], strings.Fields(leaving), "specs/x.yaml")
		if got := strings.Join(append([]string{text}, entries...), "\n"); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", leaving, got, want)
		}
	}
}

// judgeUpdate is the finding about a VM whose plan changes it.
func judgeUpdate(t *testing.T, in Input, vmid int) finding.Finding {
	t.Helper()
	body := fmt.Sprintf(`{"format_version":"1.2","resource_changes":[{"address":%q,"mode":"managed","type":%q,"index":"web1","change":{"actions":["update"],"before":{"vm_id":%d},"after":{"vm_id":%d}}}]}`,
		inState("web1", vmid).Address, guest.VMResource, vmid, vmid)
	return judgePlanOf(t, in, body)
}

// judgePlanOf is the first finding about the stack lab with a plan of its VMs.
func judgePlanOf(t *testing.T, in Input, body string) finding.Finding {
	t.Helper()
	plan, err := tf.ParsePlan([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	found := Judge(in)
	planned, _, err := JudgePlan(in, found, tf.VMUnit("lab"), plan)
	if err != nil {
		t.Fatal(err)
	}
	return Merge(found, planned)[0]
}

// TestMigratingBlocksUnlessProfileIgnoresNode checks that a profile that manages the
// node waits for the end of a migration: its plan would replace the VM.
func TestMigratingBlocksUnlessProfileIgnoresNode(t *testing.T) {
	for ignored, want := range map[string]finding.Severity{"node_name": finding.OK, "tags": finding.Blocked} {
		g := newGuest(100, "web1")
		g.Lock = "migrate"
		in := input([]tf.Resource{inState("web1", 100)}, g)
		in.Project.Profiles[0].IgnoreChanges = []string{ignored}
		if f := Judge(in)[0]; f.Severity != want {
			t.Errorf("a profile that ignores %s: %s, want %s: %s", ignored, f.Severity, want, f.Reason)
		}
	}
}

func busyCases() []ruleCase {
	return []ruleCase{
		{"busy: not complete", both, func(s *scene) { s.guest().Lock = "create" }, "--source active\npvesh get /nodes/pve1/qemu/100/config"},
		{"busy: not complete", both, func(s *scene) { s.guest().Lock = "create"; s.retire() }, "--source active\npvesh get /nodes/pve1/qemu/100/config"},
		{"busy: an apply would meet a task", both, func(s *scene) { s.guest().Lock, s.Destroy = "backup", true }, "qm unlock 100"},
		{"busy: an apply would meet a task", both, func(s *scene) { s.guest().Lock = "backup"; s.retire() }, "qm unlock 100"},
		{"busy: a clone that a destroy leaves", onlyGuest, func(s *scene) { s.guest().Lock, s.guest().Config, s.Destroy = "clone", nil, true }, "--source active\npvesh get /nodes/pve1/qemu/100/config"},
		{"busy: not complete", onlyGuest, func(s *scene) { s.guest().Lock = "clone"; s.begun() }, "--source active\npvesh delete /nodes/pve1/qemu/100 --skiplock 1"},
		{"busy: its protection is on", both, func(s *scene) { s.guest().Config.Raw, s.Destroy = map[string]string{"protection": "1"}, true }, "--protection 0"},
		{"busy: its protection is on", both, func(s *scene) { s.guest().Config.Raw = map[string]string{"protection": "1"}; s.retire() }, "--protection 0"},
	}
}
