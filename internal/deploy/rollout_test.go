package deploy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"stackgen/internal/check"
	"stackgen/internal/cluster"
	"stackgen/internal/guard"
	"stackgen/internal/health"
	"stackgen/internal/lock"
	"stackgen/internal/project"
	"stackgen/internal/rollout"
	"stackgen/schema"
)

// TestWaving: the spec says how a stack is rebuilt, and each option overrides its part of it.
func TestWaving(t *testing.T) {
	spec := &schema.Rollout{Wave: "25%", Canary: []schema.ListItem{{Name: "a"}}, Agent: true, TCP: []int{22}, Timeout: "90s", Pause: "10m"}
	for name, c := range map[string]struct {
		spec *schema.Rollout
		line Rollout
		want string
	}{
		"nothing":         {nil, Rollout{}, "{0 0} [] <nil> 0s"},
		"the spec":        {spec, Rollout{}, "{0 25} [a] {true [22] 1m30s} 10m0s"},
		"only a wave":     {nil, Rollout{Wave: "5"}, "{5 0} [] {true [] 5m0s} 0s"},
		"another wave":    {spec, Rollout{Wave: "5"}, "{5 0} [a] {true [22] 1m30s} 10m0s"},
		"no pause":        {spec, Rollout{Pause: "0s"}, "{0 25} [a] {true [22] 1m30s} 0s"},
		"another canary":  {spec, Rollout{Canary: []string{"b"}}, "{0 25} [b] {true [22] 1m30s} 10m0s"},
		"another check":   {spec, Rollout{Healthy: []string{"tcp:80", "tcp:443"}}, "{0 25} [a] {false [80 443] 1m30s} 10m0s"},
		"no check":        {spec, Rollout{Healthy: []string{"none"}, Timeout: "1s"}, "{0 25} [a] {false [] 1s} 10m0s"},
		"none and others": {spec, Rollout{Healthy: []string{"none", "agent"}}, "error"},
		"a bad port":      {spec, Rollout{Healthy: []string{"tcp:70000"}}, "error"},
		"a bad wave":      {spec, Rollout{Wave: "0"}, "error"},
		"a bad pause":     {spec, Rollout{Pause: "-1s"}, "error"},
		"a bad time":      {&schema.Rollout{Timeout: "99999999999h"}, Rollout{}, "error"},
	} {
		w, err := c.line.waving(&schema.Stack{Name: "lab", Rollout: c.spec})
		if err == nil {
			for _, vm := range []string{"lab/a", "lab/b"} {
				if _, key, _ := strings.Cut(vm, "/"); len(c.line.Canary) > 0 && isCanary(vm, c.line.Canary[0]) {
					w.canary = append(w.canary, key)
				}
			}
		}
		got := fmt.Sprint(w.size, w.canary, " ", nil, " ", w.pause)
		if w.rule != nil {
			got = fmt.Sprint(w.size, w.canary, " ", *w.rule, " ", w.pause)
		}
		if err != nil {
			got = "error"
		}
		if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(c.want), " ") {
			t.Errorf("%s: %s, want %s (%v)", name, got, c.want, err)
		}
	}
}

// TestCut: a wave has exactly its VMs, and its name says what it is.
func TestCut(t *testing.T) {
	b := &rebuilding{stack: &stack{name: "lab"}}
	for _, key := range strings.Fields("a b c d") {
		b.Replaced = append(b.Replaced, guard.Replacement{Granted: guard.Granted{Key: key}})
	}
	w, err := (&Rollout{Wave: "50%"}).waving(&schema.Stack{Name: "lab"})
	if err != nil {
		t.Fatal(err)
	}
	w.canary = []string{"c"}
	b.cut(w, []string{"lab/d", "other/a"}, 6)
	var got []string
	for i := range b.waves {
		got = append(got, fmt.Sprint(b.waveName(i), b.only(b.waves[i]).keys()))
	}
	if is := strings.Join(got, "; "); is != "wave 1 of 3 (again)[d]; wave 2 of 3 (canary)[c]; wave 3 of 3[a b]" {
		t.Error(is)
	}
	if len(b.keys()) != 4 || b.waveOf("d") != 0 || b.waveOf("b") != 2 {
		t.Errorf("%v", b.waves)
	}
	b.cut(waving{}, nil, 4)
	if len(b.waves) != 1 || b.waveName(0) != "" {
		t.Errorf("without a rollout: %v", b.waves)
	}
}

