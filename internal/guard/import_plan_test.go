package guard

import (
	"errors"
	"slices"
	"testing"

	"stackgen/guest"
	"stackgen/internal/finding"
	"stackgen/internal/tf"
)

// TestReadImportPlan: a plan is exact if it does all the imports of the file and
// nothing else.
func TestReadImportPlan(t *testing.T) {
	imports := func(action tf.Action) *tf.ResourceChange {
		return &tf.ResourceChange{Managed: true, Address: "vm.this", Action: action, Words: string(action),
			Imports: true, ImportID: "pve1/300", Before: map[string]any{"cores": 2, "tags": "a"}, After: map[string]any{"cores": 4, "tags": "a"}}
	}
	updates := func(key string, attributes ...string) *tf.ResourceChange {
		before, after := map[string]any{}, map[string]any{}
		for _, a := range attributes {
			before[a], after[a] = "x", "y"
		}
		return &tf.ResourceChange{Managed: true, Type: guest.VMResource, Address: "vm." + key, Key: key,
			Action: tf.Update, Words: "update", Before: before, After: after}
	}
	creates := &tf.ResourceChange{Managed: true, Address: "vm.this", Action: tf.Create, Words: "create"}
	reads := &tf.ResourceChange{Address: "data.x", Action: tf.Read, Words: "read"}
	for name, c := range map[string]struct {
		changes []*tf.ResourceChange
		want    int
		errored bool
		exact   bool
		lines   []string
	}{
		"imports only":             {changes: []*tf.ResourceChange{imports(tf.NoOp), reads}, want: 1, exact: true},
		"another VM settles":       {changes: []*tf.ResourceChange{imports(tf.NoOp), updates("a", "reboot_after_update", "ipv4_addresses")}, want: 1, exact: true},
		"another VM changes":       {changes: []*tf.ResourceChange{imports(tf.NoOp), updates("a", "agent", "memory")}, want: 1, lines: []string{"update vm.a: agent, memory"}},
		"a VM that was not judged": {changes: []*tf.ResourceChange{imports(tf.NoOp), updates("b", "agent")}, want: 1, lines: []string{"update vm.b: agent"}},
		"an import is missing":     {changes: []*tf.ResourceChange{imports(tf.NoOp)}, want: 2},
		"an import changes":        {changes: []*tf.ResourceChange{imports(tf.Update)}, want: 1, lines: []string{"update vm.this: cores"}},
		"something is created":     {changes: []*tf.ResourceChange{imports(tf.NoOp), creates}, want: 1, lines: []string{"create vm.this: all of it"}},
		"the plan has an error":    {changes: []*tf.ResourceChange{imports(tf.NoOp)}, want: 1, errored: true},
	} {
		plan := &tf.Plan{Changes: c.changes, Errored: c.errored}
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
