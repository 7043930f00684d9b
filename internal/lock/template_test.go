package lock

import (
	"slices"
	"strings"
	"testing"
)

// template is a Template of a release on some nodes, with more lines.
func template(release, nodes string, more ...string) string {
	return "apiVersion: stackgen/v1\nkind: Template\nname: base\nvmids: 9000-9049\ndatastore: local-lvm\ndownload: local\nrelease: \"" + release + "\"\nnodes: " + nodes +
		"\nimage: {url: \"https://images.example/" + release + "\", checksum: \"md5:00000000000000000000000000000000\", file_name: " + release + ".qcow2}\n" + strings.Join(more, "\n") + "\n"
}

// cloned is a stack whose VMs are made from it.
func cloned(vms string) string {
	return "apiVersion: stackgen/v1\nkind: Stack\nname: lab\nvmids: 100-199\ndefaults: {template: base, clone: linked}\nvms: " + vms + "\n"
}

// seenAll is a lock in which all VMs were seen.
func seenAll(l *Lock) *Lock {
	l = l.clone()
	for i := range l.Stacks {
		for k := range l.Stacks[i].Value.VMs {
			v := &l.Stacks[i].Value.VMs[k]
			v.Value.Fingerprint = &Fingerprint{UUID: v.Key}
		}
	}
	return l
}

// TestReplicaOnTheNode: a VM is made from the template on its node, or from the only one; which
// release that is stays in the lock.
func TestReplicaOnTheNode(t *testing.T) {
	first := decided(t, &Lock{}, nil, template("1", "[a, b]"), cloned("{x: {node: a}, y: {node: b}}"))
	if text := said(first); text != "" {
		t.Fatal(text)
	}
	of := func(r Result, key string) *VM { return r.Lock.Stacks.Get("lab").VMs.Get(key) }
	if x, y := of(first, "x").Template, of(first, "y").Template; x.VMID != 9000 || y.VMID != 9001 || y.Node != "b" || y.Release != "1" {
		t.Errorf("x from %+v, y from %+v", x, y)
	}

	// The newest release, for VMs that do not exist; one that exists keeps what it was made from.
	second := decided(t, first.Lock, nil, template("2", "[a, b]"), cloned("{x: {node: a}, y: {node: b}}"))
	if x := of(second, "x"); x.Template.Release != "2" || x.MadeFrom != nil {
		t.Errorf("x from %+v, made from %+v", x.Template, x.MadeFrom)
	}
	second = decided(t, seenAll(first.Lock), nil, template("2", "[a, b]"), cloned("{x: {node: a}, y: {node: b, template: {name: base, release: \"1\"}}, z: {node: b}}"))
	x, y, z := of(second, "x"), of(second, "y"), of(second, "z")
	if x.Template.Release != "2" || x.MadeFrom == nil || x.MadeFrom.Release != "1" {
		t.Errorf("x from %+v, made from %+v", x.Template, x.MadeFrom)
	}
	if y.Template.Release != "1" || y.MadeFrom != nil || z.Template.VMID != 9003 {
		t.Errorf("y from %+v, made from %+v; z from %+v", y.Template, y.MadeFrom, z.Template)
	}
	if text := said(second); !strings.Contains(text, "x") || strings.Contains(text, "no VM of the lock") {
		t.Error(text)
	}

	// On shared storage, one template is for all nodes.
	shared := decided(t, &Lock{}, nil, template("1", "[a]"), cloned("{x: {node: b}}"))
	if x := of(shared, "x").Template; said(shared) != "" || x.VMID != 9000 || x.Node != "a" {
		t.Errorf("%+v\n%s", x, said(shared))
	}
}

