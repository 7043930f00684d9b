package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/finding"
)

// TestFindingsText prints what blocks first, more than three alike as one line with
// what would change, and fewer with their evidence.
func TestFindingsText(t *testing.T) {
	var fs []finding.Finding
	for i := range 5 {
		f := finding.Finding{Address: finding.Address{Stack: "lab", Type: finding.VM, Key: fmt.Sprintf("web%d", i)},
			Object: finding.Object{VMID: 100 + i, Node: "pve1", Differs: []finding.Difference{{Field: "memory"}, {Config: "hostpci0=01:00.0"}}}}
		f.Is(finding.Adopt, finding.Why("in no state")).Because("VM %d", 100+i).Next("or change it", fmt.Sprintf("qm set %d --memory 1", 100+i))
		f.Add(finding.DoAll("write it", finding.Line{Text: "stackgen adopt --match {}", Items: []string{f.Key}, Sep: " "}))
		fs = append(fs, f)
	}
	gone := finding.Finding{Address: finding.Address{Stack: "lab", Type: finding.Pool, Key: "lab"}}
	gone.Is(finding.Gone, finding.Why("not in the cluster")).Because("in state as %s", "pool.lab")
	managed := finding.Finding{Address: finding.Address{Stack: "lab", Type: finding.Record, Key: "lab.example."}}
	managed.Is(finding.Managed, finding.Why("in state and in DNS")).Because("hidden")
	var out bytes.Buffer
	if err := NewFindings(append(fs, gone, managed), []string{"guard is off"}).Print(&out, Options{}); err != nil {
		t.Fatal(err)
	}
	want := `blocked: fix 1 finding before the apply (1 managed, 5 adopt, 1 gone)
blocked gone     lab/lab: pool             not in the cluster
    in state as pool.lab
ok      adopt    lab: 5 VMs                in no state
    web0, web1, web2 and 2 more
    changes: memory, hostpci0 (--verbose prints the values)
  > change it
      qm set 100 --memory 1
      qm set 101 --memory 1
      qm set 102 --memory 1
      qm set 103 --memory 1
      qm set 104 --memory 1
  > write it
      stackgen adopt --match web0 web1 web2 web3 web4
ok      managed  lab/lab.example.: record  in state and in DNS
note: guard is off
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// TestGuestWord: a reason says what its guest is, and VMs and containers that differ in that are two groups.
func TestGuestWord(t *testing.T) {
	found := func(unit, key string) finding.Finding {
		f := finding.Finding{Address: finding.Address{Stack: "lab", Unit: unit, Type: finding.VM, Key: key}}
		return *f.Is(finding.CreationOnly, finding.Why("creation-only"))
	}
	record := found("dns", "a.lab.test.")
	record.Type, record.Container = finding.Record, true
	record.Is(finding.Managed, finding.Why("no-address"))
	var out bytes.Buffer
	if err := NewFindings([]finding.Finding{
		found(guest.VMUnit, "a"), found(guest.ContainerUnit, "b"), found(guest.ContainerUnit, "c"), found(guest.ContainerUnit, "d"),
		found(guest.ContainerUnit, "e"), record}, nil).Print(&out, Options{}); err != nil {
		t.Fatal(err)
	}
	said := out.String()
	for _, text := range []string{"an apply leaves the VM as it is", "lab: 4 containers ", "an apply leaves the container as it is",
		"its container reports no address"} {
		if !strings.Contains(said, text) {
			t.Errorf("without %q:\n%s", text, said)
		}
	}
}
