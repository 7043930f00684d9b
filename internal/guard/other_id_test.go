package guard

import (
	"fmt"
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
)

// TestOtherID: the state has web1 with an id that is another VMID than its vm_id. The
// provider acts on the id, so no apply or destroy may go on.
func TestOtherID(t *testing.T) {
	stranger := newGuest(700, "erp")
	for name, change := range map[string]func(*Input){
		"in the spec":       func(*Input) {},
		"retired":           func(in *Input) { in.Lock.Stacks[0].Value.VMs.Get("web1").Status = lock.Retired },
		"destroyed":         func(in *Input) { in.Destroy = true },
		"retired destroyed": func(in *Input) { in.Destroy, in.Lock.Stacks[0].Value.VMs.Get("web1").Status = true, lock.Retired },
		"in no lock": func(in *Input) {
			in.Lock.Stacks[0].Value.VMs = in.Lock.Stacks[0].Value.VMs[1:]
			in.Project.Stacks[0].VMs = in.Project.Stacks[0].VMs[1:]
		},
		"the VMID is the id's": func(in *Input) {
			in.State[tf.VMUnit("lab")].Resources[0].VMID, in.State[tf.VMUnit("lab")].Resources[0].ID = 700, "100"
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := inState("web1", 100)
			r.ID = "700"
			in := input([]tf.Resource{r}, newGuest(100, "web1"), stranger)
			change(&in)
			found := Judge(in)
			if f := found[0]; f.Kind != finding.Conflict || f.Severity != finding.Blocked || !strings.Contains(said(&f), "another VMID than its vm_id") {
				t.Errorf("got %s: %s", words(found), f.Reason)
			}
		})
	}
	for _, id := range []string{"", "100", "pve1/100"} {
		r := inState("web1", 100)
		r.ID = id
		if found := Judge(input([]tf.Resource{r}, newGuest(100, "web1"))); found[0].Kind != finding.Managed {
			t.Errorf("id %q: got %s", id, words(found))
		}
	}
}

// TestOtherIDInPlan judges plans that were made without a refresh.
func TestOtherIDInPlan(t *testing.T) {
	const before = `{"id":"%s","vm_id":100,"name":"web1"}`
	for id, want := range map[string]bool{"100": false, "700": true} {
		for _, actions := range []string{`["delete"]`, `["update"]`, `["delete","create"]`, `["forget"]`} {
			after := strings.ReplaceAll(fmt.Sprintf(before, id), "web1", "new")
			if actions == `["delete"]` {
				after = "null"
			}
			plan, err := tf.ParsePlan([]byte(`{"format_version":"1.2","planned_values":{},"resource_changes":[{"address":"a","mode":"managed","type":"` + guest.VMResource +
				`","index":"web1","change":{"actions":` + actions + `,"before":` + fmt.Sprintf(before, id) + `,"after":` + after + `}}]}`))
			if err != nil {
				t.Fatal(err)
			}
			in := input([]tf.Resource{inState("web1", 100)}, newGuest(100, "web1"), newGuest(700, "erp"))
			in.Lock.Stacks[0].Value.VMs.Get("web1").Status = lock.Retired
			refused, _, err := JudgePlan(in, Judge(in), tf.VMUnit("lab"), plan)
			if err != nil {
				t.Fatal(err)
			}
			got := len(refused) > 0 && refused[0].Kind == finding.Conflict
			if got != want {
				t.Errorf("id %s, %s: %+v", id, actions, refused)
			}
		}
	}
}
