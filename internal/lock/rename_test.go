package lock

import (
	"strings"
	"testing"
)

// TestFormerKeyOfAnotherVM checks that a key under which the state may have another VM
// is given to no VM, whichever way it would get it.
func TestFormerKeyOfAnotherVM(t *testing.T) {
	renamed := "renamed: {x: y}\nvms: {y: {}}"
	for name, c := range map[string]struct {
		specs []string
		says  string
	}{
		"new VM":                    {[]string{"vms: {x: {}}", renamed, "vms: {y: {}, x: {}}"}, "stop: a/x"},
		"new VM, profile changed":   {[]string{"vms: {x: {}}", renamed, "vms: {y: {profile: protected}, x: {}}"}, "stop: a/x"},
		"another VM renamed to it":  {[]string{"vms: {x: {}, w: {}}", "renamed: {x: y}\nvms: {y: {}, w: {}}", "renamed: {w: x}\nvms: {y: {}, x: {}}"}, "stop: a/x"},
		"the VM is retired":         {[]string{"vms: {x: {}}", renamed, "retired: [y]\nvms: {}", "retired: [y]\nvms: {x: {}}"}, "stop: a/x"},
		"the VM is forgotten":       {[]string{"vms: {x: {}}", renamed, "forgotten: [y]\nvms: {}", "vms: {x: {}}"}, "stop: a/x"},
		"middle of several renames": {[]string{"vms: {x: {}}", renamed, "renamed: {y: z}\nvms: {z: {}}", "vms: {z: {}, y: {}}"}, "stop: a/y"},
		"the VM itself, back":       {[]string{"vms: {x: {}}", renamed, "renamed: {y: x}\nvms: {x: {}}"}, ""},
		"only its profile changed":  {[]string{"vms: {x: {}}", "vms: {x: {profile: protected}}", "vms: {x: {profile: protected}, y: {}}"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := &Lock{Version: Version}
			for _, spec := range c.specs[:len(c.specs)-1] {
				l = rendered(t, l, spec)
			}
			r := decided(t, l, nil, head+c.specs[len(c.specs)-1]+"\n")
			if said(r) != c.says {
				t.Errorf("says %q, want %q", said(r), c.says)
			}
			if c.says == "" {
				return
			}
			// After a command recorded that the state has no former address, the key is free.
			for i := range l.Stacks[0].Value.VMs {
				l.Stacks[0].Value.VMs[i].Value.Former = nil
			}
			if r := decided(t, l, nil, head+c.specs[len(c.specs)-1]+"\n"); said(r) != "" {
				t.Errorf("after the move was recorded: %s", said(r))
			}
		})
	}
}

// TestForgottenNamesTheAddressInState checks that the command that removes a forgotten
// VM from the state works, whether or not a rename of it was applied.
func TestForgottenNamesTheAddressInState(t *testing.T) {
	l := rendered(t, rendered(t, &Lock{Version: Version}, "vms: {x: {}}"), "renamed: {x: y}\nvms: {y: {profile: protected}}")
	notes := said(decided(t, l, nil, head+"forgotten: [y]\nvms: {}\n"))
	for _, want := range []string{`'proxmox_virtual_environment_vm.this["x"]'`, `'proxmox_virtual_environment_vm.protected["y"]'`} {
		if !strings.Contains(notes, want) {
			t.Errorf("the note lacks %s:\n%s", want, notes)
		}
	}
}

// TestForgottenLineRemovedEarly checks that the VMID of a forgotten VM stays reserved
// until the VM was seen to be gone, and that only adopt gives it to another VM.
func TestForgottenLineRemovedEarly(t *testing.T) {
	other := func(rest string) string { return strings.Replace(head, "name: a", "name: b", 1) + rest + "\n" }
	l := rendered(t, rendered(t, rendered(t, &Lock{Version: Version}, "vms: {x: {profile: protected}, y: {}}"), "forgotten: [x]\nvms: {y: {}}"), "vms: {y: {}}")
	if got := vmids(l.Stacks.Get("a")); got != "x=100 forgotten y=101" {
		t.Fatalf("got %s", got)
	}
	r := decided(t, l, nil, head+"vms: {y: {}, z: {}}\n")
	if got := vmids(r.Lock.Stacks.Get("a")); got != "x=100 forgotten y=101 z=102" {
		t.Errorf("a new VM: %s", got)
	}
	r = decided(t, l, nil, head+"vms: {y: {}}\n", other("vms: {q: {vmid: 100}}"))
	if want := "error: VM q: VMID 100 is recorded for a/x"; said(r) != want {
		t.Errorf("vmid: %s", said(r))
	}
	r = decided(t, l, nil, head+"vms: {y: {}}\n", other("vms: {q: {adopt: {vmid: 100}}}"))
	if said(r) != "" || vmids(r.Lock.Stacks.Get("b")) != "q=100" {
		t.Errorf("adopt: %s", said(r))
	}
	both, err := r.Lock.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if l, problems := Read("lock", both); l == nil {
		t.Errorf("the lock with the adopted VM cannot be read: %v", problems)
	}
	r = decided(t, l, nil, head+"vms: {y: {}}\n", other("vms: {p: {adopt: {vmid: 100}, name: p}, q: {adopt: {vmid: 101}}}"))
	if want := "error: VM q: VMID 101 is recorded for a/y"; said(r) != want {
		t.Errorf("adopt of a managed VM: %s", said(r))
	}
	l.Stacks.Get("a").VMs.Get("x").Gone = true
	if got := vmids(decided(t, l, nil, head+"vms: {y: {}, z: {}}\n").Lock.Stacks.Get("a")); got != "y=101 z=100" {
		t.Errorf("after the VM was seen to be gone: %s", got)
	}
}