// TestHalted: what a rollout says that ends in a wave, or before it.
func TestHalted(t *testing.T) {
	b := &rebuilding{stack: &stack{name: "lab"}, waves: []rollout.Wave{{Keys: []string{"a"}, Canary: true}, {Keys: []string{"b", "c"}}}}
	var out strings.Builder
	r := &run{Request: Request{Out: &out}}
	for _, begun := range []bool{true, false} {
		for i := range b.waves {
			if err := r.halted(b, i, begun); err != nil {
				t.Fatal(err)
			}
		}
	}
	const want = "stopped in wave 1 of 2 (canary) of lab; as they were: b, c\nstopped in wave 2 of 2 of lab\n" +
		"stopped before wave 1 of 2 (canary) of lab; as they were: a, b, c\nstopped before wave 2 of 2 of lab; as they were: b, c\n"
	if out.String() != want {
		t.Error(out.String())
	}
}

// TestConfirmed: a wave replaces what was confirmed, wherever the spec has it written now.
func TestConfirmed(t *testing.T) {
	values := func(text string) *schema.VM {
		n, problems := schema.ParseYAML("", []byte(text))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		return &schema.VM{Values: n}
	}
	disks := map[string]string{"scsi0": "local-lvm:vm-100-disk-0,size=8G", "ide2": "local:iso/x.iso,media=cdrom"}
	more := map[string]string{"scsi0": disks["scsi0"], "unused0": "local-lvm:vm-100-disk-1"}
	has := func(raw map[string]string) *cluster.Guest { return &cluster.Guest{Config: &cluster.Config{Raw: raw}} }
	vm := func(template int, text string) guard.Replacement {
		return guard.Replacement{Granted: guard.Granted{Key: "a", VMID: 100, Template: template}, VM: values(text), Guest: has(disks)}
	}
	lent := vm(9000, "{cores: 2, tags: [x]}")
	lent.Guest = has(more)
	all := &rebuilding{Rebuild: guard.Rebuild{Replaced: []guard.Replacement{vm(9000, "{cores: 2, tags: [x]}")}}}
	for name, c := range map[string]struct {
		now  []guard.Replacement
		want bool
	}{
		"the same":           {[]guard.Replacement{vm(9000, "\n\ncores: 2\ntags:\n- x\n")}, true},
		"another template":   {[]guard.Replacement{vm(9001, "{cores: 2, tags: [x]}")}, false},
		"another value":      {[]guard.Replacement{vm(9000, "{cores: 4, tags: [x]}")}, false},
		"one value more":     {[]guard.Replacement{vm(9000, "{cores: 2, tags: [x, y]}")}, false},
		"one volume more":    {[]guard.Replacement{lent}, false},
		"nothing is left":    {nil, false},
		"one that is unlike": {[]guard.Replacement{{Granted: guard.Granted{Key: "b", VMID: 100, Template: 9000}, VM: values("{}")}}, false},
	} {
		b := &rebuilding{Rebuild: guard.Rebuild{Replaced: c.now}}
		if got := b.confirmed(all, []string{"a"}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestKnowsWaves: waves that neither the spec nor the command line describes are not gone on with.
func TestKnowsWaves(t *testing.T) {
	l := &lock.Lock{}
	vms := []lock.Entry[lock.VM]{{Key: "a", Value: lock.VM{VMID: 100, Rebuild: &lock.Rebuild{UUID: "u1", Waits: true}}}}
	l.Stacks = append(l.Stacks, lock.Entry[lock.Stack]{Key: "lab", Value: lock.Stack{VMs: vms}})
	r := &run{p: &project.Project{Lock: l}, stacks: []*stack{{name: "lab"}, {name: "other"}}}
	if err := r.knowsWaves(Order{}); err == nil || !strings.Contains(err.Error(), "--wave 2 --healthy agent") {
		t.Error(err)
	}
	if err := r.knowsWaves(Order{wavings: map[string]waving{"lab": {rule: &health.Rule{}}}}); err != nil {
		t.Error(err)
	}
	if vms[0].Value.Rebuild.Apart = true; r.knowsWaves(Order{}) != nil { // only because it keeps a disk
		t.Error("an order without waves has some")
	}
}

// TestNotHealthy: only a VM of which the cluster says how it is can be rebuilt once more.
func TestNotHealthy(t *testing.T) {
	bad, silent := health.Unhealthy{Name: "lab/a", Why: "no agent"}, health.Unhealthy{Name: "lab/b", Why: "no answer", Unread: true}
	const again = "\nthen run the same command again:\n  > stackgen rebuild lab --continue\n"
	for want, list := range map[string][]health.Unhealthy{
		"no other VM is rebuilt before lab/a is healthy: repair it, or rebuild it once more:\n  > stackgen rebuild lab/a --continue" + again:              {bad},
		"no other VM is rebuilt before lab/b is healthy: repair it" + again:                                                                               {silent},
		"no other VM is rebuilt before lab/a, lab/b are healthy: repair them, or rebuild lab/a once more:\n  > stackgen rebuild lab/a --continue" + again: {bad, silent},
	} {
		var out strings.Builder
		r := &run{p: &project.Project{Root: "."}, Request: Request{Out: &out, Line: "stackgen rebuild lab --continue"}}
		if err := r.notHealthy(list, &Order{}); !errors.As(err, &ended{}) || out.String() != want {
			t.Errorf("%v\ngot  %s\nwant %s", err, out.String(), want)
		}
	}
}

// TestHowToGoOn: a command that has just rebuilt a VM that is not healthy is not simply run again.
func TestHowToGoOn(t *testing.T) {
	for _, c := range []struct {
		again  bool
		failed []string
		want   string
	}{
		{false, nil, "to go on"},
		{false, []string{"a"}, "to go on"},
		{true, nil, "to go on"},
		{true, []string{"a"}, "a is not healthy: find out why, and repair the cause. Then, to rebuild it once more and go on"},
		{true, []string{"a", "b"}, "a, b are not healthy: find out why, and repair the cause. Then, to rebuild them once more and go on"},
	} {
		if got := (&Order{Continue: c.again}).howToGoOn(&lock.Rollout{Unhealthy: c.failed}); got != c.want {
			t.Errorf("%v: %s", c, got)
		}
	}
}

// TestLeaves: of the VMs that a run has replaced, those that are not complete are completed; the others
// only if nothing else verifies them.
func TestLeaves(t *testing.T) {
	for name, c := range map[string]struct {
		left, replaced string
		want           string // left, and half
	}{
		"nothing else":      {"", "", "[a b c] [b]"},
		"others":            {"", "d", "[b] [b]"},
		"a creation ended":  {"a", "d", "[a b] [a b]"},
		"a guest that went": {"x", "d", "[x b] [b]"},
	} {
		b := &rebuilding{stack: &stack{name: "lab", unfinished: check.Begun{"b": {VMID: 101}}}}
		b.Done, b.Left = strings.Fields("a b c"), strings.Fields(c.left)
		for _, key := range strings.Fields(c.replaced) {
			b.Replaced = append(b.Replaced, guard.Replacement{Granted: guard.Granted{Key: key}})
		}
		b.leaves()
		slices.Sort(b.half)
		if got := fmt.Sprint(b.Left, b.half); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestIsTemplate: a word names a template by its VMID, its name, or its name and release.
func TestIsTemplate(t *testing.T) {
	of := &lock.Template{VMID: 9001, Name: "debian", Release: "13.2"}
	for word, want := range map[string]bool{
		"9001": true, "9000": false, "debian": true, "debian@13.2": true, "debian@13": false, "ubuntu": false, "": false, "@13.2": false,
	} {
		if isTemplate(of, word) != want {
			t.Errorf("%q: %v", word, !want)
		}
	}
	if isTemplate(nil, "9001") || isTemplate(&lock.Template{VMID: 9001}, "") || templateText("debian@13.2") != `{name: debian, release: "13.2"}` {
		t.Error("a template that is not known, or the text of one")
	}
}
