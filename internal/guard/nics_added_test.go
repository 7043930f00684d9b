package guard

import (
	"encoding/json"
	"fmt"
	"testing"

	"stackgen/guest"
	"stackgen/internal/finding"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// TestNICsAdded: an update of network devices is refused if the guest has one that the plan does not know. The provider
// deletes it, whatever it changes of the others.
func TestNICsAdded(t *testing.T) {
	const own, other, third = "BC:24:11:00:00:01", "BC:24:11:00:00:02", "BC:24:11:00:00:03"
	nics := func(bridge string, macs ...string) []any {
		out := []any{}
		for _, mac := range macs {
			out = append(out, map[string]any{"mac_address": mac, "bridge": bridge})
		}
		return out
	}
	for name, c := range map[string]struct {
		has           []string
		before, after []any
		want          finding.Severity
	}{
		"as planned":                         {[]string{own}, nics("vmbr0", own), nics("vmbr1", own), finding.OK},
		"another was added":                  {[]string{own, other}, nics("vmbr0", own), nics("vmbr1", own), finding.Blocked},
		"it has another MAC":                 {[]string{other}, nics("vmbr0", own), nics("vmbr1", own), finding.Blocked},
		"the plan leaves the devices":        {[]string{own, other}, nics("vmbr0", own), nics("vmbr0", own), finding.OK},
		"one is added where somebody added":  {[]string{own, other}, nics("vmbr0", own), nics("vmbr0", own, third), finding.Blocked},
		"the first is added where one is":    {[]string{other}, nics("vmbr0"), nics("vmbr0", own), finding.Blocked},
		"one is added, and nobody added one": {[]string{own}, nics("vmbr0", own), nics("vmbr0", own, other), finding.OK},
	} {
		g := newGuest(100, "web1")
		g.Config.MACs = c.has
		in := input([]tf.Resource{inState("web1", 100)}, g)
		values := func(list []any) string {
			body, err := json.Marshal(map[string]any{"vm_id": 100, "network_device": list})
			if err != nil {
				t.Fatal(err)
			}
			return string(body)
		}
		body := fmt.Sprintf(`{"format_version":"1.2","resource_changes":[{"address":%q,"mode":"managed","type":%q,"index":"web1","change":`+
			`{"actions":["update"],"before":%s,"after":%s}}]}`, inState("web1", 100).Address, guest.VMResource, values(c.before), values(c.after))
		if f := judgePlanOf(t, in, body); f.Severity != c.want || (f.Reason.Code == "nics-since-plan") != (c.want == finding.Blocked) {
			t.Errorf("%s: %s, exit %d, %s", name, f.Kind, f.Severity, said(&f))
		}
	}
}

// TestReadsAdded: a plan that only reads is refused if it writes a device into the state that somebody has added: without it
// there, preflight and the guard tell it from one that the spec has removed.
func TestReadsAdded(t *testing.T) {
	const own, other = "BC:24:11:00:00:01", "BC:24:11:00:00:02"
	of := func(tpm bool, macs ...string) map[string]any {
		nics, out := []any{}, map[string]any{"vm_id": 100}
		for _, mac := range macs {
			nics = append(nics, map[string]any{"mac_address": mac})
		}
		if out["network_device"] = nics; tpm {
			out["tpm_state"] = []any{map[string]any{"version": "v2.0"}}
		}
		return out
	}
	for name, c := range map[string]struct {
		before, after map[string]any
		nics          int    // of the spec
		ignores       string // of the profile
		planned       bool   // the plan has the VM, too
		want          bool
	}{
		"a network device":                {of(false, own), of(false, own, other), 1, "", false, true},
		"one that the spec has by now":    {of(false, own), of(false, own, other), 2, "", false, false},
		"one that the spec has removed":   {of(false, own, other), of(false, own, other), 1, "", false, false},
		"another MAC":                     {of(false, own), of(false, other), 1, "", false, false},
		"a profile that leaves them":      {of(false, own), of(false, own, other), 1, "network_device", false, false},
		"a plan that changes things":      {of(false, own), of(false, own, other), 1, "", true, false},
		"a spec without network devices":  {of(false, own), of(false, own, other), 0, "", false, false},
		"a TPM state disk":                {of(false, own), of(true, own), 1, "", false, true},
		"a TPM state disk of a lost spec": {of(true, own), of(true, own), 1, "", false, false},
	} {
		g := newGuest(100, "web1")
		in := input([]tf.Resource{inState("web1", 100)}, g)
		list := &schema.Node{Shape: schema.ShapeList}
		for range c.nics {
			list.Items = append(list.Items, &schema.Node{Shape: schema.ShapeMap})
		}
		in.Project.Stacks[0].VMs[0].Values = (&schema.Node{Shape: schema.ShapeMap}).With(schema.Scalar(schema.Pos{}, schema.ShapeString, "networks"), list)
		in.Project.Profiles[0].IgnoreChanges = []string{c.ignores}
		address, changes := inState("web1", 100).Address, []any{}
		change := func(action string, before, after map[string]any) map[string]any {
			return map[string]any{"address": address, "mode": "managed", "type": guest.VMResource, "index": "web1",
				"change": map[string]any{"actions": []string{action}, "before": before, "after": after}}
		}
		if c.planned {
			changes = append(changes, change("no-op", c.after, c.after))
		}
		body, err := json.Marshal(map[string]any{"format_version": "1.2", "planned_values": map[string]any{},
			"resource_changes": changes, "resource_drift": []any{change("update", c.before, c.after)}})
		if err != nil {
			t.Fatal(err)
		}
		if f := judgePlanOf(t, in, string(body)); f.Stops() != c.want || (f.Reason.Code == "reads-added") != c.want {
			t.Errorf("%s: %s, %s", name, f.Kind, said(&f))
		}
	}
}

// TestNICsOfContainerAdded: of a container, a change of an address writes all network devices, too.
func TestNICsOfContainerAdded(t *testing.T) {
	nics := func(mac string) []any { return []any{map[string]any{"mac_address": mac}} }
	address := func(text string) []any {
		return []any{map[string]any{"hostname": "a", "ip_config": []any{map[string]any{"ipv4": []any{map[string]any{"address": text}}}}}}
	}
	for name, c := range map[string]struct {
		kind          string
		before, after []any
		want          bool
	}{
		"another address":                          {guest.ContainerResource, address("192.0.2.1/24"), address("192.0.2.2/24"), true},
		"the same address":                         {guest.ContainerResource, address("192.0.2.1/24"), address("192.0.2.1/24"), false},
		"a VM, of which only its drive is written": {guest.VMResource, address("192.0.2.1/24"), address("192.0.2.2/24"), false},
	} {
		list := schema.FieldOf(guest.Container, guest.Networks).HCL
		if c.kind == guest.VMResource {
			list = schema.VMField(guest.Networks).HCL
		}
		change := &tf.ResourceChange{Type: c.kind, Action: tf.Update,
			Before: map[string]any{list: nics(ctMAC), "initialization": c.before}, After: map[string]any{list: nics(ctMAC), "initialization": c.after}}
		if got := writesNICs(change); got != c.want {
			t.Errorf("%s: writes network devices: %v", name, got)
		}
	}
}