// TestForgottenStackLineRemovedEarly checks the same for a whole stack.
func TestForgottenStackLineRemovedEarly(t *testing.T) {
	l := rendered(t, &Lock{Version: Version}, "vms: {x: {}}")
	l.Stacks[0].Value.Status = Forgotten
	other := strings.Replace(head, "name: a", "name: b", 1)
	r := decided(t, l, nil, other+"vms: {q: {}}\n")
	if said(r) != "" || vmids(r.Lock.Stacks.Get("b")) != "q=101" || r.Lock.Stacks.Get("a") == nil {
		t.Errorf("%s: %s", said(r), vmids(r.Lock.Stacks.Get("b")))
	}
	r = decided(t, l, nil, other+"vms: {q: {adopt: {vmid: 100}}}\n")
	if said(r) != "" || vmids(r.Lock.Stacks.Get("b")) != "q=100" {
		t.Errorf("adopt: %s", said(r))
	}
	l.Stacks[0].Value.VMs[0].Value.Gone = true
	r = decided(t, l, nil, other+"vms: {q: {}}\n")
	if want := "note: a: the forgotten stack is removed from the lock; its VMIDs are free again"; said(r) != want || r.Lock.Stacks.Get("a") != nil {
		t.Errorf("gone: %s: %s", said(r), vmids(r.Lock.Stacks.Get("b")))
	}
}

// TestMergedRename: after a merge of a branch that renamed a VM with one that recorded what was seen
// of it, both entries are one VM. Two VMs never become one.
func TestMergedRename(t *testing.T) {
	const (
		seen    = ", fingerprint: {uuid: 1b4e28ba-2fa1-11d2-883f-0016d3cca427, macs: ['BC:24:11:00:00:09']}"
		other   = ", fingerprint: {uuid: 2b4e28ba-2fa1-11d2-883f-0016d3cca427, macs: ['BC:24:11:00:00:09']}"
		former  = ", former: [default/x]"
		one     = "note: a: x and y are one VM in the lock, VMID 100, as after a merge of two branches: it has the key y now"
		renamed = "renamed: {x: y}\n"
	)
	for name, c := range map[string]struct {
		x, y, spec string
		merged     bool
	}{
		"the former key was seen": {seen, former, renamed, true},
		"the line is gone":        {seen, former, "", true},
		"the new key was seen":    {"", seen, renamed, true},
		"both were seen":          {seen, seen, "", true},
		"neither was seen":        {"", former, "", true},
		"two VMs were seen":       {seen, other + former, renamed, false},
		"nobody says so":          {seen, "", "", false},
		"the former is retired":   {seen + ", status: retired", former, renamed, false},
	} {
		t.Run(name, func(t *testing.T) {
			l := merged(t, c.x, c.y)
			r := decided(t, l, nil, head+c.spec+"vms: {y: {}, z: {}}\n")
			if got := said(r); (got == one) != c.merged {
				t.Fatalf("says %q", got)
			}
			if !c.merged {
				return
			}
			y := r.Lock.Stacks.Get("a").VMs.Get("y")
			if r.Lock.Has("a", "x") || y.VMID != 100 || y.seen() != (c.x+c.y != former) || !r.Lock.Stacks.Get("a").Had("x") {
				t.Errorf("the entry is %+v", y)
			}
			if again := decided(t, r.Lock, nil, head+c.spec+"vms: {y: {}, z: {}}\n"); said(again) != "" {
				t.Errorf("then it says %q", said(again))
			}
		})
	}
}
