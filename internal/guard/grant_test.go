package guard

import (
	"fmt"
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/cluster"
	"stackgen/internal/finding"
	"stackgen/internal/tf"
)

// planWith is a plan with changes of VMs of the stack lab, each an entry of its JSON.
func planWith(t *testing.T, changes ...string) *tf.Plan {
	t.Helper()
	const resource = `{"address":%q,"mode":"managed","type":%q,"index":%q,"values":{"vm_id":%d}}`
	var before []string
	for i, key := range []string{"web1", "web2"} {
		before = append(before, fmt.Sprintf(resource, inState(key, 100+i).Address, guest.VMResource, key, 100+i))
	}
	plan, err := tf.ParsePlan([]byte(`{"format_version":"1.2","planned_values":{},"prior_state":{"format_version":"1.0","values":{"root_module":{"resources":[` +
		strings.Join(before, ",") + `]}}},"resource_changes":[` + strings.Join(changes, ",") + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// changeOf is the change of a VM. more is added to it, and to what it does.
func changeOf(key string, vmid int, actions, after, more string) string {
	return fmt.Sprintf(`{"address":%q,"mode":"managed","type":%q,"index":%q%s,"change":{"actions":[%s],"before":{"vm_id":%d},"after":%s}}`,
		inState(key, vmid).Address, guest.VMResource, key, more, actions, vmid, after)
}

func granted(key string, vmid, template int) Granted {
	return Granted{Address: inState(key, vmid).Address, Key: key, VMID: vmid, Template: template}
}

// TestGrant: a grant permits the plan that does exactly what it is for, and nothing else.
func TestGrant(t *testing.T) {
	const asked, replace = `,"action_reason":"replace_by_request"`, `"delete","create"`
	clone := func(vmid, template int) string {
		return fmt.Sprintf(`{"vm_id":%d,"clone":[{"vm_id":%d}]}`, vmid, template)
	}
	destroys := func(key string, vmid int) string { return changeOf(key, vmid, `"delete"`, "null", "") }
	one := []Granted{granted("web1", 100, 9000)}
	vms := tf.VMUnit("lab")
	for name, c := range map[string]struct {
		kind  GrantKind
		parts []Granted
		unit  tf.Unit
		sum   string
		plan  []string
		want  string // codes
	}{
		"a destroy":                  {GrantDestroy, one, vms, "s", []string{destroys("web1", 100), changeOf("web2", 101, `"no-op"`, "{}", "")}, ""},
		"a replace":                  {GrantReplace, one, vms, "s", []string{changeOf("web1", 100, replace, clone(100, 9000), asked)}, ""},
		"another plan":               {GrantDestroy, one, vms, "x", []string{destroys("web1", 100)}, "grant-other-plan"},
		"another unit":               {GrantDestroy, one, tf.Unit{Stack: "lab", Unit: "dns"}, "s", []string{destroys("web1", 100)}, "grant-other-unit"},
		"no part":                    {GrantDestroy, nil, vms, "s", nil, "grant-other-plan"},
		"one more":                   {GrantDestroy, one, vms, "s", []string{destroys("web1", 100), destroys("web2", 101)}, "grant-more"},
		"gone already":               {GrantDestroy, append(one, granted("web9", 109, 0)), vms, "s", []string{destroys("web1", 100)}, ""},
		"a replace of what is gone":  {GrantReplace, []Granted{granted("web9", 109, 9000)}, vms, "s", nil, "grant-less"},
		"one less":                   {GrantDestroy, append(one, granted("web2", 101, 0)), vms, "s", []string{destroys("web1", 100)}, "grant-less"},
		"nothing":                    {GrantDestroy, one, vms, "s", nil, "grant-less"},
		"twice":                      {GrantDestroy, one, vms, "s", []string{destroys("web1", 100), destroys("web1", 100)}, "grant-more"},
		"one more update":            {GrantDestroy, one, vms, "s", []string{destroys("web1", 100), changeOf("web2", 101, `"update"`, "{}", "")}, "grant-more"},
		"one more import":            {GrantDestroy, one, vms, "s", []string{destroys("web1", 100), strings.Replace(changeOf("web2", 101, `"no-op"`, "{}", ""), `"actions"`, `"importing":{"id":"1"},"actions"`, 1)}, "grant-more"},
		"one more move":              {GrantDestroy, one, vms, "s", []string{destroys("web1", 100), changeOf("web2", 101, `"no-op"`, "{}", `,"previous_address":"a"`)}, "grant-more"},
		"another VMID":               {GrantDestroy, one, vms, "s", []string{destroys("web1", 300)}, "grant-more grant-less"},
		"a deposed object":           {GrantDestroy, one, vms, "s", []string{changeOf("web1", 100, `"delete"`, "null", `,"deposed":"00"`)}, "grant-more grant-less"},
		"a replace for a destroy":    {GrantDestroy, one, vms, "s", []string{changeOf("web1", 100, replace, clone(100, 9000), asked)}, "grant-more grant-less"},
		"a destroy for a replace":    {GrantReplace, one, vms, "s", []string{destroys("web1", 100)}, "grant-more grant-less"},
		"another template":           {GrantReplace, one, vms, "s", []string{changeOf("web1", 100, replace, clone(100, 9001), asked)}, "grant-more grant-less"},
		"a VM of another wave":       {GrantReplace, one, vms, "s", []string{changeOf("web1", 100, replace, clone(100, 9000), asked), changeOf("web2", 101, replace, clone(101, 9000), asked)}, "grant-more"},
		"and one more update":        {GrantReplace, one, vms, "s", []string{changeOf("web1", 100, replace, clone(100, 9000), asked), changeOf("web2", 101, `"update"`, "{}", "")}, "grant-more"},
		"and one more create":        {GrantReplace, one, vms, "s", []string{changeOf("web1", 100, replace, clone(100, 9000), asked), changeOf("web3", 102, `"create"`, clone(102, 9000), "")}, "grant-more"},
		"a wave that is not whole":   {GrantReplace, append(one, granted("web2", 101, 9000)), vms, "s", []string{changeOf("web1", 100, replace, clone(100, 9000), asked)}, "grant-less"},
		"no template":                {GrantReplace, []Granted{granted("web1", 100, 0)}, vms, "s", []string{changeOf("web1", 100, replace, `{"vm_id":100}`, asked)}, "grant-more grant-less"},
		"another VMID after":         {GrantReplace, one, vms, "s", []string{changeOf("web1", 100, replace, clone(101, 9000), asked)}, "grant-more grant-less"},
		"created before the destroy": {GrantReplace, one, vms, "s", []string{changeOf("web1", 100, `"create","delete"`, clone(100, 9000), asked)}, "grant-more grant-less"},
		"forced by the provider":     {GrantReplace, one, vms, "s", []string{changeOf("web1", 100, replace, clone(100, 9000), "")}, "grant-more grant-less"},
		"the old one is kept":        {GrantReplace, one, vms, "s", []string{changeOf("web1", 100, `"forget","create"`, clone(100, 9000), asked)}, "grant-more grant-less"},
	} {
		g := &Grant{Unit: vms, Kind: c.kind, Plan: "s", Parts: c.parts}
		var got []string
		for _, f := range g.Refuses(c.unit, c.sum, planWith(t, c.plan...)) {
			got = append(got, string(f.Reason.Code))
			if f.Kind != finding.WouldDestroy || !f.Stops() || said(&f) == "" {
				t.Errorf("%s: %s %v", name, f.Kind, f)
			}
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
}

// TestGrantedPlan: what the guard says of a plan with and without a grant for its replacement,
// and of one by hand.
func TestGrantedPlan(t *testing.T) {
	plan := planWith(t, changeOf("web1", 100, `"delete","create"`, `{"vm_id":100,"clone":[{"vm_id":9000}]}`, `,"action_reason":"replace_by_request"`))
	in := input([]tf.Resource{inState("web1", 100)}, newGuest(100, "web1"))
	in.Inventory.Datastores = []cluster.Datastore{}
	for name, c := range map[string]struct {
		grant *Grant
		want  finding.Code
	}{
		"no grant":         {nil, "plan-replaces"},
		"a grant":          {&Grant{Unit: tf.VMUnit("lab"), Kind: GrantReplace, Parts: []Granted{granted("web1", 100, 9000)}}, ""},
		"of another VM":    {&Grant{Unit: tf.VMUnit("lab"), Kind: GrantReplace, Parts: []Granted{granted("web2", 101, 9000)}}, "plan-replaces"},
		"of another guest": {&Grant{Unit: tf.VMUnit("lab"), Kind: GrantReplace, Parts: []Granted{granted("web1", 101, 9000)}}, "plan-replaces"},
	} {
		in.Grant = c.grant
		refused, _, err := JudgePlan(in, Judge(in), tf.VMUnit("lab"), plan)
		if err != nil {
			t.Fatal(err)
		}
		var got finding.Code
		for _, f := range refused {
			got = f.Reason.Code
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestGrantConcerning: a granted plan does not depend on other VMs of the stack.
func TestGrantConcerning(t *testing.T) {
	in := input([]tf.Resource{inState("web1", 100)}, newGuest(100, "web1"), newGuest(101, "stranger"))
	in.Destroy = true
	g := &Grant{Unit: tf.VMUnit("lab"), Kind: GrantDestroy, Parts: []Granted{granted("web1", 100, 0)}}
	if got := words(g.Concerning(Judge(in))); got != "web1 managed" {
		t.Errorf("got %s", got)
	}
	in.Inventory.Guests[0].Config.UUID = "another"
	if got := words(g.Concerning(Judge(in))); got != "web1 conflict" {
		t.Errorf("got %s", got)
	}
}
