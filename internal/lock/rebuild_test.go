package lock

import (
	"strings"
	"testing"
)

// TestRebuild: the mark of a rebuild says what the VM was before the first run, and stays until it
// is removed.
func TestRebuild(t *testing.T) {
	const src = Header + `
version: 3
stacks:
  lab:
    spec: specs/lab.yaml
    state_key: lab
    backend: {type: local}
    vms:
      a: {vmid: 100, node: pve1, template: {vmid: 9000, node: pve1}, next_template: {vmid: 9001, node: pve1}, fingerprint: {uuid: u1}}
      b: {vmid: 101, node: pve1, rebuild: {uuid: u2, template: 9000}, fingerprint: {uuid: u3}}
      c: {vmid: 102, node: pve1}
`
	l, problems := Read(File, []byte(src))
	if l == nil {
		t.Fatal(problems)
	}
	text := func(l *Lock) string {
		body, err := l.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	before := text(l)
	next, changed := l.BeginRebuild("lab", []Begin{
		{Key: "a", VMID: 100, Fingerprint: &Fingerprint{UUID: "u1"}}, {Key: "b", VMID: 101, Fingerprint: &Fingerprint{UUID: "u3"}}, // b is done
		{Key: "c", VMID: 102, Fingerprint: &Fingerprint{}}, {Key: "c", VMID: 300, Fingerprint: &Fingerprint{UUID: "x"}}, {Key: "none", VMID: 1, Fingerprint: &Fingerprint{UUID: "x"}},
	})
	if got := text(next); !changed || text(l) != before || !strings.Contains(got, "rebuild: {uuid: u1, template: 9000}") ||
		strings.Count(got, "rebuild:") != 2 || !strings.Contains(got, "rebuild: {uuid: u2, template: 9000}") {
		t.Errorf("changed %v:\n%s", changed, got)
	}
	if _, changed := next.BeginRebuild("lab", []Begin{{Key: "a", VMID: 100, Fingerprint: &Fingerprint{UUID: "u9"}}}); changed {
		t.Error("a second run changes the mark of the first one")
	}
	begin := func(l *Lock, holder int, waits bool) *Rebuild {
		l, _ = l.BeginRebuild("lab", []Begin{{Key: "a", VMID: 100, Fingerprint: &Fingerprint{UUID: "u1"}, Holder: holder, Waits: waits}})
		return l.Stacks.Get("lab").VMs.Get("a").Rebuild
	}
	exchange, _ := l.BeginRebuild("lab", []Begin{{Key: "a", VMID: 100, Fingerprint: &Fingerprint{UUID: "u1"}, Holder: 199, Volumes: []string{"x"},
		From: &Template{VMID: 9001, Node: "pve1"}}})
	if again, _ := Read(File, []byte(text(exchange))); again == nil || !strings.Contains(text(exchange), "holder: 199, volumes: [x], from: {vmid: 9001, node: pve1}") {
		t.Error(text(exchange))
	}
	if later, gone := begin(exchange, 0, true), begin(exchange, 0, false); later.Holder != 199 || gone.Holder != 0 || gone.UUID != "u1" {
		t.Errorf("an exchange of disks that waits has the mark %+v, and one of a guest that is gone %+v", later, gone)
	}
	vms := next.Stacks.Get("lab").VMs
	a, b := vms.Get("a"), vms.Get("b")
	if !a.RebuildBegun() || a.Rebuilt("U1") || !a.Rebuilt("u4") || a.Rebuilt("") || b.RebuildBegun() || !b.Rebuilt("u3") || vms.Get("c").Rebuilt("x") {
		t.Errorf("a %+v, b %+v", a, b)
	}
	// The successor is recorded, and the mark stays.
	seen, _ := next.Observe([]Observed{{Stack: "lab", VMs: []ObservedVM{{Key: "a", VMID: 100, Fingerprint: &Fingerprint{UUID: "u4"}, Confirmed: true}}}})
	if a := seen.Stacks.Get("lab").VMs.Get("a"); a.RebuildBegun() || !a.Rebuilt(a.Fingerprint.UUID) {
		t.Errorf("a is %+v", a)
	}
	if got := text(seen.EndRebuild("lab", []string{"a", "b", "c"})); strings.Contains(got, "rebuild") {
		t.Error(got)
	}
	if l.EndRebuild("lab", []string{"a"}) != l || l.EndRebuild("none", nil) != l {
		t.Error("an end without a begin changes the lock")
	}
	if got, _ := seen.Destroyed("lab", []string{"a", "b", "c"}, true); strings.Contains(text(got), "rebuild") {
		t.Error("a destroyed VM has a mark")
	}
	for _, wrong := range []string{"{}", "{uuid: u1, x: 1}", "{uuid: u1, template: x}", "u1"} {
		if l, _ := Read(File, []byte(strings.Replace(src, "{uuid: u2, template: 9000}", wrong, 1))); l != nil {
			t.Errorf("rebuild: %s is read", wrong)
		}
	}
}