// TestReplicaProblems: what a VM cannot be made from.
func TestReplicaProblems(t *testing.T) {
	for name, c := range map[string]struct {
		old      string // a release that was made before
		template string
		vms      string
		want     string
	}{
		"no template on the node":  {"", template("1", "[a, b]"), "{x: {node: c}}", "error: VM x: release 1 of the Template base is not on node c"},
		"unknown release":          {"", template("1", "[a]"), "{x: {node: a, template: {name: base, release: \"9\"}}}", "error: VM x: the Template base has no release 9, or retires it"},
		"retired, pinned":          {"1", template("2", "[a]", "retired: [\"1\"]"), "{x: {node: a, template: {name: base, release: \"1\"}}}", "error: VM x: the Template base has no release 1, or retires it"},
		"retired, not pinned":      {"1", template("2", "[a]", "retired: [\"1\"]"), "{x: {node: a}}", ""},
		"removable":                {"1", template("2", "[a]", "keep: 1"), "{}", "no VM of the lock is made from these releases: 1."},
		"kept":                     {"1", template("2", "[a]"), "{}", ""},
		"placement by load":        {"", template("1", "[a]"), "{x: {placement: {strategy: score, nodes: [a]}}}", "error: VM x: the lock has no node for placement by score"},
		"image of a seen template": {"1", strings.Replace(template("1", "[a]"), "example/1", "example/other", 1), "{}", "the image in the spec is another one"},
	} {
		old := &Lock{}
		if c.old != "" {
			old = seenAll(decided(t, old, nil, template(c.old, "[a]")).Lock)
		}
		text := said(decided(t, old, nil, c.template, cloned(c.vms)))
		if !strings.Contains(text, c.want) || c.want == "" && strings.Contains(text, "error") {
			t.Errorf("%s: %s\nwant %s", name, text, c.want)
		}
	}
}

// TestRetiredReleaseIsKeptAgain retires a release and takes that back before it was destroyed, and
// after it.
func TestRetiredReleaseIsKeptAgain(t *testing.T) {
	made := seenAll(decided(t, &Lock{}, nil, template("1", "[a]")).Lock)
	retired := decided(t, made, nil, template("2", "[a]", "retired: [\"1\"]"))
	entry := func(l *Lock) *VM { return l.Stacks.Get("base").VMs.Get("1-a") }
	if e := entry(retired.Lock); said(retired) != "" || e.Status != Retired || e.Image == nil {
		t.Fatalf("%s\n%+v", said(retired), e)
	}
	again := decided(t, retired.Lock, nil, template("2", "[a]"))
	if e := entry(again.Lock); said(again) != "" || e.Status != Live || e.Fingerprint == nil {
		t.Errorf("kept again: %s\n%+v", said(again), e)
	}
	gone, _ := retired.Lock.Observe([]Observed{{Stack: "base", VMs: []ObservedVM{{Key: "1-a", VMID: 9000, Gone: true}}}})
	if r := decided(t, gone, nil, template("2", "[a]", "retired: [\"1\"]")); said(r) != "" || entry(r.Lock) == nil {
		t.Errorf("with its line: %s", said(r))
	}
	if r := decided(t, gone, nil, template("2", "[a]")); entry(r.Lock) != nil || !strings.Contains(said(r), "removed from the lock") {
		t.Errorf("without its line: %s", said(r))
	}
}

