package lock

import (
	"fmt"
	"strings"
	"testing"
)

// TestRollout: the marks of a rebuild in waves say which VMs are done, which are not healthy, and
// which wait. One that waits permits nothing.
func TestRollout(t *testing.T) {
	const src = Header + `
version: 3
stacks:
  lab:
    spec: specs/lab.yaml
    state_key: lab
    backend: {type: local}
    vms:
      a: {vmid: 100, node: pve1, template: {vmid: 9000, node: pve1, name: debian, release: "13"}, fingerprint: {uuid: u1}}
      b: {vmid: 101, node: pve2, template: {vmid: 9001, node: pve2, name: debian, release: "13"}, fingerprint: {uuid: u2}}
      c: {vmid: 102, node: pve1}
`
	l, problems := Read(File, []byte(src))
	if l == nil {
		t.Fatal(problems)
	}
	state := func(l *Lock) string {
		if _, err := l.Bytes(); err != nil {
			t.Fatal(err)
		}
		r := l.Stacks.Get("lab").Rollout()
		if r == nil {
			return "none"
		}
		return fmt.Sprintf("%d of %d, unhealthy %v, begun %v, waiting %v", len(r.Done), r.All(), r.Unhealthy, r.Begun, r.Waiting)
	}
	expect := func(l *Lock, want string) {
		t.Helper()
		if got := state(l); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	expect(l, "none")
	begin := func(l *Lock, vms ...Begin) *Lock { next, _ := l.BeginRebuild("lab", vms); return next }
	a, b := Begin{Key: "a", VMID: 100, Fingerprint: &Fingerprint{UUID: "u1"}}, Begin{Key: "b", VMID: 101, Fingerprint: &Fingerprint{UUID: "u2"}}
	later := func(b Begin) Begin { b.Waits = true; return b }
	waits := begin(l, later(a), later(b))
	expect(waits, "0 of 2, unhealthy [], begun [], waiting [a b]")
	if v := waits.Stacks.Get("lab").VMs.Get("a"); v.RebuildBegun() || v.Rebuilt("u9") {
		t.Error("a VM that waits counts as begun")
	}
	if tpl := waits.Stacks.Get("lab").Rollout().Template; tpl == nil || tpl.Release != "13" {
		t.Errorf("the template is %+v", tpl)
	}
	if waits.Healthy("lab", nil, []string{"a"}) != waits || waits.Healthy("none", nil, []string{"a"}) != waits {
		t.Error("a VM that waits is unhealthy")
	}
	begun := begin(waits, a)
	expect(begun, "0 of 2, unhealthy [], begun [a], waiting [b]")
	if begin(begun, later(a), later(b)) != begun {
		t.Error("a rollout that goes on changes marks")
	}
	seen, _ := begun.Observe([]Observed{{Stack: "lab", VMs: []ObservedVM{{Key: "a", VMID: 100, Fingerprint: &Fingerprint{UUID: "u4"}, Confirmed: true}}}})
	expect(seen, "1 of 2, unhealthy [], begun [], waiting [b]")
	unhealthy := seen.Healthy("lab", nil, []string{"a"})
	expect(unhealthy, "0 of 2, unhealthy [a], begun [], waiting [b]")
	if begin(unhealthy, a) != unhealthy {
		t.Error("a second run replaces a VM again without Again")
	}
	expect(unhealthy.Healthy("lab", []string{"a", "b"}, nil), "1 of 2, unhealthy [], begun [], waiting [b]")
	expect(begin(unhealthy, Begin{Key: "a", VMID: 100, Fingerprint: &Fingerprint{UUID: "u4"}, Again: true}), "0 of 2, unhealthy [], begun [a], waiting [b]")
	unhealthy.Stacks.Get("lab").VMs.Get("a").MadeFrom = &Template{VMID: 8000, Node: "pve1"} // the spec has another one since
	if tpl := unhealthy.Stacks.Get("lab").Rollout().Template; tpl != nil {
		t.Errorf("the template of two is %+v", tpl)
	}
	unhealthy.Stacks.Get("lab").VMs.Get("a").MadeFrom = nil
	body, _ := unhealthy.Bytes()
	if text := string(body); !strings.Contains(text, "rebuild: {uuid: u2, template: 9001, waits: true}") || !strings.Contains(text, "unhealthy: true") {
		t.Error(text)
	}
}
