package effect

import (
	"testing"

	"stackgen/internal/tf"
	"stackgen/schema"
)

// TestHiddenNodes: a plan hides a NUMA node that was removed while it has a block without a
// name for it; without a plan, as many nodes in the state as in the spec tell it.
func TestHiddenNodes(t *testing.T) {
	text := func(value string) *schema.Node { return &schema.Node{Shape: schema.ShapeString, Text: value} }
	node := func(device string) *schema.Node {
		n := &schema.Node{Shape: schema.ShapeMap}
		return n.With(text("device"), text(device)).With(text("cpus"), text("0"))
	}
	state := func(devices ...any) tf.Values {
		var list []any
		for _, d := range devices {
			list = append(list, map[string]any{"device": d, "cpus": "0"})
		}
		return tf.Flatten(map[string]any{"numa": list})
	}
	wanted := []*schema.Node{node("numa0"), node("numa1")}
	for _, c := range []struct {
		name string
		plan tf.Values
		want int
	}{
		{"both", state("numa0", "numa1"), 0},
		{"one was removed", state(nil, "numa1"), 1},
		{"both were removed", state(nil, nil), 2},
	} {
		if got := HiddenNodes(wanted, c.plan, c.plan); len(got) != c.want || len(got) > 0 && (got[0].Name() != "numa0" || !got[0].Later) {
			t.Errorf("%s: %+v, want %d", c.name, got, c.want)
		}
	}
}
