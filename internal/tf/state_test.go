package tf

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseState(t *testing.T) {
	const vm = `"values":{"root_module":{"resources":[{"address":"a","mode":"managed","type":"proxmox_virtual_environment_vm","index":"web1","values":{"id":"100","vm_id":100,"agent":[{"enabled":true}]}},{"address":"b","mode":"data","type":"x","values":{"id":7}}],"child_modules":[{"resources":[{"address":"c","mode":"managed","type":"null_resource","values":{"name":{"odd":1}}}]}]}}`
	for _, c := range []struct {
		body, err string
		n         int
	}{
		{"", "", 0}, {" \n", "", 0}, {`{"format_version":"1.0"}`, "", 0}, {`{"version":4,"resources":[]}`, "", 0},
		{`{"format_version":"1.0",` + vm + `}`, "", 2},
		{`{"format_version":"1.2","planned_values":{},"prior_state":{` + vm + `}}`, "", 2},
		{`{"format_version":"1.2","planned_values":{},"resource_drift":[{"address":"z","mode":"managed","type":"proxmox_virtual_environment_vm","index":"z","change":{"actions":["delete"],"before":{"vm_id":7}}}]}`, "", 1},
		{`{"format_version":"1.2","planned_values":{},"resource_drift":[null]}`, "not a plan", 0},
		{`{"version":3}`, "version 3", 0}, {`{"serial":1,"encrypted_data":"x"}`, "encrypted", 0}, {`{}`, "neither", 0}, {`[`, "no state", 0}, {"\xff", "no JSON", 0},
	} {
		got, err := ParseState([]byte(c.body))
		if c.err == "" && (err != nil || len(got.Resources) != c.n) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: got %d resources, %v", c.body, len(got.Resources), err)
		}
	}
	got, _ := ParseState([]byte(`{"format_version":"1.0",` + vm + `}`))
	if r := got.Resources[0]; r.VMID != 100 || r.Key != "web1" || r.Wait != "15m" {
		t.Errorf("got %+v", r)
	}
}

// TestPlanStateBeforeItsRefresh checks that a plan does not hide a stranger: its
// refresh has read the stranger's MAC address into the state of the plan.
func TestPlanStateBeforeItsRefresh(t *testing.T) {
	const vm = `"address":"a","mode":"managed","type":"proxmox_virtual_environment_vm","index":"web1"`
	got, err := ParseState([]byte(`{"format_version":"1.2","planned_values":{},"prior_state":{"values":{"root_module":{"resources":[{` + vm +
		`,"values":{"id":"100","vm_id":100,"name":"erp","node_name":"pve2","network_device":[{"mac_address":"BC:24:11:00:00:02"}]}}]}}},"resource_drift":[{` + vm +
		`,"change":{"actions":["update"],"before":{"vm_id":100,"name":"web1","node_name":"pve1","network_device":[{"mac_address":"bc:24:11:00:00:01"}]}}}]}`))
	if err != nil || len(got.Resources) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	if r := got.Resources[0]; r.VMID != 100 || r.Name != "web1" || r.Node != "pve1" || !reflect.DeepEqual(r.MACs, []string{"BC:24:11:00:00:01"}) {
		t.Errorf("got %+v", r)
	}
}

// TestEndsEarly: a state that OpenTofu has written in part is only the beginning of one.
func TestEndsEarly(t *testing.T) {
	const state = `{"version": 4, "lineage": "é", "resources": [{"name": "this"}]}`
	for n := 1; n < len(state); n++ {
		if !EndsEarly([]byte(state[:n])) {
			t.Errorf("the first %d bytes", n)
		}
	}
	for _, whole := range []string{"", state, state + "\n", "<<<<<<< HEAD\n" + state, `{"version": 4,}`} {
		if EndsEarly([]byte(whole)) {
			t.Errorf("%q", whole)
		}
	}
}
