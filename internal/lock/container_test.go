package lock

import (
	"bytes"
	"strings"
	"testing"

	"stackgen/internal/finding"
)

const archive = "template: local:vztmpl/debian-12.tar.zst"

// TestContainers: the entry of a container has its kind and its MAC addresses, and the lock that
// was written is read as the same one.
func TestContainers(t *testing.T) {
	spec := head + "vms: {x: {}}\ncontainers: {y: {" + archive + "}, z: {" + archive + ", vmid: 109, networks: [{mac: 'bc:24:11:00:00:07', ipv4: dhcp}]}}\n"
	r := decided(t, &Lock{Version: Version}, nil, spec)
	if said(r) != "" {
		t.Fatal(said(r))
	}
	s := r.Lock.Stacks.Get("a")
	y, z := s.VMs.Get("y"), s.VMs.Get("z")
	if !y.IsContainer() || y.VMID != 101 || len(y.MACs) != 1 || y.MACs[0] == "" || y.Clone != "" || y.Template != nil || y.In() != UnitContainer {
		t.Errorf("y is %+v", y)
	}
	if z.VMID != 109 || z.MACs[0] != "BC:24:11:00:00:07" {
		t.Errorf("z is %+v", z)
	}
	if s.Units.Get(UnitContainer) == nil {
		t.Error("there is no unit of containers")
	}
	body, err := r.Lock.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if again, problems := Read(File, body); again == nil || !again.Stacks.Get("a").VMs.Get("y").IsContainer() {
		t.Errorf("read as %v, %v", again, problems)
	}
	unchanged(t, r.Lock, spec)

	// The VMID of a retired container is not given to a VM, and its unit remains.
	r = decided(t, r.Lock, nil, head+"retired: [y, z]\nvms: {x: {}, w: {}}\n")
	s = r.Lock.Stacks.Get("a")
	if said(r) != "" || s.VMs.Get("w").VMID != 102 || s.Units.Get(UnitContainer).Status != Live {
		t.Errorf("%s: %+v", said(r), s)
	}
}

// TestKindIsKept: a key never changes its kind, in either direction.
func TestKindIsKept(t *testing.T) {
	vm, container := "vms: {x: {}}\n", "containers: {x: {"+archive+"}}\n"
	for _, c := range [][2]string{{vm, container}, {container, vm}} {
		first := decided(t, &Lock{Version: Version}, nil, head+c[0])
		r := decided(t, first.Lock, nil, head+c[1])
		if len(r.Refusals) != 1 || r.Refusals[0].Kind != finding.OtherVM || r.Refusals[0].Reason.Code != "kind-differs" {
			t.Errorf("%s: %s", c[1], said(r))
		}
	}
}

// TestContainerAgain: a container that was never made gets other MAC addresses, and another VMID if that is
// taken, as the guard advises.
func TestContainerAgain(t *testing.T) {
	spec := head + "containers: {y: {" + archive + "}}\n"
	first := decided(t, &Lock{Version: Version}, nil, spec)
	was := *first.Lock.Stacks.Get("a").VMs.Get("y")
	r := decidedWith(t, first.Lock, Options{Again: []string{"a/y"}, VMIDs: []int{was.VMID}}, spec)
	is := r.Lock.Stacks.Get("a").VMs.Get("y")
	if said(r) != "" || !is.IsContainer() || is.VMID == was.VMID || is.MACs[0] == "" || is.MACs[0] == was.MACs[0] {
		t.Errorf("%s: was %+v, is %+v", said(r), was, is)
	}
}

// TestContainerOfAnotherNode: the note does not advise a profile, because no profile moves a container.
func TestContainerOfAnotherNode(t *testing.T) {
	on := func(node string) string { return head + "containers: {y: {" + archive + ", node: " + node + "}}\n" }
	first := decided(t, &Lock{Version: Version}, nil, on("pve1"))
	r := decided(t, first.Lock, nil, on("pve2"))
	if notes := strings.Join(r.Notes, "\n"); !strings.Contains(notes, "migrate it by hand") || strings.Contains(notes, "profile") {
		t.Errorf("%s, notes %q", said(r), notes)
	}
}

// TestForgottenContainer: the line that removes it from the state is about its own unit.
func TestForgottenContainer(t *testing.T) {
	first := decided(t, &Lock{Version: Version}, nil, head+"vms: {x: {}}\ncontainers: {y: {"+archive+"}}\n")
	r := decided(t, first.Lock, nil, head+"forgotten: [x, y]\nvms: {w: {}}\n")
	for _, want := range []string{
		".terragrunt-stack/proxmox-vm && terragrunt state rm 'proxmox_virtual_environment_vm.this[\"x\"]')",
		".terragrunt-stack/proxmox-container && terragrunt state rm 'proxmox_virtual_environment_container.this[\"y\"]')",
	} {
		if !strings.Contains(said(r), want) {
			t.Errorf("%s\nlacks %s", said(r), want)
		}
	}
}

// TestUnknownKind: a lock of a later version may have other kinds.
func TestUnknownKind(t *testing.T) {
	src := "version: 3\nstacks:\n  a:\n    spec: s\n    state_key: k\n    vms: {a: {kind: jail, vmid: 100}}\n"
	if l, problems := Read(File, []byte(src)); l != nil || !bytes.Contains([]byte(problems[0].Message), []byte("jail")) {
		t.Errorf("read as %v, %v", l, problems)
	}
}

// TestAdoptedContainer: an entry that adopts a container as it is does not become another container, and not one that
// an apply changes, by an edit that says neither.
func TestAdoptedContainer(t *testing.T) {
	entry := func(text string) string {
		return strings.Replace(head, "defaults: {", "defaults: {containers: {"+archive+"}, ", 1) + "containers: {x: {networks: [{mac: 'BC:24:11:00:00:07', ipv4: dhcp}], " + text + "}}\n"
	}
	profile := "profiles: {all: {ignore_changes: [all]}}\n"
	for _, c := range []struct{ before, after, want string }{
		{entry("adopt: {vmid: 401}"), entry("adopt: {vmid: 401}"), ""},
		{entry("adopt: {vmid: 401}"), entry("vmid: 401"), "adopt-removed"},
		{entry("adopt: {vmid: 401}"), entry("vmid: 401, profile: default"), ""},
		{entry("adopt: {vmid: 401}"), entry("adopt: {vmid: 405}"), ""}, // its profile prevents a destroy
		{entry("adopt: {vmid: 401}, profile: all") + profile, entry("adopt: {vmid: 405}, profile: all") + profile, "adopts-other-vmid"},
	} {
		first := decided(t, &Lock{Version: Version}, nil, c.before)
		r := decided(t, first.Lock, nil, c.after)
		got := ""
		for _, f := range r.Refusals {
			got += string(f.Reason.Code)
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.after, got, c.want)
		}
	}
}
