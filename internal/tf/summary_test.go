package tf

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"stackgen/guest"
)

// planOf is a plan of changes, each as "TYPE KEY ACTIONS", and of the outputs of the VMs.
func planOf(t *testing.T, outputs string, changes ...string) *Plan {
	t.Helper()
	var list []string
	for _, c := range changes {
		f := strings.Fields(c)
		actions := `["` + strings.ReplaceAll(f[2], "+", `","`) + `"]`
		importing := ""
		if len(f) > 3 {
			importing = `"importing":{"id":"x"},`
		}
		list = append(list, fmt.Sprintf(`{"address":"%s.this[\"%s\"]","mode":"managed","type":"%s","index":"%s","change":{"actions":%s,%s"before":null,
			"after":{"vm_id":300,"name":"a","node_name":"pve1","clone":[{}],"agent":[{"enabled":true}]}}}`, f[0], f[1], f[0], f[1], actions, importing))
	}
	p, err := ParsePlan([]byte(`{"format_version":"1.2","planned_values":{"root_module":{}},"resource_changes":[` + strings.Join(list, ",") + `],"output_changes":{` + outputs + `}}`))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestChanges(t *testing.T) {
	u := VMUnit("lab")
	p := planOf(t, "", guest.VMResource+" a create", guest.VMResource+" b no-op", guest.VMResource+" c no-op import", guest.VMResource+" d update import", guest.VMResource+" e delete+create", guest.RecordResource+" r delete", guest.PoolResource+" p forget")
	var got []string
	for _, c := range Summaries(u, p) {
		got = append(got, fmt.Sprintf("%s %s %q imports=%v clones=%v agent=%v %d", c.Type, c.Key, c.Action.Word(), c.Imports, c.Clones, c.Agent, c.VMID))
	}
	want := []string{`vm a "create" imports=false clones=true agent=true 300`, `vm c "" imports=true clones=false agent=true 300`, `vm d "change" imports=true clones=false agent=true 300`,
		`vm e "replace" imports=false clones=true agent=true 300`, `record r "destroy" imports=false clones=false agent=false 0`, `pool p "forget" imports=false clones=false agent=false 0`}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestNewAddress: a plan of records is right only if it was made with the address that
// the VM has after the apply.
func TestNewAddress(t *testing.T) {
	const outputs = `"vms":{"actions":["update"],
		"before":{"same":{"ipv4":"10.0.0.1"},"other":{"ipv4":"10.0.0.2"},"unknown":{"ipv4":"10.0.0.3"},"gone":{"ipv4":"10.0.0.4"}},
		"after":{"same":{"ipv4":"10.0.0.1"},"other":{"ipv4":"10.0.0.9"},"unknown":{},"static":{"ipv4":"10.0.0.5"},"dynamic":{}},
		"after_unknown":{"same":{},"unknown":{"ipv4":true},"dynamic":{"ipv4":true}}}`
	is := NewAddress(planOf(t, outputs), map[string]string{"static": "10.0.0.5", "other": "10.0.0.9"})
	for key, want := range map[string]bool{"same": false, "other": true, "unknown": true, "static": false, "dynamic": true, "gone": false, "none": false} {
		if is(key) != want {
			t.Errorf("%s: %v, want %v", key, is(key), want)
		}
	}
	all := NewAddress(planOf(t, `"vms":{"actions":["create"],"before":null,"after_unknown":true}`), nil)
	if !all("a") {
		t.Error("outputs that are unknown as a whole have known addresses")
	}
	if NewAddress(planOf(t, `"meta":{"actions":["update"],"before":null,"after":{}}`), nil)("a") {
		t.Error("another output changes addresses")
	}
}
