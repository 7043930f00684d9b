package lock

import (
	"strings"
	"testing"
)

// TestDestroyed: after a destroy, the lock has the decisions of the stack and no
// observation, except for VMs that are not certainly gone. After a destroy of a part, it has
// those of the units.
func TestDestroyed(t *testing.T) {
	const src = Header + `
version: 3
stacks:
  lab:
    spec: specs/lab.yaml
    state_key: lab
    backend: {type: local}
    units:
      proxmox-pool: {lineage: p, pool: lab, applied: true}
      proxmox-vm: {lineage: v}
    vms:
      a: {vmid: 100, node: pve1, macs: ['02:00:00:00:00:01'], fingerprint: {uuid: u1, macs: ['02:00:00:00:00:01']}, addresses: [10.0.0.1]}
      b: {vmid: 101, node: pve1, fingerprint: {uuid: u2}}
`
	l, problems := Read(File, []byte(src))
	if l == nil {
		t.Fatal(problems)
	}
	before, err := l.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	next, changed := l.Destroyed("lab", []string{"a"}, true)
	body, err := next.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	got := string(body)
	for text, want := range map[string]bool{"vmid: 100": true, "02:00:00:00:00:01": true, "u1": false, "10.0.0.1": false, "lineage": false, "applied": false, "u2": true} {
		if strings.Contains(got, text) != want {
			t.Errorf("%s: %v, want %v\n%s", text, !want, want, got)
		}
	}
	if again, _ := l.Bytes(); string(again) != string(before) || !changed {
		t.Errorf("changed %v, and the lock itself is\n%s", changed, again)
	}
	if _, changed := next.Destroyed("lab", []string{"a"}, true); changed {
		t.Error("the second time changes it")
	}
	if _, changed := l.Destroyed("none", nil, true); changed {
		t.Error("an unknown stack changes it")
	}
	part, changed := l.Destroyed("lab", []string{"a"}, false)
	if body, err = part.Bytes(); err != nil || !changed || strings.Contains(string(body), "u1") || !strings.Contains(string(body), "lineage: v") {
		t.Errorf("a part: changed %v, %v\n%s", changed, err, body)
	}
}
