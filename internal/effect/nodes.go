package effect

import (
	"fmt"

	"stackgen/guest"
	"stackgen/internal/tf"
	"stackgen/schema"
)

// The provider knows NUMA nodes by their names in the state. Where somebody removed one, it
// reads a block without a name, which its plan takes for no change. Only the plan after that,
// from a state in which the node is missing, adds it again.

// HiddenNodes are the additions of NUMA nodes that a plan does not show: those of a spec
// which the VM does not have before it. after are the values that the plan sets.
func HiddenNodes(wanted []*schema.Node, before, after tf.Values) []tf.Change {
	if !after.Nameless(tf.NUMANodes) {
		return nil
	}
	var out []tf.Change
	for _, n := range wanted {
		at := n.Get(guest.Device).Str()
		if before.Has(tf.NUMANodes + "." + at) {
			continue
		}
		is := fmt.Sprintf("cpus=%s memory=%s hostnodes=%s", n.Get(guest.CPUs).Str(), n.Get(guest.Memory).Str(), n.Get(guest.HostNodes).Str())
		out = append(out, tf.Change{Path: tf.NUMANodes, Device: at, Is: is, Whole: true, Later: true})
	}
	return out
}
