package tf

import "testing"

// TestOutputsOfStates: a state has its outputs in each form that it has. In a plan, they
// are those from before it.
func TestOutputsOfStates(t *testing.T) {
	for name, body := range map[string]string{
		"state file":     `{"version": 4, "lineage": "x", "outputs": {"vms": {"value": {"a": 1}, "type": "dynamic"}}, "resources": []}`,
		"shown state":    `{"format_version": "1.0", "values": {"outputs": {"vms": {"sensitive": false, "value": {"a": 1}}}, "root_module": {}}}`,
		"plan":           `{"format_version": "1.2", "planned_values": {"outputs": {"vms": {"value": {"a": 2}}}}, "prior_state": {"values": {"outputs": {"vms": {"value": {"a": 1}}}, "root_module": {}}}}`,
		"without":        `{"version": 4, "lineage": "x", "resources": []}`,
		"not applied":    ``,
		"shown as empty": `{"format_version": "1.0"}`,
	} {
		state, err := ParseState([]byte(body))
		want := `{"a": 1}`
		if name == "without" || name == "not applied" || name == "shown as empty" {
			want = ""
		}
		if got := string(state.Outputs["vms"]); err != nil || got != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := ParseState([]byte(`{"version": 4, "outputs": [], "resources": []}`)); err == nil {
		t.Error("outputs that are no map were read")
	}
}
