package discover

import (
	"fmt"
	"strings"
	"testing"

	"stackgen/internal/cluster"
	"stackgen/schema"
)

// TestManyErrors finds errors of many VMs, and between many VMs, in a few attempts: each one
// reads and compares all specs. Of VMs that cannot be managed together, one is.
func TestManyErrors(t *testing.T) {
	w := &world{t: t}
	for n := range 60 {
		w.guests = append(w.guests, newGuest(100+n, fmt.Sprintf("thread%d", n), "scsihw: virtio-scsi-pci\nscsi0: local-lvm:vm-1-disk-0,size=8G,iothread=1"))
	}
	for n := range 40 {
		w.guests = append(w.guests, newGuest(200+n, fmt.Sprintf("twin%d", n), fmt.Sprintf("ide2: local-lvm:vm-%d-cloudinit,media=cdrom\nipconfig0: ip=10.0.0.2/24", 200+n)))
	}
	p, err := w.propose(Request{})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Stacks) != 1 || w.joins > 20 {
		t.Errorf("%d stacks, and the specs were read %d times", len(p.Stacks), w.joins)
	}
	for _, v := range p.Stacks[0].VMs {
		if v.Managed != (v.Key == "twin0") {
			t.Errorf("%s is managed: %t", v.Key, v.Managed)
		}
		for _, r := range v.Reasons {
			if !strings.HasPrefix(r.Why, "an I/O thread") && r.Why != "the address 10.0.0.2 is already used at specs/lab.yaml (VM twin0)" {
				t.Errorf("%s: %s", v.Key, r.Why)
			}
		}
	}
}

// TestBecause drops the position of a draft from a reason, and nothing else.
func TestBecause(t *testing.T) {
	for message, want := range map[string]string{
		"VM web: the address 10.0.0.2 is already used at specs/lab.yaml:7:3 (VM db)": "the address 10.0.0.2 is already used at specs/lab.yaml (VM db)",
		"VM web: fe80:0:0:1 is no address":                                           "fe80:0:0:1 is no address",
	} {
		problem := schema.Problem{Message: message}
		if strings.Contains(message, "already") {
			problem.First = schema.Pos{File: "specs/lab.yaml", Line: 7, Col: 3}
		}
		if got := because(&member{key: "web", guest: &cluster.Guest{}}, problem).Why; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
