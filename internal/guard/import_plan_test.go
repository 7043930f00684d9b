package guard

import (
	"errors"
	"slices"
	"testing"

	tfjson "github.com/hashicorp/terraform-json"

	"stackgen/guest"
	"stackgen/internal/finding"
	"stackgen/internal/tf"
)

// TestReadImportPlan: a plan is exact if it does all the imports of the file and
// nothing else.
func TestReadImportPlan(t *testing.T) {
	imports := func(actions ...tfjson.Action) *tfjson.ResourceChange {
		return &tfjson.ResourceChange{Mode: tfjson.ManagedResourceMode, Address: "vm.this",
			Change: &tfjson.Change{Actions: actions, Importing: &tfjson.Importing{ID: "pve1/300"}, Before: map[string]any{"cores": 2, "tags": "a"}, After: map[string]any{"cores": 4, "tags": "a"}}}
	}
	updates := func(key string, attributes ...string) *tfjson.ResourceChange {
		before, after := map[string]any{}, map[string]any{}
		for _, a := range attributes {
			before[a], after[a] = "x", "y"
		}
		return &tfjson.ResourceChange{Mode: tfjson.ManagedResourceMode, Type: guest.VMResource, Address: "vm." + key, Index: key,
			Change: &tfjson.Change{Actions: tfjson.Actions{tfjson.ActionUpdate}, Before: before, After: after}}
	}
	creates := &tfjson.ResourceChange{Mode: tfjson.ManagedResourceMode, Address: "vm.this", Change: &tfjson.Change{Actions: tfjson.Actions{tfjson.ActionCreate}}}
	reads := &tfjson.ResourceChange{Mode: tfjson.DataResourceMode, Address: "data.x", Change: &tfjson.Change{Actions: tfjson.Actions{tfjson.ActionRead}}}
	for name, c := range map[string]struct {
		changes []*tfjson.ResourceChange
		want    int
		errored bool
		exact   bool
		lines   []string
	}{
		"imports only":             {changes: []*tfjson.ResourceChange{imports(tfjson.ActionNoop), reads}, want: 1, exact: true},
		"another VM settles":       {changes: []*tfjson.ResourceChange{imports(tfjson.ActionNoop), updates("a", "reboot_after_update", "ipv4_addresses")}, want: 1, exact: true},
		"another VM changes":       {changes: []*tfjson.ResourceChange{imports(tfjson.ActionNoop), updates("a", "agent", "memory")}, want: 1, lines: []string{"update vm.a: agent, memory"}},
		"a VM that was not judged": {changes: []*tfjson.ResourceChange{imports(tfjson.ActionNoop), updates("b", "agent")}, want: 1, lines: []string{"update vm.b: agent"}},
		"an import is missing":     {changes: []*tfjson.ResourceChange{imports(tfjson.ActionNoop)}, want: 2},
		"an import changes":        {changes: []*tfjson.ResourceChange{imports(tfjson.ActionUpdate)}, want: 1, lines: []string{"update vm.this: cores"}},
		"something is created":     {changes: []*tfjson.ResourceChange{imports(tfjson.ActionNoop), creates}, want: 1, lines: []string{"create vm.this: all of it"}},
		"the plan has an error":    {changes: []*tfjson.ResourceChange{imports(tfjson.ActionNoop)}, want: 1, errored: true},
	} {
		plan := &tf.Plan{Plan: tfjson.Plan{ResourceChanges: c.changes}, Errored: c.errored}
		got := ReadImportPlan(tf.Unit{Stack: "lab", Unit: "proxmox-vm"}, plan, c.want, map[string][]string{"a": {"reboot_after_update", "agent"}})
		if got.Exact() != c.exact || !slices.Equal(got.Changes, c.lines) {
			t.Errorf("%s: exact %v, %q; want %v, %q", name, got.Exact(), got.Changes, c.exact, c.lines)
		}
	}
	if failed := (ImportPlan{Failed: errors.New("no access")}); failed.Exact() {
		t.Error("a failed plan is exact")
	}
}

// TestAddressArgs: a unit of records gets the addresses of its VMs, all or none.
func TestAddressArgs(t *testing.T) {
	record := func(unit, owner, ipv4 string) finding.Finding {
		return finding.Finding{Address: finding.Address{Stack: "lab", Unit: unit}, Object: finding.Object{Owner: owner, IPv4: ipv4}}
	}
	u := tf.Unit{Stack: "lab", Unit: "dns"}
	all := []finding.Finding{record("dns", "web", "192.0.2.1"), record("dns", "db", "192.0.2.2"), record("other", "x", "")}
	if got, want := AddressArgs(u, all), []string{"-var", `addresses={"db"="192.0.2.2","web"="192.0.2.1"}`}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := AddressArgs(u, append(all, record("dns", "mail", ""))); got != nil {
		t.Errorf("with an unknown address: %q", got)
	}
	if got := AddressArgs(u, nil); got != nil {
		t.Errorf("without records: %q", got)
	}
}
