package guard

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/finding"
	"stackgen/internal/lock"
	"stackgen/internal/tf"
)

// planOf is a plan of changes, each as "TYPE KEY ACTIONS", and of the outputs of the VMs.
func planOf(t *testing.T, outputs string, changes ...string) *tf.Plan {
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
	p, err := tf.ParsePlan([]byte(`{"format_version":"1.2","planned_values":{"root_module":{}},"resource_changes":[` + strings.Join(list, ",") + `],"output_changes":{` + outputs + `}}`))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestConfined: only plans that create, update or import records, or change nothing, are
// judged without the VMs of other records.
func TestConfined(t *testing.T) {
	for change, want := range map[string]bool{
		guest.VMResource + " a no-op": true, guest.RecordResource + " r create": true, guest.RecordResource + " r update": true, guest.RecordResource + " r no-op import": true,
		guest.RecordResource + " r delete": false, guest.RecordResource + " r delete+create": false, guest.RecordResource + " r forget": false,
		guest.VMResource + " a create": false, guest.VMResource + " a update": false, guest.VMResource + " a no-op import": false, guest.PoolResource + " p create": false, "other r create": false,
	} {
		if got := Confined(planOf(t, "", guest.RecordResource+" other create", change)); got != want {
			t.Errorf("%s: %v, want %v", change, got, want)
		}
	}
	errored := planOf(t, "", guest.RecordResource+" r create")
	if errored.Errored = true; Confined(errored) {
		t.Error("a plan that failed is confined")
	}
	for resource, want := range map[string]bool{guest.VMResource: false, guest.ContainerResource: false, guest.RecordResource: true} {
		read := planOf(t, "")
		read.Drift = []*tf.ResourceChange{{Managed: true, Type: resource, Action: tf.Delete}}
		if got := Confined(read); got != want {
			t.Errorf("a plan that removes a %s from the state, because it is gone: %v, want %v", resource, got, want)
		}
	}
}

func TestConcerning(t *testing.T) {
	add := func(unit string, of finding.Type, key, owner string) finding.Finding {
		return finding.Finding{Address: finding.Address{Stack: "lab", Unit: unit, Type: of, Key: key}, Object: finding.Object{Owner: owner}}
	}
	found := []finding.Finding{add("", finding.Stack, "", ""), add(lock.UnitVM, finding.VM, "a", ""), add(lock.UnitVM, finding.VM, "b", ""),
		add("dns-a", finding.Record, "a.lab.", "a"), add("dns-b", finding.Record, "b.lab.", "b"), add("dns-a", finding.Unit, "", ""), add(lock.UnitVM, finding.Unit, "", ""),
		{Address: finding.Address{Stack: "other", Type: finding.Stack}}}
	var got []string
	for _, f := range Concerning(found, tf.Unit{Stack: "lab", Unit: "dns-a"}) {
		got = append(got, string(f.Type)+" "+f.String())
	}
	if want := []string{"stack lab", "vm lab/a", "record lab/a.lab.", "unit lab/dns-a"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
