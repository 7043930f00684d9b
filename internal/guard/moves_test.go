package guard

import (
	"fmt"
	"strings"
	"testing"

	"stackgen/guest"
	"stackgen/internal/finding"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// withNICs is a VM of a state or plan with these MAC addresses, net0 first.
func withNICs(macs ...string) map[string]any {
	var list []any
	for _, mac := range macs {
		list = append(list, map[string]any{"mac_address": mac, "bridge": "vmbr" + mac})
	}
	return map[string]any{"vm_id": 100.0, "network_device": list}
}

// TestPlanMovesDevices: a plan that gives network devices of a running VM other numbers
// names their MAC addresses, and needs `restart: true`.
func TestPlanMovesDevices(t *testing.T) {
	for name, c := range map[string]struct {
		off, permits bool
		before       []string
		after        []string
		want         string // a part of the evidence
		blocks       bool
	}{
		"first removed":            {before: []string{"A", "B", "C"}, after: []string{"B", "C"}, want: "mac of net0: A -> B, replugs what was net1", blocks: true},
		"first removed, permitted": {permits: true, before: []string{"A", "B", "C"}, after: []string{"B", "C"}, want: "mac of net0: A -> B, replugs what was net1"},
		"first removed, stopped":   {off: true, before: []string{"A", "B", "C"}, after: []string{"B", "C"}, want: "mac of net0: A -> B, "},
		"last removed":             {before: []string{"A", "B"}, after: []string{"A"}, want: "net1: "},
		"added first":              {before: []string{"A", "B"}, after: []string{"C", "A", "B"}, want: "mac of net1: B -> A, replugs what was net0", blocks: true},
		"swapped":                  {before: []string{"A", "B"}, after: []string{"B", "A"}, want: "B gets the addresses of net0: ip=192.0.2.1/24 instead of ip=192.0.2.2/24", blocks: true},
	} {
		g := newGuest(100, "web1")
		g.Config.Raw = map[string]string{"ipconfig0": "ip=192.0.2.1/24", "ipconfig1": "ip=192.0.2.2/24"}
		if !c.off {
			g.Status = "running"
		}
		state := inState("web1", 100)
		state.Values = (&tf.ResourceChange{Type: guest.VMResource, Before: withNICs(c.before...)}).Resource().Values
		in := input([]tf.Resource{state}, g)
		v := in.Project.Stacks[0].VMs[0]
		if v.Values = (&schema.Node{Shape: schema.ShapeMap}); c.permits {
			v.Values = v.Values.With(schema.Scalar(schema.Pos{}, schema.ShapeString, "restart"), schema.Scalar(schema.Pos{}, schema.ShapeBool, "true"))
		}
		change := &tf.ResourceChange{Address: schema.VMAddress("", "web1"), Managed: true, Type: guest.VMResource, Key: "web1", Action: tf.Update, Before: withNICs(c.before...), After: withNICs(c.after...)}
		plan := &tf.Plan{Changes: []*tf.ResourceChange{change}}
		out, _, err := JudgePlan(in, nil, tf.VMUnit("lab"), plan)
		if err != nil || len(out) != 1 {
			t.Fatalf("%s: %v, %+v", name, err, out)
		}
		text := fmt.Sprint(out[0].Steps)
		if blocked := out[0].Severity == finding.Blocked; blocked != c.blocks || strings.Contains(text, "restart: true") != c.blocks || !strings.Contains(said(&out[0]), c.want) {
			t.Errorf("%s: %+v, want %q, blocked %v", name, out[0], c.want, c.blocks)
		}
	}
}

// TestLockMovesMACs: a network device that is added before others is no sign of another
// lock, and one that changes its address is.
func TestLockMovesMACs(t *testing.T) {
	for name, c := range map[string]struct {
		state, lock []string
		want        finding.Kind
	}{
		"the same":         {[]string{"A", "B"}, []string{"A", "B"}, finding.Managed},
		"added first":      {[]string{"A", "B"}, []string{"C", "A", "B"}, finding.Managed},
		"removed first":    {[]string{"A", "B"}, []string{"B"}, finding.Managed},
		"another address":  {[]string{"A", "B"}, []string{"C", "B"}, finding.Conflict},
		"other addresses":  {[]string{"A", "B"}, []string{"C", "D"}, finding.Conflict},
		"replaced, and so": {[]string{"A", "B"}, []string{"B", "C"}, finding.Managed},
	} {
		state := inState("web1", 100)
		state.MACs = c.state
		in := input([]tf.Resource{state}, newGuest(100, "web1"))
		in.Lock.Stacks[0].Value.VMs.Get("web1").MACs = c.lock
		if got := Judge(in)[0]; got.Kind != c.want {
			t.Errorf("%s: %s %s, want %s", name, got.Kind, got.Reason, c.want)
		}
	}
}
