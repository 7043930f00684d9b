package effect

import (
	"fmt"
	"slices"
	"strings"

	"stackgen/schema"
)

// The provider knows NUMA nodes by their names in the state. Where somebody removed one, it
// reads a block without a name, which its plan takes for no change. Only the plan after that,
// from a state in which the node is missing, adds it again.

// NUMANodes is the list of NUMA nodes.
const NUMANodes = "numa"

// HiddenNodes are the additions of NUMA nodes that a plan does not show: those of a spec
// which the VM does not have before it. after are the values that the plan sets.
func HiddenNodes(wanted []*schema.Node, before, after Values) []Change {
	if !after.nameless(NUMANodes) {
		return nil
	}
	var out []Change
	for _, n := range wanted {
		at := n.Get("device").Str()
		if before.Has(NUMANodes + "." + at) {
			continue
		}
		is := fmt.Sprintf("cpus=%s memory=%s hostnodes=%s", n.Get("cpus").Str(), n.Get("memory").Str(), n.Get("host_nodes").Str())
		out = append(out, Change{Path: NUMANodes, Device: at, Is: is, Whole: true, Later: true})
	}
	return out
}

// HideNodes marks the additions of NUMA nodes that the next plan does not show: the state has
// as many as the spec, and those that the VM has are as the spec says.
func (v Values) HideNodes(wanted int, changes []Change) []Change {
	shown := func(c Change) bool {
		return (c.Path == NUMANodes || strings.HasPrefix(c.Path, NUMANodes+".")) && !c.Adds()
	}
	if v.nameless(NUMANodes) || len(v.Devices(NUMANodes)) != wanted || slices.ContainsFunc(changes, shown) {
		return changes
	}
	out := slices.Clone(changes)
	for i := range out {
		out[i].Later = out[i].Later || out[i].Path == NUMANodes
	}
	return out
}