// TestLeavesLast: a Template is applied after the stacks that lose VMs which were made from templates
// that leave, unless one of these stacks waits for a new template.
func TestLeavesLast(t *testing.T) {
	made := seenAll(decided(t, &Lock{}, nil, template("1", "[a]"), cloned("{x: {node: a}, y: {node: a}}")).Lock)
	both := seenAll(decided(t, made, nil, template("2", "[a]"), cloned("{x: {node: a}, y: {node: a}}")).Lock)
	const retired = "retired: [\"1\"]"
	for name, c := range map[string]struct {
		old           *Lock
		template, lab string
		selected      []string
		want          bool
	}{
		"both leave":                            {both, template("2", "[a]", retired), cloned("{}\nretired: [x, y]"), nil, true},
		"one of two VMs leaves":                 {both, template("2", "[a]", retired), cloned("{y: {node: a}}\nretired: [x]"), nil, true},
		"the release stays":                     {both, template("2", "[a]"), cloned("{}\nretired: [x, y]"), nil, false},
		"the VMs stay":                          {both, template("2", "[a]", retired), cloned("{x: {node: a}, y: {node: a}}"), nil, false},
		"another stack is applied":              {both, template("2", "[a]", retired), cloned("{}\nretired: [x, y]"), []string{"base"}, false},
		"a VM waits for a template":             {made, template("2", "[a]", retired), cloned("{z: {node: a}}\nretired: [x, y]"), nil, false},
		"a new VM, of a template that is there": {both, template("2", "[a]", retired), cloned("{z: {node: a}}\nretired: [x, y]"), nil, true},
	} {
		r := decided(t, c.old, nil, c.template, c.lab)
		selected := func(stack string) bool { return c.selected == nil || slices.Contains(c.selected, stack) }
		if text := said(r); strings.Contains(text, "error") || r.Lock == nil || len(r.Refusals) > 0 {
			t.Errorf("%s: %s", name, text)
		} else if got := r.Lock.LeavesLast("base", selected); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	gone, _ := decided(t, both, nil, template("2", "[a]", retired), cloned("{}\nretired: [x, y]")).Lock.Observe([]Observed{{Stack: "lab",
		VMs: []ObservedVM{{Key: "x", VMID: 100, Gone: true}, {Key: "y", VMID: 101, Gone: true}}}})
	every := func(string) bool { return true }
	if gone.LeavesLast("base", every) {
		t.Error("it is last after its VMs are gone")
	}
	whole := made.clone()
	whole.Stacks.Get("base").retire()
	if whole.LeavesLast("base", every) {
		t.Error("a retired Template is last although no VM leaves")
	}
	if whole.Stacks.Get("lab").retire(); !whole.LeavesLast("base", every) {
		t.Error("a Template and a stack that are retired: it is not last")
	}
}

// TestRemovedNodeOfTemplate: a template of the release that the spec makes, on a node that it does not
// name any more, leaves only when the spec says how. It is never renamed.
func TestRemovedNodeOfTemplate(t *testing.T) {
	made := decided(t, &Lock{}, nil, template("1", "[a, b]")).Lock
	for name, l := range map[string]*Lock{"seen": seenAll(made), "not seen": made} {
		refused := decided(t, l, nil, template("1", "[a]"))
		if len(refused.Refusals) != 1 {
			t.Fatalf("%s: %s", name, said(refused))
		}
		text := ""
		for _, step := range refused.Refusals[0].Steps {
			for _, line := range step.Lines {
				text += line.String() + "\n"
			}
		}
		for _, want := range []string{"retired: [1-b]", "forgotten: [1-b]", `proxmox_virtual_environment_download_file.this["1-b"]`} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: want %s in\n%s", name, want, text)
			}
		}
		if strings.Contains(text, "renamed") {
			t.Errorf("%s: %s", name, text)
		}
		retired := decided(t, l, nil, template("1", "[a]", "retired: [1-b]"))
		if e := retired.Lock.Stacks.Get("base").VMs.Get("1-b"); said(retired) != "" || e.Status != Retired {
			t.Errorf("%s: %s\n%+v", name, said(retired), e)
		}
		if r := decided(t, l, nil, template("2", "[a]")); said(r) != "" || r.Lock.Stacks.Get("base").VMs.Get("1-b").Status != Live {
			t.Errorf("%s: of another release: %s", name, said(r))
		}
	}
}

// TestTemplateIsRead writes a lock with templates and reads it back.
func TestTemplateIsRead(t *testing.T) {
	l := seenAll(decided(t, &Lock{Version: Version}, nil, template("1", "[a, b]"), cloned("{x: {node: a}}")).Lock)
	seen, what := l.Observe([]Observed{{Stack: "base", VMs: []ObservedVM{{Key: "1-a", VMID: 9000, Image: true}}}})
	if len(what) != 1 || what[0].What[0] != SawImage {
		t.Errorf("%+v", what)
	}
	body, err := seen.Bytes()
	if err != nil || !strings.Contains(string(body), "image_seen: true") {
		t.Errorf("%v\n%s", err, body)
	}
	for _, bad := range []string{"https://u@images.example/1", "file:///etc/passwd"} {
		if l, problems := Read(File, []byte(strings.ReplaceAll(string(body), "https://images.example/1", bad))); l != nil || len(problems) == 0 {
			t.Errorf("a lock with %s is read", bad)
		}
	}
}
